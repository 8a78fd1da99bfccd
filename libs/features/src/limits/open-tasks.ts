import { GatewayError } from '#contracts';
import { Database } from '#platform';
import { LRUCache } from 'lru-cache';

/** How long a count is believed, in milliseconds. Submissions of this process are added to it meanwhile. */
const FRESH_MS = 1_000;
const RETRY_AFTER_MS = 5_000;

/** Counts no further than the bound, so that the work is bounded too. */
const COUNT_OPEN = `
select count(*)::integer as open from (
  select from task where account_id = $1 and finished_at is null limit $2) as tasks`;

/**
 * Bounds the open tasks of an account. Below the bound tasks queue instead of being refused, however few of them may
 * run at once. The bound is a guard, not an account of money: several replicas may pass it by what they accept within
 * one second.
 */
export class OpenTasks {
  private readonly counts = new LRUCache<string, { open: number }>({ max: 50_000, ttl: FRESH_MS });

  constructor(
    private readonly database: Database,
    private readonly bound: number,
  ) {}

  /** @throws GatewayError `rate_limit_exceeded`: the account has as many open tasks as it may. */
  async admit(accountId: string): Promise<void> {
    const count = this.counts.get(accountId) ?? (await this.read(accountId));
    if (count.open >= this.bound) {
      throw new GatewayError(
        'rate_limit_exceeded',
        `The account has ${this.bound} open tasks, which is as many as it may; submit more when some are done.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    count.open += 1;
  }

  private async read(accountId: string): Promise<{ open: number }> {
    const { rows } = await this.database.query<{ open: number }>({
      name: 'count_open_tasks',
      text: COUNT_OPEN,
      values: [accountId, this.bound],
    });
    const count = { open: rows[0]?.open ?? 0 };
    this.counts.set(accountId, count);
    return count;
  }
}
