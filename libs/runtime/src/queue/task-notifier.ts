import type { IQueueBackend, Queue } from 'bullmq';
import type { QueueName, TaskJob } from '#contracts';

/** Work on one task. `signal` aborts when the process must end before the work is done. */
export type TaskHandler = (taskId: string, signal: AbortSignal) => Promise<void>;

export interface ListenOptions {
  /** The most tasks that this process works on at once for this queue. */
  readonly concurrency: number;
  /** How many more it could begin at this moment. Absent: `notifyHereFirst` leaves all to the queue. */
  readonly room?: () => number;
}

export interface Listening {
  /**
   * Takes no further wake-ups and waits up to `graceMs` for running handlers, then aborts their signals and leaves.
   * Safe to repeat.
   */
  stop(graceMs: number): Promise<void>;
}

/** One BullMQ queue, whatever it is stored in; for dashboards and metrics. */
export type WakeupQueue = Queue<TaskJob, void, string, TaskJob, void, string, IQueueBackend, object>;

/**
 * Tells workers that a task may have work for them. A wake-up carries no truth: it may get lost, come twice or come for
 * a task that is long done. The task row decides, and the sweeper finds the tasks whose wake-up was lost.
 */
export interface TaskNotifier {
  /**
   * Wakes workers for tasks without waiting. Never throws: while the queue is unreachable, wake-ups are kept up to a bound
   * and then dropped.
   */
  notify(queue: QueueName, taskIds: readonly string[]): void;
  /**
   * The same for tasks that this process has just worked on: as many as it has room for are answered here, without the queue.
   */
  notifyHereFirst(queue: QueueName, taskIds: readonly string[]): void;
  /** Starts to answer wake-ups. A handler that throws is logged and shown as failed; its wake-up is not sent again. */
  listen(queue: QueueName, options: ListenOptions, handler: TaskHandler): Listening;
  /** True when the queue's server answers within a second and takes work. */
  isHealthy(): Promise<boolean>;
  /** Why the queue takes no work, or may lose it, in words for operators; null when all is well. */
  unfitness(): Promise<string | null>;
  /** The queues behind the wake-ups, one for each name. */
  queues(): readonly WakeupQueue[];
  /** Stops every listener (see `Listening.stop`), sends what is still kept, and closes all connections. */
  close(graceMs: number): Promise<void>;
}
