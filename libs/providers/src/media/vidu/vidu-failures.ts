import { isJsonObject, type JsonValue, type MediaFailure, type MediaReason } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';

const BUSY = new Set(['TooManyRequests', 'SystemThrottling', 'OperationInProcess']);
const FILE = /^Image(?:Download|Format)/;
const REASONS: ReadonlyMap<string, MediaReason> = new Map(
  Object.entries({
    TaskPromptPolicyViolation: 'prompt_refused',
    AuditSubmitIllegal: 'content_refused',
    CreationPolicyViolation: 'result_refused',
    ImageDownloadFailure: 'reference_unusable',
    ImageFormatInvalid: 'reference_unusable',
    UserCancelled: 'work_stopped',
  } as const),
);
const NOT_FOUND = new Set(['TaskNotFound', 'CreationNotFound']);

/** Words for why, in replies and in tasks that failed (vendors.md 10: official error-code page). */
const RULES: readonly FailureRule[] = [
  // As many tasks at once as the account may have.
  { when: ({ code }) => code === 'QuotaExceeded', kind: 'busy', reason: 'busy', scope: 'running' },
  { when: ({ code }) => BUSY.has(code), kind: 'busy', reason: 'busy' },
  { when: ({ code }) => code === 'CreditInsufficient', kind: 'unfit', reason: 'not_paid' },
  { when: ({ code }) => code === 'ModelUnavailable', kind: 'unfit', reason: 'not_served', scope: 'model' },
  { when: ({ code }) => FILE.test(code), kind: 'refused', reason: 'reference_unusable' },
  ...(['prompt_refused', 'content_refused', 'result_refused'] as const).map((reason): FailureRule => ({
    when: ({ code }) => REASONS.get(code) === reason,
    kind: 'refused',
    reason,
  })),
  {
    when: ({ code, status, verb }) => verb === 'check' && (status === 404 || NOT_FOUND.has(code)),
    kind: 'refused',
    reason: 'work_lost',
  },
];

export const readViduFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, errorOf(reply.body), verb);

/** Why work that was taken failed, by its `err_code`. */
export const viduFailureReason = (word: JsonValue | undefined): MediaReason =>
  (typeof word === 'string' ? REASONS.get(word) : undefined) ?? 'work_failed';

/** `code` is the status once more; the word is `reason`. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  const { reason: code = '', message = '' } = body;
  return { code, message };
}
