import type { OperationState, TaskFailureCode } from './media-upstream.js';

/**
 * Why a call to a media upstream failed.
 *
 * - `busy`: it is at a limit; nothing was taken, and `scope` says what is full.
 * - `unavailable`: it cannot be reached, and nothing was accepted.
 * - `unfit`: its key, balance or contract does not allow the order; nothing was taken, and an operator has to fix it.
 * - `refused`: it does not make this order, and no other vendor is asked: the caller gets the reason.
 * - `unsupported`: it cannot make this order, but another vendor may.
 * - `ambiguous`: it may or may not have taken the order.
 */
export type MediaFailureKind = 'busy' | 'unavailable' | 'unfit' | 'refused' | 'unsupported' | 'ambiguous';

/** What a failure says something about: the whole vendor account, one model of it, or how many orders run at once. */
export type MediaFailureScope = 'account' | 'model' | 'running';

interface MediaReasonFacts {
  readonly code: TaskFailureCode;
  readonly publicReason: string;
}

/**
 * Everything that a client ever reads about a vendor's refusal or failed work. A vendor's own words may name its accounts,
 * its prices or another customer's prompt, so they are only shown to operators.
 */
export const MEDIA_REASONS = {
  busy: { code: 'upstream_error', publicReason: 'The vendor is busy.' },
  away: { code: 'upstream_error', publicReason: 'The vendor does not respond.' },
  not_served: { code: 'upstream_error', publicReason: 'The vendor does not serve this model at present.' },
  wrong_key: { code: 'upstream_error', publicReason: 'The vendor does not serve this model at present.' },
  not_paid: { code: 'upstream_error', publicReason: 'The vendor does not serve this model at present.' },
  unanswered: { code: 'upstream_unknown', publicReason: 'The vendor did not say whether it accepted the order.' },
  prompt_refused: { code: 'content_policy', publicReason: 'The vendor refused the prompt for its content.' },
  reference_refused: { code: 'content_policy', publicReason: 'The vendor refused a referenced file for its content.' },
  face_refused: {
    code: 'content_policy',
    publicReason: 'The vendor does not accept the face of a real person in this field.',
  },
  content_refused: { code: 'content_policy', publicReason: 'The vendor refused the content.' },
  result_refused: { code: 'content_policy', publicReason: 'The vendor made it and then withheld it for its content.' },
  reference_unusable: { code: 'invalid_media', publicReason: 'The vendor could not use a referenced file.' },
  parameter_refused: { code: 'upstream_error', publicReason: 'The vendor refused a parameter of the order.' },
  not_possible: { code: 'upstream_error', publicReason: 'The vendor cannot carry out this order.' },
  work_failed: { code: 'upstream_error', publicReason: 'The vendor could not make it.' },
  work_stopped: { code: 'upstream_error', publicReason: 'The vendor stopped working on the order.' },
  work_expired: { code: 'upstream_error', publicReason: 'The vendor did not finish within its own time limit.' },
  work_lost: { code: 'upstream_error', publicReason: 'The vendor no longer knows this order.' },
  nothing_delivered: {
    code: 'upstream_error',
    publicReason: 'The vendor reported success but delivered no file.',
  },
} as const satisfies Record<string, MediaReasonFacts>;

export type MediaReason = keyof typeof MEDIA_REASONS;

/** How work that delivered nothing ended, in words for the customer. */
export const failedBecause = (reason: MediaReason): OperationState => ({ state: 'failed', ...MEDIA_REASONS[reason] });

/** What a vendor said, for operators: its HTTP status, its code, its sentence without keys and links. */
export interface VendorWords {
  readonly status?: number;
  readonly code?: string;
  /** At most 1,000 characters. */
  readonly message?: string;
}

export interface MediaFailureDetails {
  /** Absent: the vendor account. */
  readonly scope?: MediaFailureScope;
  /** How long the vendor asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The public field that is refused, for example `duration`. */
  readonly param?: string;
  /** Which referenced file is refused, by its `param`, for example `image_urls[1]`. */
  readonly reference?: string;
  readonly vendor?: VendorWords;
  /** A sentence of ours for the client that says more than that of the reason. */
  readonly sentence?: string;
  readonly cause?: unknown;
}

/** Thrown by every method of a `MediaUpstream`; classified once, by the adapter, which knows its vendor best. */
export class MediaFailure extends Error {
  /** Why the task fails when nothing else can be tried. */
  readonly code: TaskFailureCode;
  /** One of our own sentences: it may be shown to the client. */
  readonly publicReason: string;
  readonly scope: MediaFailureScope;
  readonly retryAfterMs: number | undefined;
  readonly param: string | undefined;
  readonly reference: string | undefined;
  readonly vendor: VendorWords;

  constructor(
    readonly kind: MediaFailureKind,
    readonly reason: MediaReason,
    details: MediaFailureDetails = {},
  ) {
    const place = details.reference ?? details.param;
    const { code, publicReason: sentence } = MEDIA_REASONS[reason];
    const publicReason = details.sentence ?? (place === undefined ? sentence : `${place}: ${sentence}`);
    super(publicReason, { cause: details.cause });
    this.name = 'MediaFailure';
    this.code = code;
    this.publicReason = publicReason;
    this.scope = details.scope ?? 'account';
    this.retryAfterMs = details.retryAfterMs;
    this.param = details.param;
    this.reference = details.reference;
    this.vendor = details.vendor ?? {};
  }
}
