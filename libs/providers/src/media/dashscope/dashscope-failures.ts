import { type JsonValue, type MediaFailure, type MediaReason } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';
import { wordsOf } from '../http/vendor-words.js';

const UNPAID = new Set(['Arrearage', 'PostpaidBillOverdue', 'PrepaidBillOverdue', 'CommodityNotPurchased']);
const NOT_OPENED = new Set(['AccessDenied.Unpurchased', 'Model.AccessDenied', 'ModelNotFound', 'Model_not_found']);
const INSPECTED =
  /^(?:DataInspectionFailed|data_inspection_failed|IPInfringementSuspect|CustomRoleBlocked|FaqRuleBlocked)/;
/** `InvalidParameter.DataInspection`: the file to inspect could not be fetched or read; nothing was found in it. */
const UNREADABLE =
  /^(?:Invalid(?:URL|File|Image|Person)|InvalidParameter\.DataInspection|BadRequest\.(?:InputDownloadFailed|UnsupportedFileFormat))/;

/** Why an order of ours is refused for what it holds; undefined for every other code. */
function contentReason(code: string, message: string): MediaReason | undefined {
  if (UNREADABLE.test(code)) return 'reference_unusable';
  if (!INSPECTED.test(code)) return undefined;
  if (/\boutput\b/i.test(message)) return 'result_refused';
  if (/\b(?:image|video|audio)\b/i.test(message)) return 'reference_refused';
  return /\b(?:text|prompt)\b/i.test(message) ? 'prompt_refused' : 'content_refused';
}

const REFUSED_FOR: readonly MediaReason[] = [
  'content_refused',
  'prompt_refused',
  'reference_refused',
  'reference_unusable',
  'result_refused',
];

/** Error codes of Model Studio, by its page of error messages as of November 2026. */
const RULES: readonly FailureRule[] = [
  { when: ({ code }) => UNPAID.has(code), kind: 'unfit', reason: 'not_paid' },
  // Each model has a free quota of its own; it is reported as a rate limit, too.
  {
    when: ({ code, message }) =>
      code === 'AllocationQuota.FreeTierOnly' || /^free allocated quota exceeded/i.test(message),
    kind: 'unfit',
    reason: 'not_paid',
    scope: 'model',
  },
  { when: ({ code }) => NOT_OPENED.has(code), kind: 'unfit', reason: 'not_served', scope: 'model' },
  { when: ({ code }) => code === 'InvalidApiKey', kind: 'unfit', reason: 'wrong_key' },
  // Rates and the number of running tasks belong to one model of an account; the rate of checks to the account.
  { when: ({ status, verb }) => status === 429 && verb === 'start', kind: 'busy', reason: 'busy', scope: 'model' },
  { when: ({ status, verb }) => status === 408 && verb === 'start', kind: 'ambiguous', reason: 'unanswered' },
  ...REFUSED_FOR.map((reason): FailureRule => ({
    when: ({ code, message, verb }) => verb === 'start' && contentReason(code, message) === reason,
    kind: 'refused',
    reason,
  })),
];

export const readDashscopeFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, reply.body, verb);

/** Why work that was taken failed, by the `code` and `message` in its output. */
export function dashscopeFailureReason(output: JsonValue | undefined): MediaReason {
  const { code = '', message = '' } = wordsOf(undefined, output);
  return contentReason(code, message) ?? 'work_failed';
}
