import { GatewayError } from '#contracts';
import { type Database, lruCache } from '#platform';

/** How long a count is believed, in milliseconds. Submissions of this process are added to it meanwhile. */
const FRESH_MS = 1_000;
/** A count that took long is believed so many times as long, so that counting is never more than a twentieth of the work. */
const FRESH_PER_COUNTING = 20;
const RETRY_AFTER_MS = 5_000;

/**
 * How many orders of a day may come to nothing by what their account does, besides one for each that was paid: the rows of
 * each stay, with its webhooks, and nobody pays for them.
 */
const FOR_NOTHING_PER_DAY = 10_000;
const FOR_NOTHING_RETRY_MS = 60_000;

/** Counts no further than the bounds, so that the work is bounded too. $1 account, $2 most open tasks, $3 most for nothing. */
const COUNT_OPEN = `
with paid as materialized (
  select coalesce(sum(requests - failed_requests), 0)::bigint + $3 as most from usage_daily
  where account_id = $1 and kind in ('image', 'video') and day >= (now() at time zone 'utc')::date - 1)
select (select count(*) from (
    select from task where account_id = $1 and finished_at is null limit $2) as tasks)::integer as open,
  (select count(*) from (
    select from task where account_id = $1 and finished_at > now() - interval '1 day'
      and (state = 'cancelled' or (state = 'failed' and error_code in ('invalid_media', 'content_policy')))
    limit (select most from paid)) as tasks) >= (select most from paid) as is_spent`;

interface Counted {
  readonly open: number;
  /** As many orders came to nothing as may. */
  readonly is_spent: boolean;
}

const NOTHING_COUNTED: Counted = { open: 0, is_spent: false };

interface OpenCount {
  open: number;
  readonly isSpent: boolean;
  readonly freshUntilMs: number;
}

/**
 * Bounds the open tasks of an account, and those that it has ended for nothing. Below the bound tasks queue instead of being refused, however few of them may
 * run at once. The bound is a guard, not an account of money: several replicas may pass it by what they accept within
 * a few seconds.
 */
export class OpenTasks {
  private readonly counts = lruCache<string, OpenCount>(50_000);
  private readonly readings = new Map<string, Promise<OpenCount>>();

  constructor(
    private readonly database: Pick<Database, 'query'>,
    private readonly bound: number,
  ) {}

  /** @throws GatewayError `rate_limit_exceeded`: the account has as many open tasks as it may, or as many that came to nothing. */
  async admit(accountId: string): Promise<void> {
    const count = await this.countOf(accountId);
    if (count.isSpent) {
      throw new GatewayError(
        'rate_limit_exceeded',
        `Within a day ${FOR_NOTHING_PER_DAY} orders of an account may be cancelled, or refused for what they hold, and one more for each that is paid: as many were. Submit more later.`,
        { retryAfterMs: FOR_NOTHING_RETRY_MS },
      );
    }
    if (count.open >= this.bound) {
      throw new GatewayError(
        'rate_limit_exceeded',
        `The account has ${this.bound} open tasks, the most it may have; submit more when some are done.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    count.open += 1;
  }

  /**
   * Requests that meet an old count share one new reading. None waits for it while the old count allows what it asks:
   * a long backlog takes tens of milliseconds to count, and a busy account sends dozens of requests in that time.
   */
  private countOf(accountId: string): OpenCount | Promise<OpenCount> {
    const known = this.counts.get(accountId);
    if (known && known.freshUntilMs > performance.now()) return known;
    const reading = this.readings.get(accountId) ?? this.read(accountId, known);
    return known && known.open < this.bound && !known.isSpent ? known : reading;
  }

  private read(accountId: string, known: OpenCount | undefined): Promise<OpenCount> {
    const reading = this.count(accountId, known).finally(() => this.readings.delete(accountId));
    this.readings.set(accountId, reading);
    // The requests that wait for it get its failure; later ones ask again.
    reading.catch(() => undefined);
    return reading;
  }

  private async count(accountId: string, known: OpenCount | undefined): Promise<OpenCount> {
    const beganAtMs = performance.now();
    const knownBefore = known?.open ?? 0;
    const { rows } = await this.database.query<Counted>({
      name: 'count_open_tasks',
      text: COUNT_OPEN,
      values: [accountId, this.bound, FOR_NOTHING_PER_DAY],
    });
    const now = performance.now();
    const freshUntilMs = now + Math.max(FRESH_MS, FRESH_PER_COUNTING * (now - beganAtMs));
    // What was let in by the old count meanwhile was not there to be counted.
    const letInMeanwhile = (known?.open ?? 0) - knownBefore;
    const [{ open, is_spent: isSpent } = NOTHING_COUNTED] = rows;
    const count = { open: open + letInMeanwhile, isSpent, freshUntilMs };
    this.counts.set(accountId, count);
    return count;
  }
}
