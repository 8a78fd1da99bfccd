import { isJsonObject, type JsonValue, type MediaFailure } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';

const UNPAID = /balance|top.?up|billing/i;
const CONTENT = 'content_policy_violation';
const TIMEOUTS = new Set(['generation_timeout', 'request_timeout', 'startup_timeout']);
/** Types of errors about a file: its size, its format, or that it could not be fetched. */
const FILE = /^(?:archive|audio|face|file|image|unsupported|video)_/;

/** Error types of fal (fal.ai/docs: model errors, request errors). A finished request answers with the error of its work. */
const RULES: readonly FailureRule[] = [
  { when: ({ status, message }) => status === 403 && UNPAID.test(message), kind: 'unfit', reason: 'not_paid' },
  { when: ({ code }) => code === CONTENT, kind: 'refused', reason: 'content_refused' },
  { when: ({ code, status }) => status < 500 && FILE.test(code), kind: 'refused', reason: 'reference_unusable' },
  { when: ({ status, verb }) => verb !== 'start' && status === 404, kind: 'refused', reason: 'work_lost' },
  {
    when: ({ code, verb }) => verb === 'result' && code === 'client_cancelled',
    kind: 'refused',
    reason: 'work_stopped',
  },
  { when: ({ code, verb }) => verb === 'result' && TIMEOUTS.has(code), kind: 'refused', reason: 'work_expired' },
  { when: ({ status, verb }) => verb === 'result' && status === 422, kind: 'refused', reason: 'parameter_refused' },
  // Without a type, it is the queue itself that broke.
  {
    when: ({ code, status, verb }) => verb === 'result' && status >= 500 && code !== '',
    kind: 'refused',
    reason: 'work_failed',
  },
];

export const readFalFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, errorOf(reply.body), verb);

/** Errors of a model are a list, those of the queue a sentence with a type beside it. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  const { detail, error_type: type } = body;
  if (typeof detail === 'string') return { message: detail, ...(type !== undefined && { code: type }) };
  const first: JsonValue | undefined = Array.isArray(detail) ? detail[0] : undefined;
  if (!isJsonObject(first)) return undefined;
  const { msg: message = '', type: code = '' } = first;
  return { message, code };
}
