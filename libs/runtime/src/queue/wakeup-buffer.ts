import { repeatOnLockConflict } from '#platform';

/** The most wake-ups kept while the queue cannot take them; beyond it the sweeper is the better way. */
const KEPT_MAX = 10_000;
/** The most wake-ups in one call to the queue. */
const BATCH_MAX = 500;

/**
 * Gathers wake-ups of one queue: those of the same turn leave in one call, those that arrive meanwhile in the next.
 * `send` is called at most once at a time. A call that lost a conflict of locks is made again; the wake-ups of any other
 * failed call are dropped and reported.
 */
export class WakeupBuffer {
  private readonly kept = new Set<string>();
  private sending: Promise<void> | undefined;

  constructor(
    private readonly send: (taskIds: string[]) => Promise<unknown>,
    private readonly report: (dropped: number, reason: unknown) => void,
  ) {}

  add(taskIds: readonly string[]): void {
    const accepted = taskIds.slice(0, Math.max(0, KEPT_MAX - this.kept.size));
    for (const taskId of accepted) this.kept.add(taskId);
    const dropped = taskIds.length - accepted.length;
    if (dropped > 0) this.report(dropped, new Error(`More than ${KEPT_MAX} wake-ups are waiting.`));
    this.sending ??= this.sendAll();
  }

  /** Resolves when nothing is kept any more. */
  async drained(): Promise<void> {
    await this.sending;
  }

  private async sendAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.kept.size > 0) {
      const batch = [...this.kept].slice(0, BATCH_MAX);
      for (const taskId of batch) this.kept.delete(taskId);
      await repeatOnLockConflict(() => this.send(batch)).catch((error: unknown) => this.report(batch.length, error));
    }
    this.sending = undefined;
  }
}
