import {
  type JsonValue,
  MediaFailure,
  type MediaFailureDetails,
  type MediaFailureKind,
  type MediaFailureScope,
  type MediaReason,
  type VendorWords,
} from '#contracts';
import { isDone, type VendorReply, type Verb } from './media-codec.js';
import { retryAfterMsOf, wordsOf } from './vendor-words.js';

/** What a rule reads. Codes and messages that are absent are empty. */
export interface RefusalFacts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly verb: Verb;
}

/** What a failure is taken for. */
interface Sorted {
  readonly kind: MediaFailureKind;
  readonly reason: MediaReason;
  readonly scope?: MediaFailureScope;
}

/** One line of a vendor's table of errors. */
export interface FailureRule extends Sorted {
  readonly when: (refusal: RefusalFacts) => boolean;
}

const GONE = 410;

/** Rules common to all vendors: used when none of the vendor's table fits. */
const COMMON: readonly FailureRule[] = [
  { when: ({ status }) => status === 429, kind: 'busy', reason: 'busy' },
  { when: ({ status }) => status >= 500, kind: 'unavailable', reason: 'away' },
  { when: ({ status }) => status === 402, kind: 'unfit', reason: 'not_paid' },
  // No order can make a key wrong, so this closes the upstream for all accounts at once; 403 may mean one account's files or words.
  { when: ({ status }) => status === 401, kind: 'unfit', reason: 'wrong_key' },
  { when: ({ status }) => status === 403, kind: 'unfit', reason: 'not_served' },
  // It was read late, or in part: what lies between may have passed the order on.
  { when: ({ status, verb }) => status === 408 && verb === 'start', kind: 'ambiguous', reason: 'unanswered' },
  { when: ({ status }) => status === 425, kind: 'unavailable', reason: 'away' },
  {
    when: ({ status, verb }) => status === GONE && (verb === 'check' || verb === 'result'),
    kind: 'refused',
    reason: 'work_lost',
  },
  // A refused poll says nothing about the work.
  { when: ({ verb }) => verb !== 'start', kind: 'unavailable', reason: 'away' },
  { when: ({ status }) => status === 404 || status === GONE, kind: 'unfit', reason: 'not_served', scope: 'model' },
  // No order of a caller makes an address wrong, or a region forbidden.
  { when: ({ status }) => status === 405 || status === 451, kind: 'unfit', reason: 'not_served' },
];

const NOT_POSSIBLE: Sorted = { kind: 'unsupported', reason: 'not_possible' };
const UNANSWERED: Sorted = { kind: 'ambiguous', reason: 'unanswered' };

/**
 * An error inside a reply that says "200": one that is unspecific or unknown does not prove that
 * the order was not taken.
 */
const isTakenPerhaps = (rule: Sorted, status: number, verb: Verb): boolean =>
  verb === 'start' && isDone(status) && (rule === NOT_POSSIBLE || rule.kind === 'unavailable');

/** The words of every vendor for too many requests. */
const TOO_MANY = /rate.?limit|throttl|too.?many/i;

/** The status that an error inside a reply of status 200 would have had: proxies answer so. */
function saidStatus(status: number, code: string): number {
  if (!isDone(status)) return status;
  if (/^[45]\d\d$/.test(code)) return Number(code);
  return TOO_MANY.test(code) ? 429 : status;
}

/** The failure of the first rule that fits; what fits none cannot be made here. */
export function failureBy(
  rules: readonly FailureRule[],
  reply: VendorReply,
  error: JsonValue | undefined,
  verb: Verb,
  details: MediaFailureDetails = {},
): MediaFailure {
  const vendor: VendorWords = wordsOf(reply.status, error);
  const { code = '', message = '' } = vendor;
  const facts = { status: saidStatus(reply.status, code), code, message, verb };
  const rule = [...rules, ...COMMON].find(({ when }) => when(facts)) ?? NOT_POSSIBLE;
  const { kind, reason, scope } = isTakenPerhaps(rule, reply.status, verb) ? UNANSWERED : rule;
  const retryAfterMs = retryAfterMsOf(reply);
  return new MediaFailure(kind, reason, {
    ...details,
    vendor,
    ...(scope && { scope }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
