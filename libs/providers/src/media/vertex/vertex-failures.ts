import { isJsonObject, type JsonObject, type JsonValue, type MediaFailure, type MediaReason } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';
import { wordsOf } from '../http/vendor-words.js';

const POLICY = /support codes?|responsible ai|usage guidelines|safety|violat|sensitive/i;
const UNPAID = /billing/i;
const isRefusal = (status: number): boolean => status >= 400 && status < 500;
/** Errors about `storage_uri`: the bucket does not exist, or the account may not write there. No order names one. */
const BUCKET = /\bbuckets?\b|\bgs:\/\/|storage\.objects|storageUri|output storage/i;

/** Errors of Vertex AI by the word in `status` (vendors.md 7). */
const RULES: readonly FailureRule[] = [
  { when: ({ status, message }) => status === 403 && UNPAID.test(message), kind: 'unfit', reason: 'not_paid' },
  // Rates belong to one model of a project.
  { when: ({ status, verb }) => status === 429 && verb === 'start', kind: 'busy', reason: 'busy', scope: 'model' },
  { when: ({ status, verb }) => status === 404 && verb === 'check', kind: 'refused', reason: 'work_lost' },
  {
    when: ({ status, message, verb }) => status === 400 && verb === 'start' && POLICY.test(message),
    kind: 'refused',
    reason: 'content_refused',
  },
  { when: ({ status, message }) => isRefusal(status) && BUCKET.test(message), kind: 'unfit', reason: 'not_served' },
];

export const readVertexFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, wordIn(reply.body), verb);

/** The envelope holds the HTTP status as `code` and the word that says more as `status`. */
function wordIn(body: JsonValue | undefined): JsonObject | undefined {
  const error = isJsonObject(body) ? body['error'] : undefined;
  if (!isJsonObject(error)) return undefined;
  const { status, code, message } = error;
  return { code: status ?? code ?? null, message: message ?? null };
}

/** Why work that was taken failed, by the error inside the operation. */
export function vertexFailureReason(error: JsonObject): MediaReason {
  const { message = '' } = wordsOf(undefined, error);
  return POLICY.test(message) ? 'content_refused' : 'work_failed';
}
