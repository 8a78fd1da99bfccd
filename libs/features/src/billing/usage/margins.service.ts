import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database } from '#platform';
import type { ShownRow } from '../../paging/page.js';
import { MARGIN_SOURCE, OF_RECORDS } from './margin-statements.js';
import { expectAllSums, USAGE_SUMS_MAX } from './usage-sums.js';

export const MARGIN_GROUPS = ['day', 'upstream', 'model', 'account', 'kind', 'band', 'tag'] as const;
export type MarginGroup = (typeof MARGIN_GROUPS)[number];

/**
 * What tasks and text requests brought and what they cost; fields that were not asked apart are null, or absent. A margin is null while one of
 * the costs is not known.
 */
export interface Margin extends ShownRow {
  /** Tasks and requests that an upstream was handed, and charges for what needs none. */
  readonly tasks: bigint;
  readonly completed_tasks: bigint;
  /** Charged, less what was refunded on these days. */
  readonly earned_micros: bigint;
  readonly cost_micros: bigint;
  /** Those that were completed or charged and whose cost in the unit of balances is unknown. */
  readonly tasks_without_cost: bigint;
}

/** Groups whose column every answer has. */
const ALWAYS: ReadonlySet<MarginGroup> = new Set(['day', 'upstream', 'model']);
const COLUMN = { account: 'account_id' } as const satisfies Partial<Record<MarginGroup, string>>;
const columnOf = (group: MarginGroup): string => (group in COLUMN ? COLUMN.account : group);

/** Margins of older days are kept apart by less. */
const DETAILED_DAYS = 31;
const DAY_MS = 86_400_000;

/** Days whose margins are kept and need no look at records. $1 first day, $2 last day. */
const KEPT_DAYS = `
select to_char(day, 'YYYY-MM-DD') as day from usage_closed_day
where has_margins and day between $1::date and $2::date and day < (now() at time zone 'utc')::date - ${DETAILED_DAYS - 1}`;

/** First by unit, so that amounts of different units are never added up. $1 first day, $2 last day, $3 days that are kept. */
function marginsText(groups: readonly MarginGroup[]): string {
  const shown = MARGIN_GROUPS.filter((group) => groups.includes(group) || ALWAYS.has(group));
  const keys = shown.map((group) => (groups.includes(group) ? columnOf(group) : `null::text as ${group}`));
  const kept = groups.map(columnOf);
  const names = shown.map((group) => (groups.includes(group) ? columnOf(group) : group));
  const named = shown.map((group, index) => `${names[index]} as ${group}`);
  return `
with of_unit as (
  select ${keys.join(', ')}, u.cost_unit, sum(tasks) as tasks, sum(completed_tasks) as completed,
    sum(tasks_without_cost) as without_cost, sum(earned_micros) as earned, sum(cost_micros) as cost, sum(cost_worth_micros) as worth
  from (${MARGIN_SOURCE({ band: groups.includes('band'), tag: groups.includes('tag') })}) u
  group by ${[...kept, 'u.cost_unit'].join(', ')}
)
select ${named.join(', ')}, sum(tasks)::bigint as tasks, sum(completed)::bigint as completed_tasks,
  sum(earned)::bigint as earned_micros,
  coalesce(jsonb_agg(jsonb_build_object('unit', cost_unit, 'amount_micros', cost::bigint::text) order by cost_unit)
    filter (where cost_unit is not null), '[]') as costs,
  coalesce(sum(worth), 0)::bigint as cost_micros, sum(without_cost)::bigint as tasks_without_cost,
  case when sum(without_cost) = 0 then (sum(earned) - coalesce(sum(worth), 0))::bigint end as margin_micros
from of_unit group by ${names.join(', ')}
order by day desc nulls last, earned_micros desc, upstream, model limit ${USAGE_SUMS_MAX + 1}`;
}

/** Models of upstreams that brought less than they cost within a day, over requests whose cost is known. $1 the fewest of them. */
const LOSSES = `
select upstream, model, sum(earned_micros)::bigint as earned_micros, sum(cost_worth_micros)::bigint as cost_micros
from (${OF_RECORDS({})} where created_at >= now() - interval '24 hours' and upstream is not null and cost_worth_micros is not null) u
group by upstream, model having sum(tasks) >= $1 and sum(earned_micros) < sum(cost_worth_micros)
order by upstream, model limit 1000`;

/** A model that brought less than it cost at an upstream. */
export interface ObservedLoss {
  readonly upstream: string;
  readonly model: string;
  readonly earned_micros: bigint;
  readonly cost_micros: bigint;
}

/** So many requests show that it is no accident. */
const LOSS_REQUESTS = 20;

/** Tells what the work of upstreams brought beside what it cost: 31 days from the records, older ones from what is kept of each day. */
@Injectable()
export class MarginsService {
  constructor(private readonly database: Database) {}

  /**
   * @param days of UTC, both included.
   * @throws GatewayError `invalid_parameter`: more than `USAGE_SUMS_MAX` rows, or older days than are kept apart by `band` and `tag`.
   */
  async margins(
    { from, to }: { readonly from: string; readonly to: string },
    groups: readonly MarginGroup[],
  ): Promise<Margin[]> {
    const operators = this.database.ofOperators();
    const { rows: kept } = await operators.query<{ day: string }>({ text: KEPT_DAYS, values: [from, to] });
    if (kept.length > 0 && (groups.includes('band') || groups.includes('tag'))) throw tooOld();
    const days = new Set(kept.map(({ day }) => day));
    let first = from;
    while (days.has(first)) first = new Date(Date.parse(first) + DAY_MS).toISOString().slice(0, 10);
    const values = [from, to, [...days], first];
    const query = { text: marginsText(groups), values, limit: 'long' } as const;
    const { rows } = await operators.query<Margin>(query);
    expectAllSums(rows);
    return rows;
  }

  /** Where less came in than went out within the last 24 hours. */
  async losses(): Promise<ObservedLoss[]> {
    const query = { text: LOSSES, values: [LOSS_REQUESTS], limit: 'long' } as const;
    return (await this.database.ofOperators().query<ObservedLoss>(query)).rows;
  }
}

const tooOld = (): GatewayError =>
  new GatewayError(
    'invalid_parameter',
    `Margins are kept apart by band and tag for the last ${DETAILED_DAYS} days only: ask for later days, or group by day, upstream, model, account or kind.`,
    { param: 'group_by' },
  );
