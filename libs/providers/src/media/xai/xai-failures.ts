import { isJsonObject, type JsonValue, type MediaFailure } from '#contracts';
import { failureBy, type FailureRule, type RefusalFacts } from '../http/failure-rules.js';
import { isDone, type VendorReply, type Verb } from '../http/media-codec.js';

const POLICY = /moderat|content polic|safety|violat/i;
const WRONG_KEY = /api key/i;
const UNPAID = /credit|balance|billing|spending limit/i;

/** A wrong key comes as a 400 as often as not, and through some proxies with status 200. */
const isWrongKey = ({ status, message }: RefusalFacts): boolean =>
  (status === 400 || isDone(status)) && WRONG_KEY.test(message);

/** Errors of xAI (vendors.md 11): statuses say little, sentences more. */
const RULES: readonly FailureRule[] = [
  {
    when: ({ status, message }) => (status === 429 || status === 403) && UNPAID.test(message),
    kind: 'unfit',
    reason: 'not_paid',
  },
  { when: isWrongKey, kind: 'unfit', reason: 'wrong_key' },
  {
    when: ({ status, message, verb }) => verb === 'start' && status < 429 && POLICY.test(message),
    kind: 'refused',
    reason: 'content_refused',
  },
];

export const readXaiFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, errorOf(reply.body), verb);

/** An error object, or a sentence with its code beside it. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error, code } = body;
  return typeof error === 'string' ? { message: error, ...(code !== undefined && { code }) } : error;
}
