import { Injectable } from '@nestjs/common';
import { Database } from '#platform';

/** How the calls of one upstream went within the last five minutes. */
export interface CallsLately {
  readonly ended: number;
  readonly succeeded: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly last_error: {
    /** ISO time. */
    readonly time: string;
    readonly status: number | null;
    readonly code: string | null;
    readonly message: string | null;
  } | null;
}

/** Through the index of the ends; a vendor that was busy took nothing, which is no failure of a call that it took. */
const LATELY = `
select upstream, count(*)::integer as ended,
  (count(*) filter (where outcome in ('taken', 'finished')))::integer as succeeded,
  percentile_cont(0.5) within group (order by ms) as p50_ms, percentile_cont(0.95) within group (order by ms) as p95_ms,
  (array_agg(jsonb_build_object('time', ended_at, 'status', vendor_status, 'code', vendor_code, 'message', vendor_message)
    order by ended_at desc) filter (where outcome not in ('taken', 'finished')))[1] as last_error
from (
  select *, round(extract(epoch from ended_at - started_at) * 1000)::float8 as ms from task_call
  where ended_at > now() - interval '5 minutes'
) call
group by upstream`;

/** How calls of media upstreams went lately, at all replicas. */
@Injectable()
export class LatestCalls {
  constructor(private readonly database: Database) {}

  async read(): Promise<ReadonlyMap<string, CallsLately>> {
    const { rows } = await this.database.query<CallsLately & { upstream: string }>({ text: LATELY });
    return new Map(rows.map(({ upstream, ...calls }) => [upstream, calls]));
  }
}
