import type { JsonObject, Medium, TaskState, UpstreamCallRef, UpstreamOutput } from '#contracts';
import { backoffMs } from '#platform';

/**
 * Columns that have an older name in the database, which they keep so that the release before can run beside this one. All
 * that reads a whole row selects them besides.
 */
export const RENAMED_COLUMNS = `provider as upstream_id,
  lapses as crash_count,
  sudden_lapses as early_crash_count`;

/** The columns of `task` that workers and views read. */
export interface TaskRow {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string;
  readonly medium: Medium;
  readonly path: string;
  readonly family: string;
  readonly model: string;
  readonly mode: string;
  /** Without their long texts: see `withoutLargeParameters`. */
  readonly parameters: JsonObject;
  readonly notices: string[];
  readonly state: TaskState;
  readonly version: number;
  readonly progress: number;
  readonly attempt: number;
  readonly failures: number;
  readonly last_failure: string | null;
  /** Attempts at the present step that ended with their process, without a word. */
  readonly crash_count: number;
  /** Those of them that ended before their lease was renewed once. */
  readonly early_crash_count: number;
  /** The upstream that was called last, or is about to be. */
  readonly upstream_id: string | null;
  readonly start_intent_at: Date | null;
  /** When the call that was announced came back without an answer; null while unknown. */
  readonly start_ended_at: Date | null;
  readonly operation: JsonObject | null;
  /** What the upstream needs to find the order again; null for orders of before tickets were written. */
  readonly ticket: UpstreamCallRef | null;
  /** How often a call was lost whose upstream cannot say whether it took the order. */
  readonly lost_calls: number;
  readonly cost_micros: bigint | null;
  readonly cost_unit: string | null;
  readonly outputs: UpstreamOutput[] | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly hold_micros: bigint;
  readonly charged_micros: bigint | null;
  readonly billing_unit: string;
  readonly billing_variant: string;
  readonly billing_settle: 'per-output' | 'as-held';
  readonly quantity: number;
  readonly request_id: string;
  readonly deadline_at: Date;
  readonly cancel_requested_at: Date | null;
  readonly cancel_outcome: 'too_late' | 'unsupported' | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** A task that a worker has just taken. */
export interface ClaimedTask extends TaskRow {
  /** The database's time of the claim. */
  readonly claimed_at: Date;
}

export interface TaskFileRow {
  readonly ordinal: number;
  readonly role: 'output' | 'last_frame';
  readonly store_key: string;
  readonly content_type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly duration_ms: number | null;
  /** Unix seconds, or null when the file stays. */
  readonly expires_at: number | null;
  readonly removed: boolean;
}

const TASK_ID = /^task_[0-9A-HJKMNP-TV-Z]{26}$/;

/** True for what could be one of our ids; anything else need not reach the database. */
export const isTaskId = (text: string): boolean => TASK_ID.test(text);

/** After this many failed attempts a task is given up: the next would most likely fail like the others. */
export const MAX_FAILURES = 6;

/**
 * After so many attempts that ended without a word a task is given up. Three are enough when each ended at once, before its
 * lease was renewed. Attempts that lived longer may have been ended by a rolling update, so it takes more of those.
 */
const MAX_CRASHES = { early: 3, any: 6 } as const;

/** Whether working on the task seems to end the process that does it. */
export const mayCrashWorkers = ({ crash_count: crashes, early_crash_count: early }: TaskRow): boolean =>
  early >= MAX_CRASHES.early || crashes >= MAX_CRASHES.any;

const BACKOFF = { firstMs: 1_000, longestMs: 60_000, spread: 0.25 };

/** How long a task waits after a failed attempt, in milliseconds. @param failures the attempts that failed before. */
export const backoffDelayMs = (failures: number): number => backoffMs(BACKOFF, failures);
