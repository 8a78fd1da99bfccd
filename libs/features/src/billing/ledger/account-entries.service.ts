import { Injectable } from '@nestjs/common';
import { TOOL_ROUNDS_MAX } from '#contracts';
import { Database, type Statement } from '#platform';
import { cursorTime, type ListedRow, numberOfCursor, type Page, type PageRequest, toPage } from '../../paging/page.js';

export interface AccountEntryRow extends ListedRow {
  readonly api_key_id: string | null;
  readonly task_id: string | null;
  readonly request_id: string | null;
}

/** Which entries; null does not narrow. */
export interface AccountEntriesQuery {
  readonly accountId: string;
  /** Of a task, its refunds among them. */
  readonly taskId: string | null;
  /** Of a text request, by its `x-request-id`. */
  readonly requestId: string | null;
}

const ofTask = (taskId: string): string => `
  and id in (
    select id from ledger_entry where task_id = ${taskId} union all select entry_id from task_refund where task_id = ${taskId})`;

/** A request whose tools the gateway runs has a bill for calls that were approved, and one for each round. */
const MOST_BILLS = 1 + TOOL_ROUNDS_MAX;

/**
 * The ids of the bills that a request may have: its own, and those with a number behind it.
 *
 * @param requestId the parameter of the statement that holds it.
 */
export const billsOf = (requestId: string): string =>
  `array(select ${requestId}::text || case bill when 1 then '' else '.' || bill end from generate_series(1, ${MOST_BILLS}) bill)`;

/**
 * The condition on entries that they belong to a text request. Each part has a partial index of its own.
 *
 * @param requestId the parameter of the statement that holds it.
 */
export const ofRequest = (requestId: string): string => `
  and id in (
    select id from ledger_entry
    where task_id is null and request_id = any(${billsOf(requestId)}) and kind in ('hold', 'capture', 'release')
    union all select id from ledger_entry where request_id = any(${billsOf(requestId)}) and kind = 'overrun'
    union all select id from ledger_entry where request_id = any(${billsOf(requestId)}) and kind = 'debt')`;

/**
 * A usage record is written by the statement that settles its work, so both carry the same time. That leads from an
 * entry to its record through the index of the account, and keeps all other months out of the plan. A hold came before,
 * so it looks for the entry that settled it.
 *
 * $1 account, $2 the last entry before, $3 how many, and what `narrowed` names.
 */
const entriesSql = (narrowed: string): string => `
with entry as (
  select id, created_at, api_key_id, request_id, kind, debit, credit, amount_micros, reference,
    coalesce(task_id, (select r.task_id from task_refund r where r.entry_id = e.id)) as task_id
  from ledger_entry e
  where account_id = $1 and ($2::bigint is null or id < $2)${narrowed}
  order by e.id desc limit $3
)
select e.id::text as id, ${cursorTime('e.created_at')} as time, e.api_key_id, e.task_id, e.request_id, e.kind, e.debit,
  e.credit, e.amount_micros, e.reference, explained.usage
from entry e
cross join lateral (select case
  when e.kind <> 'hold' then e.created_at
  when e.task_id is not null then (
    select max(s.created_at) from ledger_entry s where s.task_id = e.task_id and s.kind in ('capture', 'release'))
  else (
    select max(s.created_at) from ledger_entry s
    where s.task_id is null and s.request_id = e.request_id and s.kind in ('capture', 'release'))
  end as at) settled
left join lateral (
  select jsonb_build_object('id', u.id, 'model', u.model, 'status', u.status, 'amount_micros', u.amount_micros::text,
    'quantity', u.quantity, 'input_tokens', u.input_tokens, 'output_tokens', u.output_tokens, 'session', u.session,
    'agent', u.agent, 'end_user', u.end_user, 'tags', u.tags, 'lines', u.lines) as usage
  from usage_record u
  where u.account_id = $1 and u.created_at = settled.at
    and case when e.task_id is null then u.task_id is null and u.request_id = e.request_id else u.task_id = e.task_id end
  limit 1
) explained on true
order by e.id desc`;

/**
 * The ledger of one account, each movement with what it paid for: null for money that paid for no work, for work under way, and for what a
 * busy key reserved in advance. What operators noted for themselves is left out. One statement for each page.
 */
@Injectable()
export class AccountEntriesService {
  constructor(private readonly database: Database) {}

  /**
   * A page of entries, newest first.
   *
   * @throws GatewayError `invalid_parameter`: the cursor is not one of this list.
   */
  async list(query: AccountEntriesQuery, page: PageRequest): Promise<Page<AccountEntryRow>> {
    const { rows } = await this.database.of(query.accountId).query<AccountEntryRow>(entriesPage(query, page));
    return toPage(rows, page.limit);
  }

  async read(accountId: string, entryId: string): Promise<AccountEntryRow | null> {
    const statement = { text: entriesSql(' and id = $4'), values: [accountId, null, 1, entryId] };
    return (await this.database.of(accountId).query<AccountEntryRow>(statement)).rows[0] ?? null;
  }
}

function entriesPage(query: AccountEntriesQuery, { cursor, limit }: PageRequest): Statement {
  const values: unknown[] = [query.accountId, numberOfCursor(cursor), limit + 1];
  let narrowed = '';
  if (query.taskId !== null) narrowed += ofTask(`$${values.push(query.taskId)}`);
  if (query.requestId !== null) narrowed += ofRequest(`$${values.push(query.requestId)}`);
  return { text: entriesSql(narrowed), values };
}
