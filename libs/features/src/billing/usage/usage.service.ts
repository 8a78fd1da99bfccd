import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import { billsOf, ofRequest } from '../ledger/account-entries.service.js';
import {
  cursorTime,
  fromCursor,
  type ListedRow,
  type Page,
  type PageRequest,
  type ShownRow,
  toPage,
} from '../../paging/page.js';
import { expectAllSums, sumsStatement, USAGE_SUMS, type UsageGroup, type UsageQuery } from './usage-sums.js';

/** Sums of what was used; fields that were not asked apart are null. */
export interface UsageSum
  extends
    ShownRow,
    Readonly<Record<'day' | 'model' | 'tag', string | null>>,
    Readonly<Record<(typeof USAGE_SUMS)[number], bigint>> {}

/** Which records of the days; null does not narrow. */
export interface RecordsQuery extends UsageQuery {
  readonly session?: string | null;
  readonly endUser?: string | null;
  /** By its `x-request-id`. */
  readonly requestId?: string | null;
}

/**
 * A record carries the time of the entry that settled its work, which the indexes of the ledger find by the request.
 *
 * @param requestId the parameter of the statement that holds it.
 */
const recordOfRequest = (requestId: string): string => `
  and request_id = any(${billsOf(requestId)}) and created_at in (
    select created_at from ledger_entry where true ${ofRequest(requestId)}
    union all select e.created_at from task t join ledger_entry e on e.task_id = t.id and e.kind in ('capture', 'release')
      where t.request_id = ${requestId}::text and t.finished_at is not null)`;

/** What a row of `usage_record` or an ended `task` cost, as operators read it. */
export const OPERATOR_COST = `cost_micros, case when cost_micros is not null then cost_unit end as cost_currency,
  case when cost_micros is null then null when cost_is_reported then 'reported' when not cost_is_reported then 'configured' end
    as cost_source, cost_worth_micros`;

export const RECORD_COLUMNS = `id, ${cursorTime('created_at')} as time, account_id, api_key_id, kind, model, task_id, request_id, status,
  amount_micros, owed_micros, lines, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, quantity, duration_ms,
  session, agent, end_user, tags`;

/** The bound on the time alone keeps the months behind a cursor out of the plan, which the pair of both cannot. */
const records = (more = ''): string => `
select ${RECORD_COLUMNS}${more}
from usage_record
where ($1::text is null or account_id = $1) and created_at >= moment_of($2::date::timestamp, $6)
  and created_at < moment_of(($3::date + 1)::timestamp, $6)
  and ($4::timestamptz is null or (created_at <= $4 and (created_at, id) < ($4, $5)))`;
const RECORDS = records();
const OPERATOR_RECORDS = records(`, upstream, ${OPERATOR_COST}`);

/** Tells what was used. Sums come from the daily sums, so they take no longer as records grow. */
@Injectable()
export class UsageService {
  constructor(private readonly database: Database) {}

  /**
   * Sums of a time, kept apart by `groups`; the newest days and the dearest first.
   *
   * @throws GatewayError `invalid_parameter`: more than `USAGE_SUMS_MAX` sums, or more days of all accounts than
   * can be kept apart in such detail.
   */
  async sums(query: UsageQuery, groups: readonly UsageGroup[]): Promise<UsageSum[]> {
    const { rows } = await this.database.of(query.accountId).query<UsageSum>(sumsStatement(query, groups));
    expectAllSums(rows);
    return rows;
  }

  /** The time zone in which an account has its days; null: UTC. */
  async timeZoneOf(accountId: string): Promise<string | null> {
    const text = 'select time_zone from account where id = $1';
    const { rows } = await this.database.query<{ time_zone: string | null }>({ text, values: [accountId] });
    return rows[0]?.time_zone ?? null;
  }

  /** Every request with its price, newest first. */
  records(query: RecordsQuery, page: PageRequest): Promise<Page<ListedRow>> {
    return this.page(RECORDS, query, page);
  }

  /** The same with the upstream and what each cost, for operators alone: customers never see these. */
  operatorRecords(query: RecordsQuery, page: PageRequest): Promise<Page<ListedRow>> {
    return this.page(OPERATOR_RECORDS, query, page);
  }

  private async page(of: string, query: RecordsQuery, page: PageRequest): Promise<Page<ListedRow>> {
    const { accountId, from, to, session = null, endUser = null, requestId = null, tag = null } = query;
    const position = fromCursor(page.cursor);
    const zone = query.timeZone ?? 'UTC';
    const values: unknown[] = [accountId, from, to, position?.time ?? null, position?.id ?? null, zone];
    let text = of;
    if (session !== null) text += ` and session = $${values.push(session)}`;
    if (requestId !== null) text += recordOfRequest(`$${values.push(requestId)}`);
    if (endUser !== null) text += ` and end_user = $${values.push(endUser)}`;
    if (tag !== null) text += ` and tags is not null and tags @> array[$${values.push(tag)}::text]`;
    text += ` order by created_at desc, id desc limit $${values.push(page.limit + 1)}`;
    const { rows } = await this.database.of(accountId).query<ListedRow>({ text, values });
    return toPage(rows, page.limit);
  }
}
