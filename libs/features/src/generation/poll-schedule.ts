import type { Medium, Operation, ProviderOutput } from '#contracts';
import {
  Coalescer,
  Database,
  isConnectionError,
  retryOnConnectionError,
  type TaskDoorbell,
  type TaskSignals,
} from '#platform';
import * as statements from './poll-statements.js';

/** A vendor operation whose turn to be asked has come. */
export interface DuePoll {
  readonly taskId: string;
  readonly provider: string;
  readonly operation: Operation;
  /** How often it was asked, this time included. */
  readonly polls: number;
  /** The owner wants it stopped. */
  readonly cancelRequested: boolean;
}

interface PollRow {
  readonly task_id: string;
  readonly provider: string;
  readonly operation: Operation;
  readonly polls: number;
  readonly cancel_requested: boolean;
}

/** When to ask again about a poll. */
interface Delay {
  readonly poll: DuePoll;
  readonly delayMs: number;
}

/** Results that arrive together leave in one statement: one round trip for hundreds of polls. */
const BATCHES = {
  maxItems: 500,
  maxRunsInFlight: 2,
  isItemFault: (error: unknown): boolean => !isConnectionError(error),
} as const;

/** When to ask the vendors again, and what they said. */
export class PollSchedule {
  private readonly delays: Coalescer<Delay, void>;
  private readonly progress: Coalescer<{ taskId: string; percent: number }, void>;
  private readonly done: Coalescer<{ id: string; outputs: readonly ProviderOutput[] }, void>;

  constructor(
    private readonly database: Database,
    private readonly doorbell: TaskDoorbell,
    private readonly signals: TaskSignals,
  ) {
    this.delays = new Coalescer((items) => this.writeDelays(items), BATCHES);
    this.progress = new Coalescer((items) => this.writeProgress(items), BATCHES);
    this.done = new Coalescer((items) => this.writeDone(items), BATCHES);
  }

  /** Takes the operations of a vendor that are due; nobody else asks about them for `leaseMs`. */
  async claim(provider: string, limit: number, leaseMs: number): Promise<DuePoll[]> {
    const rows = await this.run<PollRow>('claim_polls', statements.CLAIM_POLLS, [provider, limit, leaseMs]);
    return rows.map((row) => ({
      taskId: row.task_id,
      provider: row.provider,
      operation: row.operation,
      polls: row.polls,
      cancelRequested: row.cancel_requested,
    }));
  }

  /** The vendor is still at work: ask again in `delayMs`, or at once when the owner wants it stopped since the claim. */
  again(poll: DuePoll, delayMs: number): Promise<void> {
    return this.delays.add({ poll, delayMs });
  }

  /** Forgets a task that turned out to have moved on. */
  async drop(taskId: string): Promise<void> {
    await this.run('unschedule_ended', statements.UNSCHEDULE_ENDED, [taskId]);
  }

  /** `percent` below 95; the rest is for the files. */
  reportProgress(taskId: string, percent: number): Promise<void> {
    return this.progress.add({ taskId, percent });
  }

  /** The vendor is done: the files can be fetched, and a worker is called to do it. */
  finish(taskId: string, outputs: readonly ProviderOutput[]): Promise<void> {
    return this.done.add({ id: taskId, outputs });
  }

  /** Fills the schedule from the task rows when a crash of the database has emptied it. */
  async fill(): Promise<void> {
    await this.run('fill_schedule', statements.FILL_SCHEDULE, []);
  }

  private async writeDelays(items: readonly Delay[]): Promise<void[]> {
    // In the order of ids, so that two batches never wait for each other's rows.
    const sorted = items.toSorted((first, second) => (first.poll.taskId < second.poll.taskId ? -1 : 1));
    const values = [
      sorted.map(({ poll }) => poll.taskId),
      sorted.map(({ delayMs }) => Math.round(delayMs)),
      sorted.map(({ poll }) => poll.cancelRequested),
    ];
    await this.run('reschedule_polls', statements.RESCHEDULE_POLLS, values);
    return items.map(() => undefined);
  }

  private async writeProgress(items: readonly { taskId: string; percent: number }[]): Promise<void[]> {
    const values = [items.map(({ taskId }) => taskId), items.map(({ percent }) => Math.floor(percent))];
    const changed = await this.run<{ id: string }>('set_progress', statements.SET_PROGRESS, values);
    if (changed.length > 0) this.signals.publish(changed.map(({ id }) => id));
    return items.map(() => undefined);
  }

  private async writeDone(items: readonly { id: string; outputs: readonly ProviderOutput[] }[]): Promise<void[]> {
    const values = [JSON.stringify(items)];
    const moved = await this.run<{ id: string; medium: Medium }>('set_storing', statements.SET_STORING, values);
    for (const { id, medium } of moved) this.doorbell.ring(medium, [id]);
    if (moved.length > 0) this.signals.publish(moved.map(({ id }) => id));
    return items.map(() => undefined);
  }

  /** Every statement is safe to repeat, so a lost connection is simply tried again. */
  private async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await retryOnConnectionError(() => this.database.query<Row>({ name, text, values }));
    return rows;
  }
}
