import type { Medium } from '../catalog/media-order.js';
import type { JsonObject } from '../json.js';
import type { PublicTaskStatus } from '../task.js';
import type { Amount, ConsoleList, ConsoleListQuery, Day, NoFields, Read, Time, Write } from './common.js';
import type { ConsoleEntry, ConsoleUsageRecord } from './money.js';
import type { ConsoleDelivery } from './account.js';

export interface ConsoleFile {
  /** Null when it is gone. */
  readonly url: string | null;
  readonly is_expired: boolean;
  readonly expires_at: Time | null;
  readonly content_type: string;
  readonly width: number | null;
  readonly height: number | null;
  /** Seconds; null for images. */
  readonly duration: number | null;
  readonly bytes: number;
}

/** A task in a list or a gallery. */
export interface ConsoleTask {
  readonly id: string;
  readonly type: Medium;
  readonly model: string;
  readonly status: PublicTaskStatus;
  /** 0 to 100. */
  readonly progress: number;
  readonly queue_position: number | null;
  readonly created_at: Time;
  readonly started_at: Time | null;
  readonly completed_at: Time | null;
  readonly key: { readonly id: string; readonly name: string };
  /** The first 500 characters; null after the time that contents are kept, or when the model takes none. */
  readonly prompt: string | null;
  /** A still of at most 480 pixels; null where there is none, then the media themselves can be shown. */
  readonly poster: { readonly url: string; readonly width: number; readonly height: number } | null;
  readonly files: readonly ConsoleFile[];
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Held while the task is open, charged once `is_final`. */
  readonly amount: Amount;
  readonly is_final: boolean;
  /** The result of a cancellation. */
  readonly cancellation: {
    readonly requested_at: Time;
    readonly outcome: 'requested' | 'cancelled' | 'too_late' | 'unsupported';
    readonly message: string;
  } | null;
}

/**
 * Events of a task: the name that operators and logs use, and the name that its owner reads. What is missing here,
 * such as of vendors, workers and other replicas, is shown to operators only.
 */
export const TASK_EVENT_NAMES = {
  submitted: 'submitted',
  first_claimed: 'started',
  running: 'running',
  retried: 'retried',
  produced: 'produced',
  cancel_requested: 'cancel_requested',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  'ledger.hold': 'held',
  'ledger.capture': 'captured',
  'ledger.release': 'released',
  'ledger.refund': 'refunded',
  'webhook.queued': 'webhook_queued',
  'webhook.delivered': 'webhook_delivered',
  'webhook.failed': 'webhook_failed',
} as const;
export type ConsoleTaskEventName = (typeof TASK_EVENT_NAMES)[keyof typeof TASK_EVENT_NAMES];

/** One thing that happened to a task, in words for the task's owner. */
export interface ConsoleTaskEvent {
  readonly time: Time;
  readonly event: ConsoleTaskEventName;
  /** An amount, a code or an address, where one belongs to it. */
  readonly detail: string | null;
}

/** Everything about one task. */
export interface ConsoleTaskDetails extends ConsoleTask {
  readonly mode: string;
  readonly path: string;
  readonly request_id: string;
  /** As it was sent, with its defaults, inline files by their type alone; null after the time that contents are kept. */
  readonly request: JsonObject | null;
  readonly notices: readonly string[];
  readonly last_frame_url: string | null;
  readonly quantity: number;
  readonly per: string;
  readonly variant: string;
  /** Earliest first. */
  readonly timeline: readonly ConsoleTaskEvent[];
  /** Earliest first; empty without `ledger:read`. */
  readonly entries: readonly ConsoleEntry[];
  /** What was charged, line by line; empty while the task is open. */
  readonly usage: readonly ConsoleUsageRecord[];
  readonly deliveries: readonly ConsoleDelivery[];
  /** The median of the last 20 tasks of the model that were completed; null when there are none. */
  readonly typical_seconds: number | null;
}

/** Which tasks, all of it together. */
export interface ConsoleTasksQuery extends ConsoleListQuery {
  readonly status?: PublicTaskStatus;
  readonly type?: Medium;
  readonly model?: string;
  readonly key_id?: string;
  /** Days of the submission, both included. */
  readonly from?: Day;
  readonly to?: Day;
  /** Words of the prompt, in any letter case; looked for in the newest 2,000 tasks that fit the rest, or a page. */
  readonly text?: string;
}

export interface TasksApi {
  /** Newest first. Of a search by text, `next_cursor` may come with few or no items: the search continues there. */
  'GET /tasks': Read<ConsoleList<ConsoleTask>, ConsoleTasksQuery>;
  'GET /tasks/:task_id': Read<ConsoleTaskDetails>;
  /** Answers once the outcome of the cancellation is known, or after 10 seconds. */
  'POST /tasks/:task_id/cancel': Write<NoFields, ConsoleTask>;
  /**
   * Server-sent events of the named tasks, at most 50, separated by commas: `event: task` with a `ConsoleTask` for each at
   * first and at each change. It ends with `event: end` when all tasks have ended. `event: failure` holds a `ConsoleFailure`.
   */
  'GET /tasks/events': Read<ConsoleTask, { readonly ids: string }>;
}
