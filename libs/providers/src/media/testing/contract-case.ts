import type {
  JsonObject,
  MediaFailureKind,
  MediaFailureScope,
  MediaReason,
  OperationState,
  VendorCost,
} from '#contracts';
import type { MediaCodec } from '../http/media-codec.js';
import type { FakeProtocol, Fault } from './fake-vendor.js';

/** A refusal of the vendor and what it must be taken for. */
export interface ExpectedFailure {
  readonly kind: MediaFailureKind;
  readonly reason?: MediaReason;
  readonly scope?: MediaFailureScope;
  readonly retryAfterMs?: number;
}

/** One protocol under the contract. Numbers in the names of the tests are those of the design (section 11). */
export interface ContractCase<Protocol extends FakeProtocol & { readonly taken: readonly unknown[] }> {
  readonly codec: MediaCodec;
  readonly fake: () => Protocol;
  /** A body that the vendor takes. */
  readonly order: JsonObject;
  /** Such a body that refers to a file of each medium which the vendor takes by link. */
  readonly withFiles: JsonObject;
  /** Bodies that the catalogue allows and the vendor lacks, with the field that is named. */
  readonly lacks: readonly (readonly [what: string, body: JsonObject, param: string])[];
  /** What the vendor answers to a start: cases 17 to 21. */
  readonly refusals: readonly (readonly [what: string, reply: Fault, expected: ExpectedFailure])[];
  /** What the vendor says of taken work: cases 22 to 32. Absent for protocols without operations. */
  readonly states?: readonly (readonly [
    what: string,
    script: (protocol: Protocol) => void,
    expected: Partial<OperationState>,
    body?: JsonObject,
  ])[];
  /** What the vendor calls the reply of a task in a word nobody knows. */
  readonly strange?: (protocol: Protocol) => void;
  readonly reportedCost?: VendorCost;
  /** The vendor still lets work be stopped. */
  readonly stoppable?: (protocol: Protocol) => void;
}
