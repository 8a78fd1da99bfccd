/** The first count of input tokens of the price band that a record was charged by; 0: the base, or what has no bands. */
const BAND = `coalesce((select max((line ->> 'from_input_tokens')::bigint) from jsonb_array_elements(lines) line), 0)`;

/** One row for each tag of a record, and one for a record without any. */
const TAGS = `select unnest(coalesce(nullif(tags, '{}'), array[null::text])) as tag`;

/** What records alone can be kept apart by. */
interface MarginDetail {
  readonly band?: boolean;
  readonly tag?: boolean;
}

/**
 * Each usage record as it counts for margins; a `where` follows. A refund is a record of its own, below zero, on its own day. A charge that
 * no upstream had a part in, such as that of stored files, costs nothing.
 */
export const OF_RECORDS = ({ band = false, tag = false }: MarginDetail): string => `
  select to_char(created_at at time zone 'utc', 'YYYY-MM-DD') as day, upstream, model, account_id, kind, cost_unit,
    ${band ? BAND : '0::bigint'} as band, ${tag ? 'named.tag' : 'null::text'} as tag,
    case when status <> 'refunded' then 1 else 0 end as tasks, case when status = 'completed' then 1 else 0 end as completed_tasks,
    case when upstream is not null and cost_worth_micros is null and status <> 'refunded'
      and (status = 'completed' or amount_micros > 0) then 1 else 0 end as tasks_without_cost,
    amount_micros as earned_micros, cost_micros, cost_worth_micros, created_at
  from usage_record${tag ? ` cross join lateral (${TAGS}) named` : ''}`;

/** Which records count: those that cost an upstream's work, or brought money. */
const COUNTS = '(upstream is not null or amount_micros <> 0)';

const KEPT = 'upstream, model, account_id, kind, cost_unit';
const SUMS = ['tasks', 'completed_tasks', 'tasks_without_cost', 'earned_micros', 'cost_micros', 'cost_worth_micros'];

/** Kept days and, of all others, the records. $1 first day, $2 last day, $3 kept days, $4 the first day that is none. */
export const MARGIN_SOURCE = (detail: MarginDetail): string => `
  select to_char(day, 'YYYY-MM-DD') as day, ${KEPT}, 0::bigint as band, null::text as tag, ${SUMS.join(', ')}
  from margin_daily where day = any($3::date[]) and day between $1::date and $2::date
  union all
  select day, ${KEPT}, band, tag, ${SUMS.join(', ')} from (${OF_RECORDS(detail)}
    where created_at >= $4::date::timestamp at time zone 'utc' and created_at < ($2::date + 1)::timestamp at time zone 'utc'
      and ${COUNTS}
  ) r where not day::date = any($3::date[])`;

/** Keeps the margins of days. $1 first day, $2 last day. */
export const KEEP_MARGINS = `
  insert into margin_daily (day, ${KEPT}, ${SUMS.join(', ')})
  select day::date, ${KEPT}, ${SUMS.map((column) => `sum(${column})::bigint`).join(', ')} from (${OF_RECORDS({})}
    where created_at >= $1::date::timestamp at time zone 'utc' and created_at < ($2::date + 1)::timestamp at time zone 'utc'
      and ${COUNTS}
  ) r group by day, ${KEPT}`;
