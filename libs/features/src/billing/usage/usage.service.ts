import { Injectable } from '@nestjs/common';
import { type AccountDatabase, Database } from '#platform';
import { cursorTime, fromCursor, type Page, type PageRequest, type Position, toPage } from '../../paging/page.js';
import { expectAllSums, sumsStatement, type UsageGroup, type UsageQuery } from './usage-sums.js';

/** Sums of what was used; fields that were not asked apart are null. */
export interface UsageSum {
  readonly day: string | null;
  readonly model: string | null;
  readonly api_key_id: string | null;
  readonly account_id: string | null;
  readonly requests: bigint;
  readonly failed_requests: bigint;
  readonly amount_micros: bigint;
  readonly quantity: bigint;
  readonly input_tokens: bigint;
  readonly output_tokens: bigint;
}

/** One request or task with its explained price. */
export interface UsageRow extends Position {
  readonly account_id: string;
  readonly api_key_id: string;
  readonly kind: string;
  readonly model: string;
  readonly task_id: string | null;
  readonly request_id: string;
  readonly status: string;
  readonly amount_micros: bigint;
  /** The part of the amount that could not be collected when the request ended, and became a debt. */
  readonly owed_micros: bigint;
  readonly lines: readonly object[];
  readonly input_tokens: bigint;
  readonly cached_input_tokens: bigint;
  readonly output_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly quantity: bigint;
  readonly duration_ms: number | null;
}

/** The bound on the time alone keeps the months behind a cursor out of the plan, which the pair of both cannot. */
const RECORDS = `
select id, ${cursorTime('created_at')} as time, account_id, api_key_id, kind, model, task_id, request_id, status,
  amount_micros, owed_micros, lines, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, quantity, duration_ms
from usage_record
where ($1::text is null or account_id = $1) and created_at >= $2::date::timestamp at time zone 'utc'
  and created_at < ($3::date + 1)::timestamp at time zone 'utc'
  and ($4::timestamptz is null or (created_at <= $4 and (created_at, id) < ($4, $5)))
order by created_at desc, id desc limit $6`;

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
    const { rows } = await this.#databaseOf(query.accountId).query<UsageSum>(sumsStatement(query, groups));
    expectAllSums(rows);
    return rows;
  }

  /** Every request with its price, newest first. */
  async records({ accountId, from, to }: UsageQuery, page: PageRequest): Promise<Page<UsageRow>> {
    const position = fromCursor(page.cursor);
    const values = [accountId, from, to, position?.time ?? null, position?.id ?? null, page.limit + 1];
    return toPage((await this.#databaseOf(accountId).query<UsageRow>({ text: RECORDS, values })).rows, page.limit);
  }

  #databaseOf(accountId: string | null): AccountDatabase {
    return accountId === null ? this.database.ofOperators() : this.database.of(accountId);
  }
}
