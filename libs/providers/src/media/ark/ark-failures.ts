import { isJsonObject, type JsonValue, type MediaFailure, type MediaReason } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';
import { wordsOf } from '../http/vendor-words.js';

const UNPAID = new Set(['AccountOverdueError', 'InvalidAccountStatus', 'SetLimitExceeded']);
const NOT_OPENED = new Set(['ModelNotOpen', 'InvalidEndpointOrModel', 'InvalidEndpointOrModel.NotFound']);
/** The rates and the queue of the account as a whole; every other 429 belongs to a model. */
const ACCOUNT_RATES = /^(?:APIAccount|Account|QuotaExceeded)/;
const USED_UP = /free (?:trial|quota|tier)|used up|exhausted/i;
const SENSITIVE = /^(Input|Output)?(Text|Image|Video|Audio)?SensitiveContentDetected/;

const REFUSED_FOR: readonly MediaReason[] = [
  'result_refused',
  'face_refused',
  'content_refused',
  'prompt_refused',
  'reference_refused',
];

/** Ark's error codes, by its error-code page and its page about bursts of traffic. */
const RULES: readonly FailureRule[] = [
  { when: ({ code }) => UNPAID.has(code), kind: 'unfit', reason: 'not_paid' },
  // One code for a full queue and for a trial that is used up.
  {
    when: ({ code, message }) => code === 'QuotaExceeded' && USED_UP.test(message),
    kind: 'unfit',
    reason: 'not_paid',
  },
  {
    when: ({ status, code }) => status === 429 && !ACCOUNT_RATES.test(code),
    kind: 'busy',
    reason: 'busy',
    scope: 'model',
  },
  { when: ({ code }) => NOT_OPENED.has(code), kind: 'unfit', reason: 'not_served', scope: 'model' },
  ...REFUSED_FOR.map((reason): FailureRule => ({
    when: ({ code }) => sensitiveReason(code) === reason,
    kind: 'refused',
    reason,
  })),
  { when: ({ status, verb }) => status === 404 && verb === 'check', kind: 'refused', reason: 'work_lost' },
];

export const readArkFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, isJsonObject(reply.body) ? reply.body['error'] : undefined, verb);

function sensitiveReason(code: string): MediaReason | undefined {
  const found = SENSITIVE.exec(code);
  if (!found) return undefined;
  const [, side, medium] = found;
  if (side === 'Output') return 'result_refused';
  if (code.includes('PrivacyInformation')) return 'face_refused';
  if (medium === undefined) return 'content_refused';
  return medium === 'Text' ? 'prompt_refused' : 'reference_refused';
}

/** Why work that was taken failed, by the error inside a reply of status 200. */
export function arkFailureReason(error: JsonValue | undefined): MediaReason {
  const { code = '' } = wordsOf(undefined, error);
  return sensitiveReason(code) ?? 'work_failed';
}
