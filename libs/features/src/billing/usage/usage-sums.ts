import { GatewayError } from '#contracts';

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

/** The most sums one answer holds. */
export const USAGE_SUMS_MAX = 10_000;

/** The most days over which sums of all accounts can be kept apart by more than day and model, or account alone. */
export const DETAILED_DAYS_MAX = 31;

const DAY_MS = 86_400_000;
const COLUMN = { day: 'day', model: 'model', key: 'api_key_id', account: 'account_id' } as const;
const SUMS = ['requests', 'failed_requests', 'amount_micros', 'quantity', 'input_tokens', 'output_tokens'] as const;

/** Rows to sum, and what each of them stands for: nothing is left to add up when all of that is kept apart. */
interface Source {
  readonly text: string;
  readonly eachFor: readonly UsageGroup[];
}

const DAILY = `select * from usage_daily where day between $1::date and $2::date`;
const OF_ONE_ACCOUNT: Source = { text: `${DAILY} and account_id = $3`, eachFor: ['day', 'model', 'key'] };

/** What a table of closed days over all accounts keeps apart besides the day; the smallest table first. */
const CLOSED_DAYS: readonly { readonly table: string; readonly groups: readonly UsageGroup[] }[] = [
  { table: 'usage_daily_by_model', groups: ['model'] },
  { table: 'usage_daily_by_account', groups: ['account'] },
  { table: 'usage_daily_by_key', groups: ['account', 'key'] },
];

/**
 * Writes the statement for sums kept apart by `groups`: the newest days and the dearest first, one more than an answer
 * holds. $1 first day, $2 last day, $3 account, where there is one.
 *
 * @throws GatewayError `invalid_parameter`: too many days for so much detail over all accounts.
 */
export function sumsStatement(query: UsageQuery, groups: readonly UsageGroup[]): { text: string; values: unknown[] } {
  const { accountId, from, to } = query;
  if (accountId !== null) return { text: sumsText(OF_ONE_ACCOUNT, groups), values: [from, to, accountId] };
  expectFewDays(query, groups);
  return { text: sumsText(sourceOfAll(groups), groups), values: [from, to] };
}

/**
 * The smallest table that still keeps apart what is asked for. Closed days come from it, and those since from the sums
 * as they arrive; both in one statement, so at one moment.
 */
function sourceOfAll(groups: readonly UsageGroup[]): Source {
  const closed = CLOSED_DAYS.find((days) => groups.every((group) => group === 'day' || days.groups.includes(group)));
  if (!closed) return { text: DAILY, eachFor: ['day', 'model', 'key'] };
  const kept = ['day', ...closed.groups.map((group) => COLUMN[group])].join(', ');
  const text = `
  select ${kept}, ${SUMS.join(', ')} from ${closed.table} where day between $1::date and $2::date
  union all
  select ${kept}, ${SUMS.map((column) => `sum(${column})::bigint`).join(', ')} from usage_daily
  where day between $1::date and $2::date and day > coalesce((select max(day) from usage_closed_day), '-infinity')
  group by ${kept}`;
  return { text, eachFor: ['day', ...closed.groups.filter((group) => !isImplied(group, closed.groups))] };
}

/** Columns come from the closed lists above, never from a request. */
function sumsText({ text, eachFor }: Source, groups: readonly UsageGroup[]): string {
  const isSummed = !eachFor.every((group) => groups.includes(group));
  const sum = (column: string): string => (isSummed ? `coalesce(sum(u.${column}), 0)::bigint` : `u.${column}`);
  const shown = USAGE_GROUPS.map((group) => {
    const value = isSummed && isImplied(group, groups) ? `min(u.${COLUMN[group]})` : shownAs(group);
    return `${groups.includes(group) ? value : 'null'} as ${COLUMN[group]}`;
  });
  const grouped = groups.filter((group) => !isImplied(group, groups)).map((group) => `u.${COLUMN[group]}`);
  return `
select ${[...shown, ...SUMS.map((column) => `${sum(column)} as ${column}`)].join(', ')}
from (${text}) as u
${isSummed && grouped.length > 0 ? `group by ${grouped.join(', ')}` : ''}
order by ${groups.includes('day') ? 'u.day desc, ' : ''}${sum('amount_micros')} desc limit ${USAGE_SUMS_MAX + 1}`;
}

/** A key has one account: grouping by both, which Postgres cannot know to be the same, would sort every row. */
const isImplied = (group: UsageGroup, groups: readonly UsageGroup[]): boolean =>
  group === 'account' && groups.includes('key');

const shownAs = (group: UsageGroup): string =>
  group === 'day' ? `to_char(u.day, 'YYYY-MM-DD')` : `u.${COLUMN[group]}`;

function expectFewDays({ from, to }: UsageQuery, groups: readonly UsageGroup[]): void {
  const isCoarse = groups.every((group) => group === 'day' || group === 'model') || groups.join() === 'account';
  if (isCoarse || (Date.parse(to) - Date.parse(from)) / DAY_MS < DETAILED_DAYS_MAX) return;
  throw new GatewayError(
    'invalid_parameter',
    `Sums of all accounts over more than ${DETAILED_DAYS_MAX} days are grouped by day and model, or by account only: ask for fewer days, or for one account_id.`,
    { param: 'group_by' },
  );
}

/** @throws GatewayError `invalid_parameter`: an answer would be cut short. */
export function expectAllSums(sums: readonly object[]): void {
  if (sums.length <= USAGE_SUMS_MAX) return;
  throw new GatewayError(
    'invalid_parameter',
    `The answer would hold more than ${USAGE_SUMS_MAX} sums: ask for fewer days, or group by fewer fields.`,
    { param: 'group_by' },
  );
}
