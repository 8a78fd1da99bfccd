import { Injectable } from '@nestjs/common';
import { shuttingDown, type TaskView } from '#contracts';
import { withinTime } from '#platform';
import { ReadTaskService, type VersionedTask } from '../read/read-task.service.js';
import { TaskWatch } from './task-watch.js';

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
