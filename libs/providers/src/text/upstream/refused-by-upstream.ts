import { type ErrorCode, ERRORS, GatewayError } from '#contracts';
import type { ReplyHead } from '../../http/reply-head.js';
import { isOperatorsFault, type RefusedRequest } from './operators-fault.js';
import { parseRefusal, refusalOf, type UpstreamRefusal } from './upstream-refusal.js';

/** How the sentences of servers begin that a conversation is too long for. */
const TOO_LONG = [
  'prompt is too long',
  'prompt exceeds max length',
  String.raw`prompt contains \d+ tokens`,
  'input is too long for',
  'input length and `max_tokens` exceed context limit',
  'the input token count',
  String.raw`the input \(\d+ tokens\) is longer than`,
  "this (model|endpoint)'s maximum (context|prompt) length",
  'the request exceeds the available context size',
  'your (input|request) exceed(s|ed) (the context window|model token limit)',
  'requested token count exceeds',
  'invalid params, context window exceeds limit',
  '`inputs` tokens \\+ `max_new_tokens` must be',
  'range of input length should be',
  'trying to keep the first',
  'the number of tokens to keep from the initial prompt is greater',
  'prompt too long; exceeded',
  String.raw`you passed \d+ input tokens and requested`,
];

/** What servers put in front of such a sentence. */
const IN_FRONT = [
  'invalid request: ',
  String.raw`<\d+> [\w.]+: `,
  'input validation error: ',
  'unable to submit request because ',
];

/** Words for machines of single servers, by the word that clients know. */
const STANDARD_CODES: readonly (readonly [RegExp, string])[] = [
  [/^exceed_context_size_error$/i, 'context_length_exceeded'],
];

const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^(?:${IN_FRONT.join('|')})?(?:${TOO_LONG.join('|')})`, 'i'), 'context_length_exceeded'],
  [/^Output blocked by content filtering policy/i, 'content_filter'],
];

/** Words for machines that say nothing but the status: a sentence says more. */
const ANY_MISTAKE = /^(invalid_(request|parameter|argument)(_error)?|InvalidParameter|bad_?request(_error)?)$/i;

/** The word that agents act on: the upstream's own, or the one that its sentence stands for. */
function publicCode({ code, reasons, message = '' }: UpstreamRefusal): string | undefined {
  const meant = STANDARD_CODES.find(([pattern]) => reasons.some((reason) => pattern.test(reason)))?.[1];
  const said = SENTENCES.find(([pattern]) => pattern.test(message))?.[1];
  const own = code !== undefined && !ANY_MISTAKE.test(code) ? code : undefined;
  return meant ?? own ?? said ?? code;
}

/** Longest wait an upstream may ask for, in milliseconds; beyond it the number is taken for nonsense. */
const MAX_RETRY_AFTER_MS = 3_600_000;

function header({ headers }: ReplyHead, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The name an upstream gives the exchange in its own logs. */
export const upstreamRequestId = (reply: ReplyHead): string | undefined =>
  header(reply, 'x-request-id') ?? header(reply, 'request-id');

/**
 * How long an upstream asks callers to wait, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or date, or
 * what the body says.
 */
export function retryAfterMs(
  reply: ReplyHead,
  { waitMs = Number.NaN }: Partial<UpstreamRefusal> = {},
): number | undefined {
  const milliseconds = Number(header(reply, 'retry-after-ms') ?? Number.NaN);
  const after = header(reply, 'retry-after');
  const seconds = Number(after ?? Number.NaN) * 1000;
  const date = Date.parse(after ?? '') - Date.now();
  return usableWait([milliseconds, seconds, date, waitMs].find((value) => Number.isFinite(value)));
}

const usableWait = (wait: number | undefined): number | undefined =>
  wait === undefined || wait < 0 || wait > MAX_RETRY_AFTER_MS ? undefined : Math.ceil(wait);

const FAILURES: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  408: ['upstream_timeout', 'The upstream took too long.'],
  429: ['rate_limit_exceeded', 'The upstream is limiting its rate.'],
  498: ['overloaded', 'The upstream is overloaded.'],
  503: ['overloaded', 'The upstream is overloaded.'],
  504: ['upstream_timeout', 'The upstream took too long.'],
  529: ['overloaded', 'The upstream is overloaded.'],
};

/** Statuses of the 400s that are passed on as they are. All others become 400, which no client library repeats. */
const CALLERS_STATUS: Readonly<Record<number, ErrorCode>> = {
  403: 'permission_denied',
  404: 'not_found',
  413: 'request_too_large',
  415: 'unsupported_media_type',
  451: 'permission_denied',
};

/** Statuses of the 400s that say nothing about the request. */
const NOT_OF_THE_REQUEST: ReadonlySet<number> = new Set([408, 425, 429, 498, 499]);

/** Words for machines with which the operator's account is at its end. */
const USED_UP = /^(insufficient_quota|billing_\w+|quota_exceeded)$/i;

/** One request alone is larger than the account's limit: waiting would not help, and other requests are not limited by it. */
const TOO_LARGE_FOR_THE_LIMIT = /^Request too large/i;

/** A refusal that the request itself caused, in the upstream's words. */
function callersFault(status: number, refusal: UpstreamRefusal, log: string): GatewayError {
  const { message = 'The upstream refused the request as invalid.', param } = refusal;
  const upstreamCode = publicCode(refusal);
  return new GatewayError(CALLERS_STATUS[status] ?? 'invalid_parameter', message, {
    log,
    ...(param === undefined ? {} : { param }),
    ...(upstreamCode === undefined ? {} : { upstreamCode }),
  });
}

function isCallersFault(status: number, refusal: UpstreamRefusal, request: RefusedRequest | undefined): boolean {
  if (status === 429) return TOO_LARGE_FOR_THE_LIMIT.test(refusal.message ?? '');
  if (status < 400 || status > 499 || NOT_OF_THE_REQUEST.has(status)) return false;
  return !isOperatorsFault(status, refusal, request);
}

/** Clients wait on the code of a limit, which a request that alone is too large never gets below. */
function refusedRequest(status: number, refusal: UpstreamRefusal, log: string): GatewayError {
  return status === 429 ? callersFault(413, { ...refusal, code: undefined }, log) : callersFault(status, refusal, log);
}

/** A quota that is used up does not come back by waiting, whatever status says so. */
function failureOf(status: number, { reasons }: UpstreamRefusal): readonly [ErrorCode, string] {
  const isUsedUp = status === 429 && reasons.some((reason) => USED_UP.test(reason));
  return (isUsedUp ? undefined : FAILURES[status]) ?? ['upstream_error', 'The upstream failed.'];
}

/**
 * A refusal by status. What the caller's request caused is reported once, in the upstream's words and with its code; what the
 * gateway's own configuration caused (key, model name, account) is a failure of the upstream to the caller, and the log
 * names the upstream's reason, never its sentence.
 *
 * @param request absent: sentences are believed as they are.
 */
export function refusedByUpstream(reply: ReplyHead, body: string, request?: RefusedRequest): GatewayError {
  const { status } = reply;
  const refusal = parseRefusal(body);
  const log = `upstream answered ${status} ${refusal.reasons.join(' ')}`.trimEnd();
  if (isCallersFault(status, refusal, request)) return refusedRequest(status, refusal, log);
  const [code, message] = failureOf(status, refusal);
  const wait = retryAfterMs(reply, refusal);
  return new GatewayError(code, message, wait === undefined ? { log } : { log, retryAfterMs: wait });
}

/** What vendors call proofs of reasoning where they refuse one; one vendor only says that some argument is invalid. */
const PROOFS =
  /signature|encrypt|decrypt|thinking|thought|reasoning|without its required|\brs_|\bproof|different conversation|^Request contains an invalid argument/i;

/** Whether a vendor may have refused a request because of a proof of reasoning in it. */
export const refusesProof = (error: unknown): boolean =>
  error instanceof GatewayError &&
  !ERRORS[error.code].retryable &&
  error.code !== 'unsupported_parameter' &&
  PROOFS.test([error.publicMessage, error.upstreamCode, error.param].join(' '));

/** Words for machines of failures inside a reply that the request itself caused; the status is what they would have had. */
const CALLERS_REASONS: readonly (readonly [RegExp, number])[] = [
  [/^(request_too_large)$/i, 413],
  [/^(not_found_error|NOT_FOUND|\w+_not_found)$/i, 404],
  [/^(permission_error|PERMISSION_DENIED)$/i, 403],
  [
    /^(invalid_request_error|invalid_prompt|invalid_request|INVALID_ARGUMENT|FAILED_PRECONDITION|context_length_exceeded|exceed_context_size_error|content_filter|content_policy_violation|invalid_image\w*|image_\w+|invalid_base64_image|unsupported_image_media_type|empty_image_file|failed_to_download_image|image_file_\w+|vector_store_timeout|external_connector_error|tool_user_error|bio_policy)$/i,
    400,
  ],
];

/** Words for machines of failures inside a reply that the upstream itself had. */
const REPORTS: readonly (readonly [RegExp, readonly [ErrorCode, string]])[] = [
  [/overloaded|UNAVAILABLE/, ['overloaded', 'The upstream is overloaded.']],
  [/rate_limit|RESOURCE_EXHAUSTED/, ['rate_limit_exceeded', 'The upstream is limiting its rate.']],
  [/timeout|DEADLINE/, ['upstream_timeout', 'The upstream took too long.']],
];
const REPLYING = ['upstream_error', 'The upstream failed while it was replying.'] as const;

/** The status that the words for machines stand for, or the sentence where a conversation is too long. */
function statusSaid(refusal: UpstreamRefusal): number | undefined {
  const said = CALLERS_REASONS.find(([pattern]) => refusal.reasons.some((reason) => pattern.test(reason)))?.[1];
  return said ?? (publicCode(refusal) === 'context_length_exceeded' ? 400 : undefined);
}

/** A failure that the upstream reports inside a reply it had begun. */
export function reportedFailure(error: unknown): GatewayError {
  const refusal = refusalOf(error);
  const reasons = refusal.reasons.join(' ');
  const log = `upstream reported: ${reasons}`;
  const status = refusal.status ?? statusSaid(refusal);
  const isRequests = status !== undefined && isCallersFault(status, refusal, undefined);
  if (isRequests) return refusedRequest(status, refusal, log);
  const reported = REPORTS.find(([pattern]) => pattern.test(reasons))?.[1];
  const [code, message] = FAILURES[status ?? 0] ?? reported ?? REPLYING;
  const wait = usableWait(refusal.waitMs);
  return new GatewayError(code, message, wait === undefined ? { log } : { log, retryAfterMs: wait });
}
