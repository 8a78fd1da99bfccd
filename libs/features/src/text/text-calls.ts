import { Injectable } from '@nestjs/common';
import type { GatewayError } from '#contracts';
import { Database, logger } from '#platform';

const log = logger('text');

/** How often counts are written, in milliseconds. */
const WRITE_EVERY_MS = 5_000;
/** Bucket n holds calls of at most this to the power of n milliseconds: a reported time is too long by at most this factor. */
const BUCKET_RATIO = 1.1;
const LOG_OF_RATIO = Math.log(BUCKET_RATIO);
const BUCKET_MAX = 200;
/** Of the words of a failure, in characters. */
const LONGEST_MESSAGE = 1_000;

/** $1 upstreams, $2 whether they succeeded, $3 buckets, $4 calls, side by side. In the order of the key, so that no two replicas wait for each other. */
const ADD = `
with over as (
  delete from text_call_minute where ctid = any(array(
    select ctid from text_call_minute where minute < now() - interval '10 minutes' for update skip locked))
)
insert into text_call_minute as m (upstream, minute, succeeded, bucket, calls)
select upstream, date_trunc('minute', now()), succeeded, bucket, calls
from unnest($1::text[], $2::boolean[], $3::smallint[], $4::integer[]) as c(upstream, succeeded, bucket, calls)
order by upstream, succeeded, bucket
on conflict (upstream, minute, succeeded, bucket) do update set calls = m.calls + excluded.calls`;

const KEEP_FAILURES = `
insert into text_call_failure as f (upstream, failed_at, code, message)
select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[]) as c(upstream, failed_at, code, message)
order by upstream
on conflict (upstream) do update set failed_at = excluded.failed_at, code = excluded.code, message = excluded.message
where excluded.failed_at > f.failed_at`;

/** How many calls of an upstream ended so, by bucket. */
interface Counts {
  readonly succeeded: number[];
  readonly failed: number[];
}

interface Failed {
  readonly at: Date;
  readonly error: GatewayError;
}

/** The bucket of a duration in milliseconds. */
export const bucketOf = (ms: number): number =>
  Math.min(BUCKET_MAX, Math.max(0, Math.ceil(Math.log(Math.max(ms, 1)) / LOG_OF_RATIO)));

/** The longest that a call of the bucket took, in whole milliseconds. */
export const bucketMs = (bucket: number): number => Math.round(BUCKET_RATIO ** bucket);

/**
 * Counts how calls of text upstreams end, for operators: in memory, and every few seconds added to what all replicas have
 * counted. A crash forgets those seconds; what cannot be written is forgotten too, because it says how things are now.
 */
@Injectable()
export class TextCalls {
  private counts = new Map<string, Counts>();
  private failures = new Map<string, Failed>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  /**
   * A call has ended.
   *
   * @param ms until the reply was there, or began where it is a stream.
   * @param failure where the upstream is at fault.
   */
  ended(upstream: string, ms: number, failure?: GatewayError): void {
    const counts = this.countsOf(upstream);
    const calls = failure ? counts.failed : counts.succeeded;
    const bucket = bucketOf(ms);
    calls[bucket] = (calls[bucket] ?? 0) + 1;
    if (failure) this.failures.set(upstream, { at: new Date(), error: failure });
    this.timer ??= setTimeout(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** Writes what was counted so far. Never throws. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const [counts, failures] = [[...this.counts], [...this.failures]];
    this.counts = new Map();
    this.failures = new Map();
    try {
      if (counts.length > 0)
        await this.database.query({ name: 'add_text_calls', text: ADD, values: columnsOf(counts) });
      if (failures.length > 0) await this.database.query({ text: KEEP_FAILURES, values: failureColumns(failures) });
    } catch (error) {
      log.warn('text_calls.not_written', { error });
    }
  }

  private countsOf(upstream: string): Counts {
    let counts = this.counts.get(upstream);
    if (!counts) this.counts.set(upstream, (counts = { succeeded: [], failed: [] }));
    return counts;
  }
}

function columnsOf(counted: readonly (readonly [upstream: string, Counts])[]): unknown[][] {
  const rows = counted.flatMap(([upstream, counts]) =>
    [true, false].flatMap((succeeded) =>
      (succeeded ? counts.succeeded : counts.failed).flatMap((calls, bucket) => [[upstream, succeeded, bucket, calls]]),
    ),
  );
  return [0, 1, 2, 3].map((column) => rows.map((row) => row[column]));
}

/** NUL is no text for Postgres. */
const failureColumns = (failures: readonly (readonly [string, Failed])[]): unknown[][] => [
  failures.map(([upstream]) => upstream),
  failures.map(([, { at }]) => at),
  failures.map(([, { error }]) => error.code),
  failures.map(([, { error }]) => error.message.toWellFormed().replaceAll('\0', '').slice(0, LONGEST_MESSAGE)),
];
