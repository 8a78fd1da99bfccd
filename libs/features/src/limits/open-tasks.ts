import { GatewayError } from '#contracts';
import { type Database, lruCache } from '#platform';

/** How long a count is believed, in milliseconds. Submissions of this process are added to it meanwhile. */
const FRESH_MS = 1_000;
/** A count that took long is believed so many times as long, so that counting is never more than a twentieth of the work. */
const FRESH_PER_COUNTING = 20;
const RETRY_AFTER_MS = 5_000;

/** Counts no further than the bound, so that the work is bounded too. */
const COUNT_OPEN = `
select count(*)::integer as open from (
  select from task where account_id = $1 and finished_at is null limit $2) as tasks`;

interface OpenCount {
  open: number;
  readonly freshUntilMs: number;
}

/**
 * Bounds the open tasks of an account. Below the bound tasks queue instead of being refused, however few of them may
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

  /** @throws GatewayError `rate_limit_exceeded`: the account has as many open tasks as it may. */
  async admit(accountId: string): Promise<void> {
    const count = await this.countOf(accountId);
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
    return known && known.open < this.bound ? known : reading;
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
    const { rows } = await this.database.query<{ open: number }>({
      name: 'count_open_tasks',
      text: COUNT_OPEN,
      values: [accountId, this.bound],
    });
    const now = performance.now();
    const freshUntilMs = now + Math.max(FRESH_MS, FRESH_PER_COUNTING * (now - beganAtMs));
    // What was let in by the old count meanwhile was not there to be counted.
    const letInMeanwhile = (known?.open ?? 0) - knownBefore;
    const count = { open: (rows[0]?.open ?? 0) + letInMeanwhile, freshUntilMs };
    this.counts.set(accountId, count);
    return count;
  }
}
