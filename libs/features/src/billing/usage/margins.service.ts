import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import { expectAllSums, USAGE_SUMS_MAX } from './usage-sums.js';

/** What margins can be kept apart by. */
export const MARGIN_GROUPS = ['day', 'upstream', 'model'] as const;
export type MarginGroup = (typeof MARGIN_GROUPS)[number];

/** What a vendor took, in a unit of its own. */
export interface UnitCost {
  readonly unit: string;
  readonly amount_micros: string;
}

/** What tasks brought and what they cost; fields that were not asked apart are null. */
export interface Margin {
  readonly day: string | null;
  readonly upstream: string | null;
  readonly model: string | null;
  /** Tasks that an upstream was handed. */
  readonly tasks: bigint;
  readonly completed_tasks: bigint;
  /** Charged, less what was refunded on these days. */
  readonly earned_micros: bigint;
  readonly costs: readonly UnitCost[];
  /** All known costs in the unit of balances. */
  readonly cost_micros: bigint;
  /** Completed tasks whose cost in the unit of balances is unknown. */
  readonly tasks_without_cost: bigint;
  /** Earned less cost; null while the cost of a completed task is not known. */
  readonly margin_micros: bigint | null;
}

const COLUMN = { day: 'day', upstream: 'upstream', model: 'model' } as const;

/** First by unit, so that amounts of different units are never added up. A refund is a record of its own, below zero, on its own day. */
const marginsText = (groups: readonly MarginGroup[]): string => {
  const keys = MARGIN_GROUPS.map((group) => (groups.includes(group) ? COLUMN[group] : `null::text as ${group}`));
  const kept = groups.map((group) => COLUMN[group]);
  return `
with of_unit as (
  select ${keys.join(', ')}, u.cost_unit, count(*) filter (where u.status <> 'refunded') as tasks,
    count(*) filter (where u.status = 'completed') as completed,
    count(*) filter (where u.status = 'completed' and u.cost_worth_micros is null) as without_cost,
    sum(u.amount_micros) as earned, sum(u.cost_micros) as cost, sum(u.cost_worth_micros) as worth
  from (
    select *, to_char(created_at at time zone 'utc', 'YYYY-MM-DD') as day from usage_record
    where created_at >= $1::date::timestamp at time zone 'utc' and created_at < ($2::date + 1)::timestamp at time zone 'utc'
      and task_id is not null and upstream is not null
  ) u
  group by ${[...kept, 'u.cost_unit'].join(', ')}
)
select day, upstream, model, sum(tasks)::bigint as tasks, sum(completed)::bigint as completed_tasks,
  sum(earned)::bigint as earned_micros,
  coalesce(jsonb_agg(jsonb_build_object('unit', cost_unit, 'amount_micros', cost::bigint::text) order by cost_unit)
    filter (where cost_unit is not null), '[]') as costs,
  coalesce(sum(worth), 0)::bigint as cost_micros, sum(without_cost)::bigint as tasks_without_cost,
  case when sum(without_cost) = 0 then (sum(earned) - coalesce(sum(worth), 0))::bigint end as margin_micros
from of_unit group by day, upstream, model
order by day desc nulls last, earned_micros desc, upstream, model limit ${USAGE_SUMS_MAX + 1}`;
};

/** Tells what the work of media upstreams brought beside what it cost. Reads every record of the days that are asked for. */
@Injectable()
export class MarginsService {
  constructor(private readonly database: Database) {}

  /**
   * @param days of UTC, both included.
   * @throws GatewayError `invalid_parameter`: more than `USAGE_SUMS_MAX` rows.
   */
  async margins(
    days: { readonly from: string; readonly to: string },
    groups: readonly MarginGroup[],
  ): Promise<Margin[]> {
    const query = { text: marginsText(groups), values: [days.from, days.to], limit: 'long' } as const;
    const { rows } = await this.database.ofOperators().query<Margin & Record<string, unknown>>(query);
    expectAllSums(rows);
    return rows;
  }
}
