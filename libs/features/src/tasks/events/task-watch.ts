import { Inject, Injectable } from '@nestjs/common';
import { Database, logger } from '#platform';
import { TASK_SIGNALS, type TaskSignals } from '#runtime';

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
