import { Injectable } from '@nestjs/common';
import type { AdminUpstream } from '#contracts';
import { Database } from '#platform';
import { bucketMs } from '../text/text-calls.js';

/** How the calls of one upstream went within the last five minutes. */
export type CallsLately = AdminUpstream['health']['calls'] & Pick<AdminUpstream['health'], 'last_error'>;

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

/** The bucket in which a share of the calls has ended, counted from the quickest. */
const bucketAt = (share: number): string => `min(bucket) filter (where so_far >= ${share} * total)`;

const TEXT_LATELY = `
with counted as (
  select upstream, bucket, sum(calls) as calls, coalesce(sum(calls) filter (where succeeded), 0) as succeeded
  from text_call_minute where minute > now() - interval '5 minutes' group by upstream, bucket
), running as (
  select *, sum(calls) over (partition by upstream order by bucket) as so_far, sum(calls) over (partition by upstream) as total
  from counted
), summed as (
  select upstream, sum(calls)::integer as ended, sum(succeeded)::integer as succeeded,
    ${bucketAt(0.5)} as p50_bucket, ${bucketAt(0.95)} as p95_bucket
  from running group by upstream
)
select s.*, case when f.upstream is not null then
  jsonb_build_object('time', f.failed_at, 'status', null, 'code', f.code, 'message', f.message) end as last_error
from summed s left join text_call_failure f on f.upstream = s.upstream and f.failed_at > now() - interval '5 minutes'`;

interface TextRow extends Pick<CallsLately, 'ended' | 'succeeded' | 'last_error'> {
  readonly upstream: string;
  readonly p50_bucket: number;
  readonly p95_bucket: number;
}

/** How calls of upstreams went lately, at all replicas. Times of texts are until the reply was there, or began to come. */
@Injectable()
export class LatestCalls {
  constructor(private readonly database: Database) {}

  async media(): Promise<ReadonlyMap<string, CallsLately>> {
    const { rows } = await this.database.ofOperators().query<CallsLately & { upstream: string }>({ text: LATELY });
    return new Map(rows.map(({ upstream, ...calls }) => [upstream, calls]));
  }

  /** By the ids of text upstreams. Seconds behind, and times at most a tenth too long. */
  async text(): Promise<ReadonlyMap<string, CallsLately>> {
    const { rows } = await this.database.ofOperators().query<TextRow>({ text: TEXT_LATELY });
    return new Map(
      rows.map(({ upstream, ended, succeeded, last_error, p50_bucket, p95_bucket }) => [
        upstream,
        { ended, succeeded, last_error, p50_ms: bucketMs(p50_bucket), p95_ms: bucketMs(p95_bucket) },
      ]),
    );
  }
}
