import type {
  JsonObject,
  JsonValue,
  MediaFailureKind,
  MediaFailureScope,
  MediaReason,
  OperationState,
  VendorCost,
} from '#contracts';
import type { MediaCodec, VendorReply } from '../http/media-codec.js';
import type { FakeProtocol, Fault } from './fake-vendor.js';

/** A refusal of the vendor and what it must be taken for. */
export interface ExpectedFailure {
  readonly kind: MediaFailureKind;
  readonly reason?: MediaReason;
  readonly scope?: MediaFailureScope;
  readonly retryAfterMs?: number;
}

/** One protocol under test. The numbers in test names are the keys of CASES, which says what each one guarantees. */
export interface ContractCase<Protocol extends FakeProtocol & { readonly taken: readonly unknown[] }> {
  readonly codec: MediaCodec;
  readonly fake: () => Protocol;
  /** A body that the vendor takes. */
  readonly order: JsonObject;
  /** Such a body that refers to a file of each medium which the vendor takes by link. */
  readonly withFiles: JsonObject;
  /** Bodies that the catalogue allows and the vendor lacks, with the field that is named. */
  readonly lacks: readonly (readonly [what: string, body: JsonObject, param: string])[];
  /** Refusals of a submission, and what each must be taken for: busy, misconfigured or refused. */
  readonly refusals: readonly (readonly [what: string, reply: Fault, expected: ExpectedFailure])[];
  /** What the vendor reports about accepted work, and how it must be read. Absent for protocols without operations. */
  readonly states?: readonly (readonly [
    what: string,
    script: (protocol: Protocol) => void,
    expected: Partial<OperationState>,
    body?: JsonObject,
  ])[];
  /** Makes the vendor reply with an unknown state. */
  readonly strange?: (protocol: Protocol) => void;
  readonly reportedCost?: VendorCost;
  /** What is in the body of `order` though the caller said nothing of it; empty: the vendor's defaults are ours. */
  readonly alwaysSent: JsonObject;
  /** The spec in this folder in which a third-party client library is run against the fake, or why there is none. */
  readonly judge: `judge${string}.spec.ts` | { readonly none: string };
  /** Keys of CASES that the protocol's own spec tests, or that cannot exist for its vendor; each with where or why. */
  readonly elsewhere?: Readonly<Record<number, string>>;
  /** The vendor still lets work be stopped. */
  readonly stoppable?: (protocol: Protocol) => void;
  /** Says of work that it waits, for a vendor that is asked before work is stopped. */
  readonly waiting?: VendorReply;
}

/** Envelopes in which resellers pass on what their own upstream said. */
export const ENVELOPES: readonly (readonly [how: string, wrapped: (body: JsonValue) => JsonValue])[] = [
  ['as data', (data) => ({ code: 0, message: 'ok', data })],
  ['as data of a reply with a state of its own', (data) => ({ code: 'success', status: 'success', data })],
  ['as data of data', (data) => ({ code: 'success', data: { progress: '100%', status: 'SUCCESS', data } })],
  ['as output', (output) => ({ request_id: 'r-1', output })],
  ['as result', (result) => ({ success: true, result })],
  ['as response', (response) => ({ response })],
  ['as task', (task) => ({ task })],
  ['in a list', (body) => ({ data: [body] })],
];

/** The keys of CASES that the protocol under test has tests for. */
const tested = new Set<number>();

/** A test named `17-21: ...` covers every case from 17 to 21. */
function note(name: string): void {
  const [, from = '', to = from] = /^(\d+)(?:-(\d+))?: /.exec(name) ?? [];
  for (let number = Number(from); number <= Number(to); number += 1) tested.add(number);
}

/** A test of one reported state, which covers these cases. */
export function stateTest(cases: readonly number[], name: string, test: () => Promise<void>): void {
  for (const number of cases) tested.add(number);
  it(name, test);
}

/** A test whose name begins with the numbers of the cases that it covers. */
export const guarantee = Object.assign(
  (name: string, test: (() => void) | (() => Promise<void>)): void => {
    note(name);
    it(name, test);
  },
  {
    each: ((...cases: Parameters<typeof it.each>) => {
      const each = it.each(...cases);
      return (name: string, test: never): void => {
        note(name);
        each(name, test);
      };
    }) as typeof it.each,
  },
);

/** The cases that were covered since the last call. */
export function takeTested(): ReadonlySet<number> {
  const taken = new Set(tested);
  tested.clear();
  return taken;
}
