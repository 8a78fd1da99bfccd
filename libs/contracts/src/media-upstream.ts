import type { Readable } from 'node:stream';
import type { MeasuredReference, MediaReference, Medium, OutputPlan } from './catalog/media-order.js';
import type { JsonObject } from './json.js';

/** An order whose referenced files have not been checked yet: all that is needed to say who can make it. */
export interface PlannedOrder extends Omit<MediaOrder, 'attempt' | 'references'> {
  readonly references: readonly Pick<MediaReference, 'param' | 'medium' | 'role' | 'source'>[];
}

/**
 * What the task row knows before the call: all that `find` needs in another process. Plain JSON below 4 KB, without keys,
 * data URIs or signed links.
 */
export type UpstreamCallRef = JsonObject & {
  readonly upstream: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** `MediaUpstream.access`, where it has one. */
  readonly access?: string;
};

/** An amount that a vendor takes for an order: millionths of its own unit, for example `USD` or `tokens`. */
export interface VendorCost {
  readonly micros: bigint;
  readonly unit: string;
  /** The same in micros of the unit of balances, by the rate that the operator set; absent: its worth is not configured. */
  readonly worthMicros?: bigint;
}

/** How an upstream would make an order. */
export interface CallPlan {
  readonly ticket: UpstreamCallRef;
  /** How many of the account's running orders it counts as. */
  readonly slots: number;
  /** As configured; what the vendor reports replaces it. */
  readonly cost?: VendorCost;
}

/** Why an upstream cannot make an order, for the caller: a sentence of ours, and the public field it is about. */
export interface CannotMake {
  readonly cannot: string;
  readonly param?: string;
}

/** What `start` hands back. `finished`: the vendor answered with the files at once. */
export type Started =
  | { readonly kind: 'operation'; readonly operation: Operation }
  | {
      readonly kind: 'finished';
      readonly outputs: readonly UpstreamOutput[];
      readonly missing?: readonly UndeliveredOutput[];
    };

/** One referenced file, in whichever form the vendor wants. What it reads is read once for each task. */
export interface ReferenceFile {
  readonly reference: MeasuredReference;
  /** An address that the vendor can fetch: the caller's if it is public, else a signed link to our checked copy. */
  url(): Promise<string>;
  /** What was checked: bytes that came otherwise a second time are refused. */
  bytes(): Promise<Buffer>;
  /** Whether its link is one of ours that leads nowhere from outside, so that only its bytes can be handed over. */
  readonly isOursAlone?: boolean;
}

/** The files that an order refers to, by where they stand in the request. */
export interface ReferenceFiles {
  /** @throws RangeError when the order has no such reference. */
  get(param: string): ReferenceFile;
}

/** Where an upstream puts the bytes of finished files that arrive inside an answer. */
export interface ResultSpool {
  /**
   * Streams one file to its final place.
   *
   * @param ordinal place among the outputs of the task, counted from 0.
   * @returns a `kept:` address for `UpstreamOutput.url`; the bytes are stored when it resolves.
   */
  keep(ordinal: number, bytes: Readable): Promise<string>;
}

/** Facts of a call, noted when they are known, whatever happens next. */
export interface CallFacts {
  /** The vendor's own id of the request, for its support. */
  readonly requestId?: string;
  readonly status?: number;
  /** The vendor's word for what went wrong. */
  readonly code?: string;
  readonly cost?: VendorCost;
  /** How far the vendor's clock is ahead of ours, in milliseconds; noted only beyond one minute. */
  readonly clockSkewMs?: number;
}

/** One call to an upstream. */
export interface VendorCall {
  readonly signal: AbortSignal;
  readonly ticket: UpstreamCallRef;
  readonly files: ReferenceFiles;
  readonly spool: ResultSpool;
  /** Where the vendor may say that something happened; absent: it is only asked. */
  readonly callbackUrl?: string;
  note(facts: CallFacts): void;
}

/** What a free call that proves the credentials found. */
export type Verified =
  | {
      readonly ok: true;
      readonly clockSkewMs?: number;
      /** A sentence of ours about the vendor account. */
      readonly note?: string;
    }
  | {
      readonly ok: false;
      readonly problem: 'wrong_key' | 'no_balance' | 'not_opened' | 'busy' | 'away' | 'not_this_protocol';
      readonly vendor?: { readonly status?: number; readonly code?: string; readonly message?: string };
    };

/** What was sent to an address that a vendor was given. None of it is trusted. */
export interface CallbackRequest {
  readonly method: string;
  /** As the vendor was given it, without its query. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined when it was not a JSON object, or too long. */
  readonly body: JsonObject | undefined;
}

/** What applies to every request to an upstream. Times in milliseconds. */
export interface UpstreamTraits {
  /** `task`: `start` answers an operation. `call`: one long request that answers the files. */
  readonly style: 'task' | 'call';
  /**
   * What a repeated `start` does after the first reply was lost. `idempotent`: the vendor knows our task id and starts
   * nothing twice. `lookup`: `find` can tell whether the first arrived. `unknown`: neither, so it is never repeated.
   */
  readonly repeatStart: 'idempotent' | 'lookup' | 'unknown';
  /** How long `start` may take; then its signal aborts. */
  readonly startTimeoutMs: number;
  /** How long an order may take to show up in `find`, from the end of `start`. */
  readonly findableAfterMs: number;
  /** When an operation is first asked about, counted from its start. */
  readonly firstCheckMs: number;
  /** The least time between two checks of one operation. */
  readonly checkEveryMs: number;
  readonly checkTimeoutMs: number;
  /** Answers to checks may hold finished files of this medium themselves: such a check needs a spool. Absent: links only. */
  readonly checksBring?: Medium;
}

/** Where a finished file is downloaded. */
export interface ResultLink {
  readonly url: string;
  /** Headers for the origin of `url` alone; absent: anybody may fetch it. */
  readonly credentials?: Readonly<Record<string, string>>;
}

/** What a vendor takes in one field of a model, where that is less than the catalogue allows. */
export interface ModelTrait {
  readonly field: string;
  /** In words for callers. */
  readonly rules: readonly string[];
  /** From where: the table that is shipped, or the entry of the upstream. */
  readonly by: 'table' | 'entry';
  /** What the table was written from, and the day on which that was read. */
  readonly source: string | null;
  readonly checked: string | null;
}

/** One configured account with a vendor that makes media. Any process may call it about any operation. */
export interface MediaUpstream {
  readonly id: string;
  /** What the vendor's limits belong to; upstreams of one account share limits and cooldowns. */
  readonly vendorAccount: string;
  /** How the vendor is spoken to: a name in the list of protocols, `sandbox` included. */
  readonly protocol: string;
  /** Names the key and the server: what was ordered by another says nothing here. Absent: the upstream has no server. */
  readonly access?: string | undefined;
  readonly traits: UpstreamTraits;

  /** Whether and how it makes the order. Pure: no network, the same answer each time. */
  plan(order: PlannedOrder): CallPlan | CannotMake;

  /** What it takes of a model, where that is less than the catalogue allows. Absent: all of it. */
  traitsOf?(model: string): readonly ModelTrait[];

  /** Submits the order. @throws MediaFailure */
  start(order: MediaOrder, call: VendorCall): Promise<Started>;

  /**
   * Polls the work. Work that failed is a state, not an exception.
   *
   * @throws MediaFailure `busy`, `unavailable` or `unfit`: no usable answer, the work itself may continue.
   */
  check(operation: Operation, call: VendorCall): Promise<OperationState>;

  /** How many files its checks may have kept in our store for failed work. Absent: none. */
  mayKeep?(operation: Operation): number;

  /**
   * The vendor's own id of the work: no two orders of one vendor account have the same. Undefined where operations cannot be
   * mixed up, for they say themselves whose they are.
   */
  nameOf?(operation: Operation): string | undefined;

  /** What an earlier `start` with the call's ticket created. Present exactly when `repeatStart` is `lookup`. */
  readonly find?: ((call: VendorCall) => Promise<Started | null>) | undefined;

  /** New links to finished files whose links died. @throws MediaFailure */
  refresh?(operation: Operation, call: VendorCall): Promise<readonly UpstreamOutput[]>;

  /** Opens an output that is not everybody's to fetch. Without it an output's URL is downloaded through the safe fetcher. */
  readonly open?:
    ((output: UpstreamOutput, call: Pick<VendorCall, 'signal'>) => Promise<Readable | ResultLink>) | undefined;

  /** Asks the vendor to stop. Absent when the vendor cannot. @throws MediaFailure */
  readonly cancel?: ((operation: Operation, call: VendorCall) => Promise<'cancelled' | 'too_late'>) | undefined;

  /**
   * What is answered to a callback. `forged`: its sender does not hold the key. Absent: callbacks of this vendor carry no proof
   * and want no answer.
   */
  readonly readCallback?: ((request: CallbackRequest) => 'forged' | { readonly reply: JsonObject }) | undefined;

  /** A free call that proves address and credentials. Never throws for what the vendor says. */
  verify(call: Pick<VendorCall, 'signal' | 'note'>): Promise<Verified>;

  /** The request that `start` would send, without the key. Absent where nothing is sent. */
  preview?(order: PlannedOrder): JsonObject;

  /** Closes the connections when the calls on them are done. */
  close(): Promise<void>;
}

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
export interface UpstreamOutput {
  readonly role: 'output' | 'last_frame';
  /** What the vendor calls it, or makes by its documentation: a hint, the first bytes decide. */
  readonly contentType: string;
  /** Where the bytes are: a vendor link, or whatever the upstream's own `open` understands. Never shown to a client. */
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
      readonly outputs: readonly UpstreamOutput[];
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
