import type { Medium } from './catalog/media-order.js';

/**
 * The states of a task row and where each may go; specs hold the statements and the database to it. Every transition is one guarded UPDATE that names the state it leaves;
 * zero rows changed means that another process made the transition.
 */
export const TASK_TRANSITIONS = {
  /** Accepted and paid for by a hold; no vendor has seen it. */
  queued: ['submitting', 'failed', 'cancelled'],
  /** A worker holds the lease and hands the order to the vendor. */
  submitting: ['queued', 'running', 'storing', 'failed', 'cancelled'],
  /** The vendor works; the poll table says when to ask again. No worker holds a lease. */
  running: ['storing', 'failed', 'cancelled'],
  /** The vendor is done; a worker copies its files into our store. */
  storing: ['completed', 'failed'],
  /** Files readable, charge settled. */
  completed: [],
  /** Hold released; the reason is public. */
  failed: [],
  /** Stopped by its owner; hold released. */
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type TaskState = keyof typeof TASK_TRANSITIONS;

/** The states that end a task. */
export type FinalState = 'completed' | 'failed' | 'cancelled';

/** The states from which a task may go to `Next`. */
export type StateBefore<Next extends TaskState> = {
  [State in TaskState]: Next extends (typeof TASK_TRANSITIONS)[State][number] ? State : never;
}[TaskState];

/** What clients see of a task that a worker has begun (submission always answers `submitted`). */
const PUBLIC_STATUS = {
  queued: 'in_progress',
  submitting: 'in_progress',
  running: 'in_progress',
  storing: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<TaskState, string>;

export type PublicTaskStatus = 'submitted' | (typeof PUBLIC_STATUS)[TaskState];

export const PUBLIC_STATUSES = [
  'submitted',
  'in_progress',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly PublicTaskStatus[];

/**
 * The status of a task for clients. It never goes back: a task that was begun and waits for its next try is in progress.
 * `started`: whether a worker has ever begun it.
 */
export const publicStatusOf = (state: TaskState, started: boolean): PublicTaskStatus =>
  state === 'queued' && !started ? 'submitted' : PUBLIC_STATUS[state];

/** True when nothing more can happen to the task. */
export const isFinal = (state: TaskState): boolean => TASK_TRANSITIONS[state].length === 0;

/** A file of a finished task as clients see it. */
export interface TaskFileView {
  readonly url: string | null;
  /** Unix seconds after which the link is gone; null when it stays. */
  readonly expires_at: number | null;
  readonly expired?: true;
  readonly content_type: string;
  readonly width: number | null;
  readonly height: number | null;
  /** Seconds; null for images. */
  readonly duration: number | null;
  readonly bytes: number;
  readonly sha256: string;
}

/** The task as `GET /v1/tasks/{task_id}` shows it. Times are Unix seconds. */
export interface TaskView {
  readonly task_id: string;
  readonly id: string;
  readonly object: 'task';
  readonly type: Medium;
  readonly model: string;
  readonly status: PublicTaskStatus;
  readonly progress: number;
  /** Place among the waiting tasks of the same account and medium, counted from 1; only while it waits. At most 1,000. */
  readonly queue_position?: number;
  readonly created: number;
  readonly started: number | null;
  readonly completed: number | null;
  readonly result: {
    readonly videos?: TaskFileView[];
    readonly images?: TaskFileView[];
    readonly last_frame_url?: string | null;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: {
    readonly amount: string;
    readonly unit: string;
    readonly quantity: number;
    readonly per: string;
    readonly final: boolean;
  };
  readonly notice?: string;
  /** Present once the owner has asked to cancel. */
  readonly cancellation?: TaskCancellation;
}

/**
 * The result of a request to cancel. `requested`: the vendor is being asked to stop. `too_late`: it had finished or could not stop
 * any more. `unsupported`: it cannot stop work. After the last two the task continues, and counts like any other.
 */
export interface TaskCancellation {
  readonly requested: number;
  readonly outcome: 'requested' | 'cancelled' | 'too_late' | 'unsupported';
  /** The outcome for the work and for the money, in words. */
  readonly message: string;
}

/** What a queue job carries: it only points at the row. */
export interface TaskJob {
  readonly taskId: string;
}

/** One queue for each medium, so that slow videos never delay images. */
export type QueueName = Medium;
