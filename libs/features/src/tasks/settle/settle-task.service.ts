import { Inject, Injectable } from '@nestjs/common';
import type { FinalState, Micros, ProviderOutput, StateBefore, TaskFailureCode } from '#contracts';
import {
  Database,
  isConnectionError,
  isUnfitError,
  logger,
  retryOnConnectionError,
  signals,
  timeOrderedId,
} from '#platform';
import { FAILPOINTS, type Failpoints, TASK_SIGNALS, type TaskSignals } from '#runtime';
import { reasonOf } from '../../observability/paused-work.js';
import { type EndedTask, recordTaskEnd } from '../../observability/record-task-end.js';
import type { TaskRow } from '../task-row.js';
import { leftoverFiles, type SettledFile } from '../store/result-files.js';
import { taskLog } from '../task-log.js';
import { SETTLE_TASK, SETTLE_UNANNOUNCED } from './settle-statement.js';

const log = logger('generation');

/** How a task succeeded. */
export interface Completion {
  readonly chargeMicros: Micros;
  /** Units delivered: seconds of video or images. */
  readonly quantity: number;
  readonly files: readonly SettledFile[];
  /** Seconds the files stay; null: forever. */
  readonly resultTtlSeconds: number | null;
  /** Notices to the owner about the results. */
  readonly notices: readonly string[];
}

interface EndingIn<State extends FinalState> {
  readonly taskId: string;
  readonly from: readonly StateBefore<State>[];
  readonly attempt: number | null;
  /** Only while no vendor was called. */
  readonly unstarted?: true;
  readonly state: State;
  readonly error: { readonly code: TaskFailureCode; readonly message: string } | null;
  readonly completion: Completion;
}

/** Each end with the states that may come before it. */
type Ending = { [State in FinalState]: EndingIn<State> }[FinalState];

const NOTHING: Completion = { chargeMicros: 0n, quantity: 0, files: [], resultTtlSeconds: null, notices: [] };

/** How long what was copied for a failed task lies there, in seconds: longer than a worker that lost the task may keep copying. */
const LEFTOVERS_TTL_SECONDS = 3_600;

/** A task that no worker has claimed. */
export interface UnclaimedTask {
  readonly id: string;
  readonly outputs: readonly ProviderOutput[] | null;
}

/** Ends tasks. The terminal move, the money, the files and the usage record are one statement: all of it or none. */
@Injectable()
export class SettleTaskService {
  constructor(
    private readonly database: Database,
    @Inject(TASK_SIGNALS) private readonly signals: TaskSignals,
    @Inject(FAILPOINTS) private readonly failpoints: Failpoints,
  ) {}

  /** Turns the hold into a charge and gives back the rest. False: the task had moved on. */
  complete(task: TaskRow, completion: Completion): Promise<boolean> {
    return this.end({
      taskId: task.id,
      from: ['storing'],
      attempt: task.attempt,
      state: 'completed',
      error: null,
      completion,
    });
  }

  /** Gives the whole hold back and says why, from within a claimed attempt. False: the task had moved on. */
  fail(task: TaskRow, code: TaskFailureCode, message: string): Promise<boolean> {
    const from = ['queued', 'submitting', 'storing'] as const;
    return this.end({
      taskId: task.id,
      from,
      attempt: task.attempt,
      state: 'failed',
      error: { code, message },
      completion: uselessly(task),
    });
  }

  /** Fails an open task that no attempt holds: the vendor said no, or time ran out. `from` names where it may be. */
  failUnclaimed(
    task: UnclaimedTask,
    from: readonly StateBefore<'failed'>[],
    code: TaskFailureCode,
    message: string,
  ): Promise<boolean> {
    const [state, error, completion] = ['failed', { code, message }, uselessly(task)] as const;
    return this.end({ taskId: task.id, from, attempt: null, state, error, completion });
  }

  /** Stops a task that its vendor has stopped, and gives the whole hold back. False: the task had moved on. */
  cancel(taskId: string, from: readonly StateBefore<'cancelled'>[]): Promise<boolean> {
    return this.end({ taskId, from, attempt: null, state: 'cancelled', error: null, completion: NOTHING });
  }

  /**
   * Stops a task that no vendor has seen, or whose vendor can be neither polled nor cancelled, and gives the whole hold
   * back. False: it is too late for that.
   */
  cancelUnstarted(taskId: string): Promise<boolean> {
    const from = ['queued', 'submitting'] as const;
    const [state, error, completion] = ['cancelled', null, NOTHING] as const;
    return this.end({ taskId, from, attempt: null, unstarted: true, state, error, completion });
  }

  private async end({ taskId, from, attempt, unstarted, state, error, completion }: Ending): Promise<boolean> {
    const files = completion.files.map((file) => ({
      ordinal: file.ordinal,
      role: file.role,
      store_key: file.storeKey,
      content_type: file.contentType,
      bytes: file.bytes,
      sha256: file.sha256,
      width: file.width,
      height: file.height,
      duration_ms: file.durationMs,
    }));
    const values = [
      taskId,
      state,
      from,
      attempt,
      completion.chargeMicros,
      completion.quantity,
      error?.code ?? null,
      error?.message ?? null,
      JSON.stringify(files),
      completion.resultTtlSeconds,
      timeOrderedId('usage'),
      unstarted ?? false,
      `${timeOrderedId('msg')}_`,
      completion.notices,
    ];
    const ended = await this.settle(taskId, values);
    if (!ended) return false;
    recordTaskEnd(ended);
    taskLog.ended(ended, taskId);
    this.failpoints.reach('after-settled');
    this.signals.publish([taskId]);
    return true;
  }

  /** State and money are written whatever becomes of the webhooks: an end that its webhooks prevent is written without them. */
  private async settle(taskId: string, values: readonly unknown[]): Promise<EndedTask | undefined> {
    try {
      return await this.run('settle_task', SETTLE_TASK, values);
    } catch (error) {
      if (isConnectionError(error) || isUnfitError(error)) throw error;
      const ended = await this.run('settle_unannounced', SETTLE_UNANNOUNCED, values.with(12, reasonOf(error)));
      if (!ended) return undefined;
      log.error('task.unannounced', { taskId, error });
      signals.tasksUnannounced.inc({ medium: ended.medium });
      return ended;
    }
  }

  private async run(name: string, text: string, values: readonly unknown[]): Promise<EndedTask | undefined> {
    const { rows } = await retryOnConnectionError(() => this.database.query<EndedTask>({ name, text, values }));
    return rows[0];
  }
}

/** Nothing is delivered and nothing charged, but files may lie in the store. */
const uselessly = ({ id, outputs }: UnclaimedTask): Completion => ({
  ...NOTHING,
  files: leftoverFiles(id, outputs),
  resultTtlSeconds: outputs ? LEFTOVERS_TTL_SECONDS : null,
});
