import { GatewayError, type Medium } from '#contracts';
import {
  Coalescer,
  type CrashPoints,
  Database,
  retryOnConnectionError,
  type Statement,
  type TaskDoorbell,
} from '#platform';
import type { NewTask } from './new-task.js';
import { SUBMIT_TASKS, toSubmitRow } from './submit-statement.js';

/** Whether tasks of the same account may share a statement: a quota is guarded by a constraint that fails a whole one. */
export type PaidTask = NewTask & { readonly keyHasQuota: boolean };

/** Writes tasks: money held and row written together, worker called after. */
export class TaskWriter {
  private readonly batches: Coalescer<NewTask, PromiseSettledResult<boolean>>;

  constructor(
    private readonly database: Database,
    private readonly doorbell: TaskDoorbell,
    private readonly crashPoints: CrashPoints,
  ) {
    this.batches = new Coalescer((tasks) => this.writeBatch(tasks), { maxItems: 64, maxRunsInFlight: 2 });
  }

  /**
   * Holds the price and writes the task in one commit, then rings for a worker. A bell that gets lost costs only time:
   * the sweeper finds the row.
   *
   * @throws GatewayError `insufficient_balance`, `insufficient_key_quota`: nothing was written.
   */
  async write({ keyHasQuota, ...task }: PaidTask): Promise<void> {
    const accepted = keyHasQuota ? await this.writeAlone(task) : await this.writeTogether(task);
    if (!accepted) throw insufficientBalance(task);
    this.crashPoints.reach('after-task-written');
    this.doorbell.ring(task.medium satisfies Medium, [task.id]);
  }

  private async writeTogether(task: NewTask): Promise<boolean> {
    const outcome = await this.batches.add(task);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  /**
   * A batch is accepted by account as a whole. A task that was refused together with others is tried alone, because
   * the balance may cover it though not all of them. An error, too, sends each task on alone: one bad row must not
   * fail its neighbours.
   */
  private async writeBatch(tasks: readonly NewTask[]): Promise<PromiseSettledResult<boolean>[]> {
    const accepted = tasks.length > 1 ? await this.insert(tasks).catch(() => new Set<string>()) : new Set<string>();
    const outcomes: PromiseSettledResult<boolean>[] = [];
    for (const task of tasks) {
      const [outcome] = accepted.has(task.id)
        ? [{ status: 'fulfilled' as const, value: true }]
        : await Promise.allSettled([this.writeAlone(task)]);
      outcomes.push(outcome);
    }
    return outcomes;
  }

  private async writeAlone(task: NewTask): Promise<boolean> {
    try {
      return (await this.insert([task])).has(task.id);
    } catch (error) {
      if (isConstraint(error, 'api_key_within_quota')) {
        throw new GatewayError('insufficient_key_quota', 'The quota of this API key does not cover the request.', {
          cause: error,
        });
      }
      if (isConstraint(error, 'task_pkey')) return true;
      throw error;
    }
  }

  /** A connection that broke may have broken after the commit: before the next try it is looked up what was written. */
  private insert(tasks: readonly NewTask[]): Promise<Set<string>> {
    this.crashPoints.reach('before-task-written');
    let interrupted = false;
    return retryOnConnectionError(async () => {
      const written = interrupted ? await this.writtenBefore(tasks) : new Set<string>();
      if (written.size > 0) return written;
      interrupted = true;
      const values = [JSON.stringify(tasks.map(toSubmitRow))];
      return this.ids({ name: 'submit_tasks', text: SUBMIT_TASKS, values });
    });
  }

  private writtenBefore(tasks: readonly NewTask[]): Promise<Set<string>> {
    return this.ids({ text: 'select id from task where id = any($1)', values: [tasks.map(({ id }) => id)] });
  }

  private async ids(statement: Statement): Promise<Set<string>> {
    const { rows } = await this.database.query<{ id: string }>(statement);
    return new Set(rows.map(({ id }) => id));
  }
}

const insufficientBalance = (task: NewTask): GatewayError =>
  new GatewayError('insufficient_balance', 'The balance of the account does not cover the price of this request.', {
    log: `account ${task.accountId} cannot hold ${task.holdMicros} micros`,
  });

/** True when the database refused a row because of the named constraint. */
const isConstraint = (error: unknown, name: string): boolean =>
  error instanceof Error && 'constraint' in error && error.constraint === name;
