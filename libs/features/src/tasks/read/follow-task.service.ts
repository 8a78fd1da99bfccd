import { Inject, Injectable } from '@nestjs/common';
import { shuttingDown, type TaskView } from '#contracts';
import { Database, logger, withinTime } from '#platform';
import { TASK_SIGNALS, type TaskSignals } from '#runtime';
import { ReadTaskService, type VersionedTask } from './read-task.service.js';

const log = logger('task-watch');

/** How often the rows of watched tasks are looked at in case a signal was lost, in milliseconds. */
const CHECK_EVERY_MS = 3_000;

const VERSIONS = 'select id, version from task where id = any($1)';

/** One client's view of one task. */
export class WatchedTask {
  /** The version the client knows; a lost signal is noticed by a greater one in the row. */
  knownVersion = -1;
  private changed = false;
  private wake: (() => void) | undefined;

  constructor(private readonly forget: (watched: WatchedTask) => void) {}

  /** Resolves true when the task may have changed since the last call, false when `signal` aborts. */
  async next(signal: AbortSignal): Promise<boolean> {
    if (!this.changed && !signal.aborted) await this.waitForChange(signal);
    this.changed = false;
    return !signal.aborted;
  }

  /** Something happened to the task, or may have. */
  notice(): void {
    this.changed = true;
    this.wake?.();
  }

  close(): void {
    this.forget(this);
  }

  private async waitForChange(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.wake = undefined;
        resolve();
      };
      this.wake = wake;
      signal.addEventListener('abort', wake);
    });
  }
}

/**
 * Wakes clients that wait for tasks. All of them share one subscription, and one statement every few seconds in case a
 * signal was lost: a waiting client costs the database nothing of its own.
 */
@Injectable()
export class TaskWatch {
  private readonly watched = new Map<string, Set<WatchedTask>>();
  private readonly stopping = new AbortController();
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    @Inject(TASK_SIGNALS) private readonly signals: TaskSignals,
  ) {
    this.stopping.signal.addEventListener('abort', () => clearInterval(this.looking));
  }

  /** Aborts when this process is about to end: clients are to come back to another. */
  get ending(): AbortSignal {
    return this.stopping.signal;
  }

  /** Begins to watch. Open it before reading the task, so that no change falls in between; close it at the end. */
  open(taskId: string): WatchedTask {
    this.looking ??= this.begin();
    const watchers = this.watched.get(taskId) ?? new Set();
    this.watched.set(taskId, watchers);
    const watcher = new WatchedTask((closed) => {
      watchers.delete(closed);
      if (watchers.size === 0 && this.watched.get(taskId) === watchers) this.watched.delete(taskId);
    });
    watchers.add(watcher);
    return watcher;
  }

  /** Sends every waiting client away. */
  close(): void {
    this.stopping.abort();
  }

  private begin(): NodeJS.Timeout {
    this.signals.subscribe((changed) => {
      for (const taskId of changed === 'all' ? this.watched.keys() : changed) this.noticeAll(taskId);
    });
    return setInterval(() => {
      this.check().catch((error: unknown) => log.warn('task-watch.check_failed', { error }));
    }, CHECK_EVERY_MS).unref();
  }

  private noticeAll(taskId: string): void {
    for (const watcher of this.watched.get(taskId) ?? []) watcher.notice();
  }

  private async check(): Promise<void> {
    if (this.watched.size === 0) return;
    const values = [[...this.watched.keys()]];
    const { rows } = await this.database.query<{ id: string; version: number }>({
      name: 'task_versions',
      text: VERSIONS,
      values,
    });
    for (const { id, version } of rows) {
      for (const watcher of this.watched.get(id) ?? []) if (watcher.knownVersion < version) watcher.notice();
    }
  }
}

/** Lets clients wait for a task, or follow it, without polling. */
@Injectable()
export class FollowTaskService {
  constructor(
    private readonly tasks: ReadTaskService,
    private readonly watch: TaskWatch,
  ) {}

  /**
   * The task as soon as `settled` holds, or its current state when `waitMs` are over, the caller has gone or this process ends.
   *
   * @throws GatewayError `task_not_found`.
   */
  async waitUntil(
    accountId: string,
    taskId: string,
    settled: (task: TaskView, first: TaskView) => boolean,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<TaskView> {
    return withinTime(waitMs, signal, async (until) => {
      let first: TaskView | undefined;
      let last: TaskView | undefined;
      for await (const { view } of this.changes(accountId, taskId, -1, until)) {
        first ??= view;
        last = view;
        if (settled(view, first)) return view;
      }
      return last ?? this.tasks.read(accountId, taskId);
    });
  }

  /**
   * The task now, unless the caller knows that version, and then at each change until it is final or `signal` aborts. Changes
   * that come faster than they are taken are seen as one.
   *
   * @throws GatewayError `task_not_found`; `unavailable`: this process ends before the task does.
   */
  async *follow(
    accountId: string,
    taskId: string,
    knownVersion: number,
    signal: AbortSignal,
  ): AsyncGenerator<VersionedTask, void, undefined> {
    const isFinal = yield* this.changes(accountId, taskId, knownVersion, signal);
    if (!isFinal && this.watch.ending.aborted) throw shuttingDown();
  }

  /** Answers whether the task is final; else the caller has gone, or this process ends. */
  private async *changes(
    accountId: string,
    taskId: string,
    knownVersion: number,
    signal: AbortSignal,
  ): AsyncGenerator<VersionedTask, boolean, undefined> {
    const ending = AbortSignal.any([signal, this.watch.ending]);
    const watched = this.watch.open(taskId);
    watched.knownVersion = knownVersion;
    try {
      do {
        const task = await this.tasks.readVersioned(accountId, taskId);
        if (task.version > watched.knownVersion) {
          watched.knownVersion = task.version;
          yield task;
        }
        if (task.view.usage.final) return true;
      } while (await watched.next(ending));
      return false;
    } finally {
      watched.close();
    }
  }
}
