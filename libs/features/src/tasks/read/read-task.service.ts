import { type BalanceUnit, GatewayError, type TaskView } from '#contracts';
import { type MediaStore } from '#media';
import { Batcher, type Database, REQUEST_WAIT_MS } from '#platform';
import { isTaskId } from '../task-row.js';
import { type ReadRow, type ReadTask, TASK_COLUMNS, toTaskView } from './task-view.js';
import type { Page } from '../../paging/page.js';
import { type TaskListQuery, lastLookedAt, tasksPage } from './task-list.js';

/** One round trip for all tasks asked for together. */
const READ_TASKS = `select ${TASK_COLUMNS} from task where id = any($1)`;

const OWN_TASKS = `select id from task where id = any($1) and api_key_id = $2`;

/** A task as clients see it, with the number that grows at each of its changes. */
export interface VersionedTask {
  readonly view: TaskView;
  readonly version: number;
}

/** Reads tasks for their owners. Always from the row, never from a queue. */
export class ReadTaskService {
  private readonly reads: Batcher<string, ReadTask | null>;

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
    private readonly unit: BalanceUnit,
  ) {
    this.reads = new Batcher((ids) => this.readTasks(ids), {
      maxItems: 128,
      maxRunsInFlight: 3,
      maxWaiting: 10_000,
      maxWaitMs: REQUEST_WAIT_MS,
    });
  }

  /**
   * One task of the account.
   *
   * @throws GatewayError `task_not_found`: unknown, or of another account; the two errors are the same.
   */
  async read(accountId: string, taskId: string): Promise<TaskView> {
    return this.toView(await this.findOwn(accountId, taskId));
  }

  async readVersioned(accountId: string, taskId: string): Promise<VersionedTask> {
    const task = await this.findOwn(accountId, taskId);
    return { view: await this.toView(task), version: task.version };
  }

  /** Those of the named tasks that the account has, in the order of the names. */
  async readMany(accountId: string, taskIds: readonly string[]): Promise<TaskView[]> {
    const tasks = await Promise.all(taskIds.map((taskId) => this.find(taskId)));
    return Promise.all(tasks.flatMap((task) => (task?.account_id === accountId ? [this.toView(task)] : [])));
  }

  /** Those of the named tasks that a key submitted; all of them when no key is named. */
  async ownOf(apiKeyId: string | null, taskIds: readonly string[]): Promise<readonly string[]> {
    if (apiKeyId === null) return taskIds;
    const { rows } = await this.database.query<{ id: string }>({ text: OWN_TASKS, values: [taskIds, apiKeyId] });
    const own = new Set(rows.map(({ id }) => id));
    return taskIds.filter((taskId) => own.has(taskId));
  }

  /** @throws GatewayError `task_not_found`: the named key did not submit the task. Asks nothing when no key is named. */
  async expectOwn(apiKeyId: string | null, taskId: string): Promise<void> {
    if (apiKeyId !== null && (await this.ownOf(apiKeyId, [taskId])).length === 0) throw missing(taskId);
  }

  /**
   * A page of the account's tasks, or of those of one of its keys, newest first. One that is narrowed may hold few tasks, or none, before
   * the list ends.
   */
  async list(accountId: string, query: TaskListQuery, apiKeyId: string | null = null): Promise<Page<TaskView>> {
    const database = this.database.of(accountId);
    const statement = tasksPage(accountId, query, apiKeyId);
    const { rows } = await database.query<ReadRow>(statement);
    const shown = rows.slice(0, query.limit).map(({ task }) => task);
    const isFull = rows.length > query.limit;
    const [last] = isFull ? shown.slice(-1) : (await database.query<{ id: string }>(lastLookedAt(statement))).rows;
    return { items: await Promise.all(shown.map((task) => this.toView(task))), nextCursor: last?.id ?? null };
  }

  private async findOwn(accountId: string, taskId: string): Promise<ReadTask> {
    const task = await this.find(taskId);
    if (task?.account_id !== accountId) throw missing(taskId);
    return task;
  }

  private find(taskId: string): Promise<ReadTask | null> {
    return isTaskId(taskId) ? this.reads.add(taskId) : Promise.resolve(null);
  }

  private toView(task: ReadTask): Promise<TaskView> {
    return toTaskView(task, this.store, this.unit);
  }

  private async readTasks(ids: readonly string[]): Promise<(ReadTask | null)[]> {
    const { rows } = await this.database.query<ReadRow>({ name: 'read_tasks', text: READ_TASKS, values: [ids] });
    const byId = new Map(rows.map(({ task }) => [task.id, task]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}

const missing = (taskId: string): GatewayError =>
  new GatewayError('task_not_found', `There is no task "${taskId.slice(0, 64)}" in this account.`, {
    param: 'task_id',
  });
