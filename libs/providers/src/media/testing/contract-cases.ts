import { MEDIA_REASONS, type OperationState } from '#contracts';
import type { ContractCase } from './contract-case.js';
import type { FakeProtocol } from './fake-vendor.js';

/** What every adapter is held to, by number (the design of media upstreams, section 11). */
export const CASES: Readonly<Record<number, string>> = {
  1: 'id and vendor account are the configured ones',
  2: 'plans are pure, and name the field that the vendor lacks',
  3: 'every example and every mode of each model is planned',
  4: 'every public field reaches the vendor or is refused',
  5: 'defaults that differ from ours are always sent',
  6: 'nothing is sent that the vendor does not know',
  7: 'an order is found by its ticket alone',
  8: 'ticket and operation survive JSON, are small and hold no secret',
  9: 'nothing is sent for a caller that has given up',
  10: 'the key stands in one header only',
  11: 'no redirect is followed with the key',
  12: 'a refused connection is unavailable',
  13: 'a line cut before the order was sent is unavailable',
  14: 'a line cut after it is ambiguous',
  15: 'garbage is ambiguous to a start and pending to a check',
  16: 'a 5xx to a start is ambiguous',
  17: '429 is busy, with its time',
  18: '429 for a balance is unfit',
  19: '401 and 403 are unfit',
  20: 'an error inside a 200 is seen',
  21: 'refused content of an order is refused',
  22: 'refused content of a result fails the work',
  23: "the vendor's words reach no client",
  24: 'an unknown state is pending, and reported once',
  25: 'states of the end end the work',
  26: 'checks answer alike twice',
  27: 'progress stays below 100',
  28: 'several files come in their order',
  29: 'missing files are named by their places',
  30: 'no file at all is a failure',
  31: 'a last frame comes when ordered, and only then',
  32: 'the labelled file comes when ordered',
  33: 'files inside replies arrive whole, in bounded memory',
  34: 'dead links are replaced',
  35: 'links are fetched by the safe fetcher only',
  36: 'stopping: stopped, too late, refused, unanswered',
  37: 'references arrive as the vendor wants them',
  38: 'what the vendor cannot fetch becomes what it takes',
  39: 'request ids are noted',
  40: 'a reported cost is noted',
  41: 'the free call proves the key',
  42: 'callbacks: right, forged, challenged',
  43: 'a clock that is off is named',
  44: 'long ids keep every digit',
  45: 'two processes order once',
  46: 'a judge passes against the fake, and fails when a word of it is wrong',
  47: 'the bodies of judge and adapter agree',
  48: 'recorded replies of real accounts are read',
};

/** A contract, whatever its fake. */
export type AnyCase = Omit<ContractCase<FakeProtocol & { readonly taken: readonly unknown[] }>, 'fake' | 'states'> & {
  readonly states?: readonly (readonly [string, unknown, Partial<OperationState>, ...unknown[]])[];
};

const AT_ONCE = 'it answers an order with the files: nothing is asked afterwards';

/** Why a case cannot exist for a vendor, or where it is tested for all. */
export function explained(contract: AnyCase): ReadonlyMap<number, string> {
  const { codec, alwaysSent, judge, states = [] } = contract;
  const { traits } = codec;
  const unjudged = typeof judge === 'string' ? undefined : judge.none;
  const reasons: (readonly [number, string, boolean])[] = [
    [5, 'no default of the vendor differs from ours', Object.keys(alwaysSent).length === 0],
    [7, 'an order cannot be searched for', traits.repeatStart !== 'lookup'],
    [13, 'http/vendor-http.spec.ts, once for all', true],
    ...[24, 25, 26, 27, 34, 36].map((number) => [number, AT_ONCE, traits.style === 'call'] as const),
    [27, 'it tells no progress', !states.some(([, , expected]) => 'progressPercent' in expected)],
    [33, 'files come by link', codec.inlineFiles === undefined],
    [36, 'it cannot be cancelled', codec.writeCancel === undefined],
    [40, 'it tells no cost', codec.readCost === undefined],
    [42, 'it makes no callbacks', codec.callback === undefined],
    [44, 'http/vendor-http.spec.ts, once for all', true],
    [45, 'an order that is sent again is another order there', traits.repeatStart !== 'idempotent'],
    ...[46, 47].map((number) => [number, unjudged ?? '', unjudged !== undefined] as const),
    [48, 'no reply of a real account was recorded yet; npm run smoke -- --record writes them', true],
  ];
  const own = Object.entries(contract.elsewhere ?? {}).map(([number, why]) => [Number(number), why] as const);
  return new Map([...reasons.flatMap(([number, why, holds]) => (holds ? [[number, why] as const] : [])), ...own]);
}

/** What a state of work is an example of, as far as it says. */
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

/** The cases that a state of work is an example of. */
export const casesOfState = (expected: Partial<OperationState>): number[] =>
  Object.entries(EXAMPLES).flatMap(([number, fits]) => (fits(expected as ExpectedState) ? [Number(number)] : []));
