import type { Readable } from 'node:stream';
import type { JsonObject } from './json.js';
import type { MeasuredReference, Medium, OutputPlan } from './catalog/media-order.js';

/** What a vendor is asked to make. */
export interface MediaOrder {
  /** Our task id; vendors that take an idempotency key or a client reference get this. */
  readonly taskId: string;
  /** Which try of submitting this order this is, counted from 1. Absent means the first. */
  readonly attempt?: number;
  readonly model: string;
  readonly family: string;
  readonly medium: Medium;
  readonly mode: string;
  /** Checked request fields under their wire names, defaults included. */
  readonly parameters: JsonObject;
  /** Every referenced file, already checked and measured. */
  readonly references: readonly MeasuredReference[];
  readonly output: OutputPlan;
}

/** A vendor's handle for running work. Plain JSON: any worker continues from the task row. */
export type Operation = JsonObject;

/** One finished file at the vendor. */
export interface ProviderOutput {
  readonly role: 'output' | 'last_frame';
  /** What the vendor calls it, or makes by its documentation: a hint, the first bytes decide. */
  readonly contentType: string;
  /** Where the bytes are: a vendor link, or whatever the provider's own `open` understands. Never shown to a client. */
  readonly url: string;
  /** The length of a video as the vendor reports it, if it does. */
  readonly seconds?: number;
  /** When the link dies, in Unix milliseconds, when the vendor says so. */
  readonly expiresAtMs?: number;
}

/** One of the ordered files that a vendor did not deliver although it delivered others. */
export interface UndeliveredOutput {
  /** Its place among the ordered files, counted from 0. */
  readonly ordinal: number;
  readonly code: TaskFailureCode;
  readonly publicReason: string;
}

export type OperationState =
  | { readonly state: 'pending'; readonly pollDelayMs?: number; readonly progressPercent?: number }
  | {
      readonly state: 'succeeded';
      readonly outputs: readonly ProviderOutput[];
      readonly missing?: readonly UndeliveredOutput[];
    }
  | { readonly state: 'failed'; readonly code: TaskFailureCode; readonly publicReason: string };

/** Why a task failed, as clients see it in `error.code`. */
export const TASK_FAILURES = {
  invalid_media: 'A referenced file broke a rule of the model.',
  content_policy: 'The vendor refused the content.',
  upstream_error: 'The vendor could not make it.',
  upstream_unknown:
    'The vendor may or may not have accepted the order; it was not sent twice, and nothing was charged.',
  deadline_exceeded: 'It took longer than the time allowed for its family.',
  storage_failed: 'The finished files could not be stored.',
  processing_crashed:
    'Processing it crashed our worker repeatedly; nothing was charged, and an operator has to check it.',
  parked: 'It failed repeatedly because of a fault on our side; an operator has to check it.',
} as const;
export type TaskFailureCode = keyof typeof TASK_FAILURES;

/**
 * A vendor that makes media in two steps: `start` submits the order, `check` polls it.
 * Both may be called again by another process after a crash.
 */
export interface MediaProvider {
  readonly id: string;
  /**
   * What a repeated `start` does after the first reply was lost. `idempotent`: the vendor knows our task id and starts
   * nothing twice. `lookup`: `find` can tell whether the first arrived. `unknown`: neither, so it is never repeated.
   */
  readonly repeatStart: 'idempotent' | 'lookup' | 'unknown';
  /** How often the vendor lets one customer poll, all processes together. Absent: it states no limit. */
  readonly checksPerSecond?: number;
  /**
   * How long `start` may take, in milliseconds; then its signal aborts, and nothing more is sent. A call whose worker died
   * is taken to have lasted as long. Absent: 30,000.
   */
  readonly startTimeoutMs?: number;
  /**
   * How long an order may take to show up in `find`, in milliseconds from the end of `start`; until then a missing order proves nothing.
   * Absent: 30,000.
   */
  readonly findableAfterMs?: number;

  /** @throws ProviderError when the vendor refused, or when it is not known whether it accepted. */
  start(order: MediaOrder, signal: AbortSignal): Promise<Operation>;

  /** @throws ProviderError `retryable` when the vendor gave no usable answer; the work itself may continue. */
  check(operation: Operation, signal: AbortSignal): Promise<OperationState>;

  /** Finds what an earlier `start` of the task created. Present exactly when `repeatStart` is `lookup`. */
  find?(taskId: string, signal: AbortSignal): Promise<Operation | null>;

  /** Opens an output as a byte stream. Without it the output's URL is downloaded through the safe fetcher. */
  open?(output: ProviderOutput, signal: AbortSignal): Promise<Readable>;

  /** Asks the vendor to stop. Absent when the vendor cannot. */
  cancel?(operation: Operation, signal: AbortSignal): Promise<'cancelled' | 'too_late'>;
}

/**
 * A vendor's failure, sorted once, where it is known best.
 * `retryable`: nothing was started, try again. `final`: the order was refused. `ambiguous`: it may have been accepted.
 * A `retryable` error with `retryAfterMs` says that the vendor is busy: every worker leaves it alone for that long, and
 * the task is not blamed.
 */
export class ProviderError extends Error {
  readonly kind: 'retryable' | 'final' | 'ambiguous';
  readonly code: TaskFailureCode;
  readonly publicReason: string;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProviderError['kind'],
    publicReason: string,
    details: { code?: TaskFailureCode; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(publicReason, { cause: details.cause });
    this.name = 'ProviderError';
    this.kind = kind;
    this.publicReason = publicReason;
    this.code = details.code ?? 'upstream_error';
    this.retryAfterMs = details.retryAfterMs;
  }
}
