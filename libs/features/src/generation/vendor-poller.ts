import { ProviderError, type OperationState } from '#contracts';
import { logger, type TaskDoorbell } from '#platform';
import type { MediaProviderRegistry } from '#providers';
import { Loop } from './loop.js';
import type { SettleTaskService } from './settle-task.service.js';
import type { DuePoll, TaskMoves } from './task-moves.js';

const log = logger('generation');

/** Bounds of polling. Times in milliseconds. */
export const POLLING = {
  /** The most operations claimed at once. */
  batch: 500,
  /** How long a claimed poll is ours; if this process dies, another asks after that time. */
  leaseMs: 30_000,
  /** The pause when little was due. */
  idleMs: 100,
  /** How often the unlogged schedule is compared with the rows. */
  rebuildMs: 10_000,
  /** The longest one vendor call may take. */
  timeoutMs: 20_000,
} as const;

/** How long until the next look at a vendor that gave no hint: quickly at first, then ever more patiently, with jitter. */
export function pollDelayMs(polls: number, random: () => number = Math.random): number {
  const middle = Math.min(10_000, 500 * 1.3 ** Math.min(polls, 20));
  return Math.round(middle * (0.9 + random() / 5));
}

/** Asks vendors how running tasks go. Waiting costs no worker slot: it happens in the poll table. */
export class VendorPoller {
  private readonly loop = new Loop('vendor-poller', POLLING.idleMs, () => this.pollDue());
  private rebuiltAt = 0;

  constructor(
    private readonly moves: TaskMoves,
    private readonly settlement: SettleTaskService,
    private readonly providers: MediaProviderRegistry,
    private readonly doorbell: TaskDoorbell,
  ) {}

  start(): void {
    this.loop.start();
  }

  /** Resolves when the polls under way are done. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** True when a full batch was due, so that the next should follow at once. */
  private async pollDue(): Promise<boolean> {
    if (Date.now() - this.rebuiltAt > POLLING.rebuildMs) {
      await this.moves.rebuildPolls();
      this.rebuiltAt = Date.now();
    }
    const due = await this.moves.claimPolls(POLLING.batch, POLLING.leaseMs);
    await Promise.all(due.map((poll) => this.poll(poll)));
    return due.length === POLLING.batch;
  }

  private async poll(poll: DuePoll): Promise<void> {
    try {
      const provider = this.providers.providerById(poll.provider);
      const state = await provider.check(poll.operation, AbortSignal.timeout(POLLING.timeoutMs));
      await this.apply(poll, state);
    } catch (error) {
      const retryAfterMs = error instanceof ProviderError ? error.retryAfterMs : undefined;
      log.warn('upstream.check_failed', { taskId: poll.taskId, provider: poll.provider, error });
      await this.moves.reschedulePoll(poll.taskId, retryAfterMs ?? pollDelayMs(poll.polls));
    }
  }

  private async apply(poll: DuePoll, state: OperationState): Promise<void> {
    switch (state.state) {
      case 'pending':
        if (state.progressPercent !== undefined)
          await this.moves.setProgress(poll.taskId, Math.min(94, state.progressPercent));
        return this.moves.reschedulePoll(poll.taskId, state.pollDelayMs ?? pollDelayMs(poll.polls));
      case 'failed':
        await this.settlement.failUnclaimed(poll.taskId, ['running'], state.code, state.publicReason);
        return;
      case 'succeeded': {
        const queue = await this.moves.setStoring(poll.taskId, state.outputs);
        if (queue) this.doorbell.ring(queue, [poll.taskId]);
      }
    }
  }
}
