import { MEDIA_REASONS, type OperationState } from '#contracts';
import type { ContractCase } from './contract-case.js';
import type { FakeProtocol } from './fake-vendor.js';

/** What every vendor protocol guarantees. Test names begin with these numbers. */
export const CASES: Readonly<Record<number, string>> = {
  1: 'id and vendor account are the configured ones',
  2: 'plans are pure, and name the field that the vendor lacks',
  3: 'every example and every mode of each model is planned',
  4: 'every public field reaches the vendor or is refused',
  5: 'defaults that differ from ours are always sent',
  6: 'nothing is sent that the vendor does not know',
  7: 'an order can be found again by its ticket alone',
  8: 'ticket and operation survive JSON, are small and hold no secret',
  9: 'nothing is sent for a caller that has given up',
  10: 'the key stands in one header only',
  11: 'no redirect is followed with the key',
  12: 'a refused connection counts as unavailable',
  13: 'a connection lost before the order was sent counts as unavailable',
  14: 'a connection lost after it counts as ambiguous',
  15: 'an unreadable reply is ambiguous to a submission and pending to a poll',
  16: 'a 5xx to a submission is ambiguous',
  17: '429 means busy, for as long as it says',
  18: '429 for an empty balance means unfit',
  19: '401 and 403 mean unfit',
  20: 'an error inside a 200 is seen',
  21: 'refused content of an order is refused',
  22: 'refused content of a result fails the work',
  23: "the vendor's words reach no client",
  24: 'an unknown state is pending, and reported once',
  25: 'final states end the work',
  26: 'polling twice gives the same answer',
  27: 'progress stays below 100 until the end',
  28: 'several files keep their order',
  29: 'missing files are named by position',
  30: 'no file at all is a failure',
  31: 'a last frame is delivered when it was ordered, and only then',
  32: 'the labelled file is delivered when it was ordered',
  33: 'files inside replies arrive whole, in bounded memory',
  34: 'dead links are replaced',
  35: 'links are fetched by the safe fetcher only',
  36: 'cancelling: cancelled, too late, refused, unanswered',
  37: 'references arrive as the vendor wants them',
  38: 'what the vendor cannot fetch becomes what it takes',
  39: 'request ids are noted',
  40: 'a reported cost is noted',
  41: 'the free call tests the key',
  42: 'callbacks: right, forged, challenged',
  43: 'a wrong clock is named',
  44: 'long ids keep every digit',
  45: 'two processes order once',
  46: 'a client library of somebody else works against the fake, and fails when one word of it is wrong',
  47: 'that library sends the same bodies as we do',
  48: 'recorded replies of real accounts can be read',
};

/** A case of any protocol, whatever its fake. */
export type AnyCase = Omit<ContractCase<FakeProtocol & { readonly taken: readonly unknown[] }>, 'fake' | 'states'> & {
  readonly states?: readonly (readonly [string, unknown, Partial<OperationState>, ...unknown[]])[];
};

const AT_ONCE = 'the response to the order has the files: nothing is polled';

/** Cases that cannot exist for a vendor, each with why; or that are tested once for all, each with where. */
export function explained(contract: AnyCase): ReadonlyMap<number, string> {
  const { codec, alwaysSent, judge, states = [] } = contract;
  const { traits } = codec;
  const unjudged = typeof judge === 'string' ? undefined : judge.none;
  const reasons: (readonly [number, string, boolean])[] = [
    [5, 'no default of the vendor differs from ours', Object.keys(alwaysSent).length === 0],
    [7, 'an order cannot be searched for', traits.repeatStart !== 'lookup'],
    [13, 'tested once for all in http/vendor-http.spec.ts', true],
    ...[24, 25, 26, 27, 34, 36].map((number) => [number, AT_ONCE, traits.style === 'call'] as const),
    [27, 'it reports no progress', !states.some(([, , expected]) => 'progressPercent' in expected)],
    [33, 'files are delivered as links', codec.inlineFiles === undefined],
    [36, 'it cannot be cancelled', codec.writeCancel === undefined],
    [40, 'it reports no cost', codec.readCost === undefined],
    [42, 'it makes no callbacks', codec.callback === undefined],
    [44, 'tested once for all in http/vendor-http.spec.ts', true],
    [45, 'an order that is sent twice is two orders there', traits.repeatStart !== 'idempotent'],
    ...[46, 47].map((number) => [number, unjudged ?? '', unjudged !== undefined] as const),
    [48, 'no reply of a real account was recorded yet; npm run smoke -- --record writes them', true],
  ];
  const own = Object.entries(contract.elsewhere ?? {}).map(([number, why]) => [Number(number), why] as const);
  return new Map([...reasons.flatMap(([number, why, holds]) => (holds ? [[number, why] as const] : [])), ...own]);
}

/** The parts of a reported state that decide which cases it covers. */
interface ExpectedState {
  readonly state?: string;
  readonly code?: string;
  readonly publicReason?: string;
  readonly progressPercent?: number;
  readonly outputs?: readonly { readonly role?: string }[];
  readonly missing?: readonly unknown[];
}

const EXAMPLES: Readonly<Record<number, (expected: ExpectedState) => boolean>> = {
  22: ({ code }) => code === 'content_policy',
  25: ({ state }) => state === 'failed',
  27: ({ progressPercent }) => progressPercent !== undefined,
  28: ({ outputs = [] }) => outputs.filter(({ role }) => role !== 'last_frame').length > 1,
  29: ({ missing = [] }) => missing.length > 0,
  30: ({ publicReason = '' }) => publicReason === MEDIA_REASONS.nothing_delivered.publicReason,
  31: ({ outputs = [] }) => outputs.some(({ role }) => role === 'last_frame'),
};

/** The cases that a reported state covers. */
export const casesOfState = (expected: Partial<OperationState>): number[] =>
  Object.entries(EXAMPLES).flatMap(([number, fits]) => (fits(expected as ExpectedState) ? [Number(number)] : []));
