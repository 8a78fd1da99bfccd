import { Database } from '#platform';
import { cursorTime, fromCursor, type Page, type PageRequest, type Position, toPage } from '../paging/page.js';

/** What sums can be kept apart by. */
export const USAGE_GROUPS = ['day', 'model', 'key', 'account'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Whose usage, and when. Days are of UTC, both ends included. */
export interface UsageQuery {
  /** Null: of all accounts. */
  readonly accountId: string | null;
  readonly from: string;
  readonly to: string;
}

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
  readonly lines: readonly object[];
  readonly input_tokens: bigint;
  readonly cached_input_tokens: bigint;
  readonly output_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly quantity: bigint;
  readonly duration_ms: number | null;
}

const COLUMN = { day: 'day', model: 'model', key: 'api_key_id', account: 'account_id' } as const;

/** The most sums one answer holds. */
export const USAGE_SUMS_MAX = 10_000;

/** The bound on the time alone keeps the months behind a cursor out of the plan, which the pair of both cannot. */
const RECORDS = `
select id, ${cursorTime('created_at')} as time, account_id, api_key_id, kind, model, task_id, request_id, status,
  amount_micros, lines, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, quantity, duration_ms
from usage_record
where ($1::text is null or account_id = $1) and created_at >= $2::date and created_at < $3::date + 1
  and ($4::timestamptz is null or (created_at <= $4 and (created_at, id) < ($4, $5)))
order by created_at desc, id desc limit $6`;

/** Tells what was used. Sums come from the daily sums, so they take no longer as records grow. */
export class UsageService {
  constructor(private readonly database: Database) {}

  /** Sums of a time, kept apart by `groups`; the newest days and the dearest first, at most `USAGE_SUMS_MAX`. */
  async sums({ accountId, from, to }: UsageQuery, groups: readonly UsageGroup[]): Promise<UsageSum[]> {
    const text = sumsBy(groups);
    const values = [accountId, from, to];
    return (await this.database.query<UsageSum>({ text, values })).rows;
  }

  /** Every request with its price, newest first. */
  async records({ accountId, from, to }: UsageQuery, page: PageRequest): Promise<Page<UsageRow>> {
    const position = fromCursor(page.cursor);
    const values = [accountId, from, to, position?.time ?? null, position?.id ?? null, page.limit + 1];
    return toPage((await this.database.query<UsageRow>({ text: RECORDS, values })).rows, page.limit);
  }
}

/** Columns come from the closed list above, never from a request. */
function sumsBy(groups: readonly UsageGroup[]): string {
  const grouped = groups.map((group) => COLUMN[group]);
  const shown = USAGE_GROUPS.map((group) => {
    const column = COLUMN[group];
    const value = group === 'day' ? `to_char(day, 'YYYY-MM-DD')` : column;
    return groups.includes(group) ? `${value} as ${column}` : `null as ${column}`;
  });
  return `
select ${shown.join(', ')}, sum(requests)::bigint as requests, sum(failed_requests)::bigint as failed_requests,
  sum(amount_micros)::bigint as amount_micros, sum(quantity)::bigint as quantity,
  sum(input_tokens)::bigint as input_tokens, sum(output_tokens)::bigint as output_tokens
from usage_daily
where ($1::text is null or account_id = $1) and day between $2::date and $3::date
${grouped.length > 0 ? `group by ${grouped.map((column) => `usage_daily.${column}`).join(', ')}` : ''}
order by ${groups.includes('day') ? 'usage_daily.day desc, ' : ''}sum(amount_micros) desc limit ${USAGE_SUMS_MAX}`;
}
