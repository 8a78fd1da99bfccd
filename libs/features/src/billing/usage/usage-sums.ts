import { GatewayError } from '#contracts';

export const USAGE_GROUPS = ['day', 'model', 'key', 'account', 'tag'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Whose usage, and when: days of `timeZone`, both ends included. */
export interface UsageQuery {
  readonly accountId: string | null;
  readonly from: string;
  readonly to: string;
  /** Of one account; absent or null: UTC. */
  readonly timeZone?: string | null;
  /** Of work with this tag only; null: of all. */
  readonly tag?: string | null;
}

/** The most sums one answer holds. */
export const USAGE_SUMS_MAX = 10_000;

/** The most days that sums of another time zone are kept apart by: they are read from the records. */
export const ZONED_DAYS_MAX = 31;

/** The most days over which sums of all accounts can be kept apart by more than day and model, or account alone. */
export const DETAILED_DAYS_MAX = 31;

const DAY_MS = 86_400_000;
const COLUMN = { day: 'day', model: 'model', key: 'api_key_id', account: 'account_id', tag: 'tag' } as const;
export const USAGE_SUMS = [
  'requests',
  'failed_requests',
  'amount_micros',
  'quantity',
  'input_tokens',
  'output_tokens',
] as const;

/** Rows to sum, and what each of them stands for: nothing is left to add up when all of that is kept apart. */
interface Source {
  readonly text: string;
  readonly eachFor: readonly UsageGroup[];
}

const DAILY = `select * from usage_daily where day between $1::date and $2::date`;
const OF_ONE_ACCOUNT: Source = { text: `${DAILY} and account_id = $3`, eachFor: ['day', 'model', 'key'] };

/** Work with several tags counts for each of them, and work without any for none. */
const BY_TAG = 'select * from usage_daily_by_tag where day between $1::date and $2::date';
const TAG_GROUPS: readonly UsageGroup[] = ['day', 'account', 'tag'];

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
  if (query.timeZone != null && accountId !== null) return sumsInZone(query, query.timeZone, groups);
  if (query.tag != null || groups.includes('tag')) return sumsByTag(query, groups);
  if (accountId !== null) return { text: sumsText(OF_ONE_ACCOUNT, groups), values: [from, to, accountId] };
  expectFewDays(query, groups);
  return { text: sumsText(sourceOfAll(groups), groups), values: [from, to] };
}

/** What a record adds to sums, as the statements that write it add it. The day is that of the zone in $4. */
const ofRecords = (since: string, until: string): string => `
  select (r.created_at at time zone $4)::date as day, r.model, r.api_key_id, r.account_id, r.tags,
    (r.status <> 'refunded')::integer as requests, (r.status not in ('completed', 'refunded'))::integer as failed_requests,
    r.amount_micros, r.quantity, r.input_tokens, r.output_tokens
  from usage_record r where r.account_id = $3 and r.created_at >= ${since} and r.created_at < ${until}`;

const SINCE = `moment_of($1::date::timestamp, $4)`;
const UNTIL = `moment_of(($2::date + 1)::timestamp, $4)`;
/** The days of UTC that lie whole between both, the last not included. */
const [WHOLE_SINCE, WHOLE_UNTIL] = [`first_whole_day(${SINCE})`, `(${UNTIL} at time zone 'utc')::date`];
const startOfUtc = (day: string): string => `(${day}::timestamp at time zone 'utc')`;

/** Tags as they are summed up: those that have no sums of their own are `other`. */
const COUNTED_TAGS = `
  cross join lateral (select distinct case when t <> 'other' and exists (
    select from account_tag k where k.account_id = $3 and k.tag = t) then t else 'other' end as tag from unnest(r.tags) t) named`;

/**
 * Sums of an account whose days are not those of UTC. Where days are kept apart, each is added up from its records; else whole days of UTC
 * come from their sums, and only what lies before and behind them from records. $1 first day, $2 last day, $3 account, $4 time zone.
 *
 * @throws GatewayError `invalid_parameter`: too many days.
 */
function sumsInZone(
  query: UsageQuery,
  timeZone: string,
  groups: readonly UsageGroup[],
): { text: string; values: unknown[] } {
  const { accountId, from, to, tag = null } = query;
  const isByTag = tag !== null || groups.includes('tag');
  if (isByTag) expectTagGroups(groups);
  const isByDay = groups.includes('day');
  if (isByDay && daysIn(query) > ZONED_DAYS_MAX)
    throw new GatewayError(
      'invalid_parameter',
      `In the time zone of the account, sums of at most ${ZONED_DAYS_MAX} days are grouped by day: ask for fewer days, or leave day out.`,
      { param: 'group_by' },
    );
  const values: unknown[] = [from, to, accountId, timeZone];
  const records = isByDay
    ? ofRecords(SINCE, UNTIL)
    : `${ofRecords(SINCE, startOfUtc(WHOLE_SINCE))} union all ${ofRecords(startOfUtc(WHOLE_UNTIL), UNTIL)}`;
  const named = isByTag ? `select r.*, named.tag from (${records}) r ${COUNTED_TAGS}` : records;
  const kept = ['day', ...(isByTag ? ['tag'] : ['model', 'api_key_id']), 'account_id', ...USAGE_SUMS].join(', ');
  const table = isByTag ? 'usage_daily_by_tag' : 'usage_daily';
  const days = `select ${kept} from ${table} where account_id = $3 and day >= ${WHOLE_SINCE} and day < ${WHOLE_UNTIL}`;
  const all = `select ${kept} from (${named}) n${isByDay ? '' : ` union all ${days}`}`;
  const text = tag === null ? all : `select * from (${all}) t where t.tag = $${values.push(tag)}`;
  return { text: sumsText({ text, eachFor: [] }, groups, true), values };
}

function expectTagGroups(groups: readonly UsageGroup[]): void {
  if (groups.every((group) => TAG_GROUPS.includes(group))) return;
  throw new GatewayError('invalid_parameter', `Sums of tags are grouped by some of: ${TAG_GROUPS.join(', ')}.`, {
    param: 'group_by',
  });
}

const daysIn = ({ from, to }: UsageQuery): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

function sumsByTag(query: UsageQuery, groups: readonly UsageGroup[]): { text: string; values: unknown[] } {
  const { accountId, from, to, tag = null } = query;
  expectTagGroups(groups);
  if (accountId === null) expectFewDays(query, groups);
  const values: unknown[] = [from, to];
  let text = BY_TAG;
  if (accountId !== null) text += ` and account_id = $${values.push(accountId)}`;
  if (tag !== null) text += ` and tag = $${values.push(tag)}`;
  const eachFor: readonly UsageGroup[] = accountId === null ? TAG_GROUPS : ['day', 'tag'];
  return { text: sumsText({ text, eachFor }, groups), values };
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
  select ${kept}, ${USAGE_SUMS.join(', ')} from ${closed.table} where day between $1::date and $2::date
  union all
  select ${kept}, ${USAGE_SUMS.map((column) => `sum(${column})::bigint`).join(', ')} from usage_daily
  where day between $1::date and $2::date and day > coalesce((select max(day) from usage_closed_day), '-infinity')
  group by ${kept}`;
  return { text, eachFor: ['day', ...closed.groups.filter((group) => !isImplied(group, closed.groups))] };
}

/** Columns come from the closed lists above, never from a request. */
function sumsText({ text, eachFor }: Source, groups: readonly UsageGroup[], isOfRecords = false): string {
  const isSummed = isOfRecords || !eachFor.every((group) => groups.includes(group));
  const sum = (column: string): string => (isSummed ? `coalesce(sum(u.${column}), 0)::bigint` : `u.${column}`);
  const shown = USAGE_GROUPS.map((group) => {
    const value = isSummed && isImplied(group, groups) ? `min(u.${COLUMN[group]})` : shownAs(group);
    return `${groups.includes(group) ? value : 'null::text'} as ${COLUMN[group]}`;
  });
  const grouped = groups.filter((group) => !isImplied(group, groups)).map((group) => `u.${COLUMN[group]}`);
  return `
select ${[...shown, ...USAGE_SUMS.map((column) => `${sum(column)} as ${column}`)].join(', ')}
from (${text}) as u
${isSummed && grouped.length > 0 ? `group by ${grouped.join(', ')}` : ''}
order by ${groups.includes('day') ? 'u.day desc, ' : ''}${sum('amount_micros')} desc limit ${USAGE_SUMS_MAX + 1}`;
}

/** A key has one account: grouping by both, which Postgres cannot know to be the same, would sort every row. */
const isImplied = (group: UsageGroup, groups: readonly UsageGroup[]): boolean =>
  group === 'account' && groups.includes('key');

const shownAs = (group: UsageGroup): string =>
  group === 'day' ? `to_char(u.day, 'YYYY-MM-DD')` : `u.${COLUMN[group]}`;

function expectFewDays(query: UsageQuery, groups: readonly UsageGroup[]): void {
  const isCoarse = groups.every((group) => group === 'day' || group === 'model') || groups.join() === 'account';
  if (isCoarse || daysIn(query) <= DETAILED_DAYS_MAX) return;
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
