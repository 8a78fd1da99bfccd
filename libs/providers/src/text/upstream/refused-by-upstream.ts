import { type ErrorCode, ERRORS, GatewayError, isJsonObject } from '#contracts';
import { parseBounded } from '#platform';
import { handedOn } from '../../http/envelopes.js';
import { HIDDEN, textWithoutSecrets } from '../../hidden-secrets.js';
import type { ReplyHead } from '../../http/whole-reply.js';
import { resumesInMs } from '../../resumes-in.js';

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
  String.raw`(?:(?:litellm\.)?\w{1,60}(?:error|exception)(?:: | - ))+`,
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

/** Longest wait an upstream may ask for, in milliseconds: until its next year; beyond it the number is taken for nonsense. */
const MAX_RETRY_AFTER_MS = 366 * 86_400_000;

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
  429: ['upstream_rate_limited', 'The upstream is limiting its rate.'],
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
  const wait = retryAfterMs(reply, refusal) ?? namedWait(status, refusal, request);
  return new GatewayError(code, message, wait === undefined ? { log } : { log, retryAfterMs: wait });
}

/** What a sentence about the operator's account or its rate says of the time at which it serves again. */
function namedWait(status: number, refusal: UpstreamRefusal, request?: RefusedRequest): number | undefined {
  const isOfAccount = status === 429 || isOperatorsFault(status, refusal, request);
  return isOfAccount ? resumesInMs(refusal.message ?? '') : undefined;
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
    /^(invalid_request_error|invalid_prompt|invalid_request|INVALID_ARGUMENT|FAILED_PRECONDITION|context_length_exceeded|exceed_context_size_error|content_filter|content_policy_violation|invalid_image\w*|image_\w+|invalid_base64_image|unsupported_image_media_type|empty_image_file|failed_to_download_image|image_file_\w+|vector_store_timeout|external_connector_error|tool_user_error|bio_policy|data_residency_mismatch)$/i,
    400,
  ],
];

/** Words for machines of failures inside a reply that the upstream itself had. */
const REPORTS: readonly (readonly [RegExp, readonly [ErrorCode, string]])[] = [
  [/overloaded|UNAVAILABLE/, ['overloaded', 'The upstream is overloaded.']],
  [/rate_limit|RESOURCE_EXHAUSTED/, ['upstream_rate_limited', 'The upstream is limiting its rate.']],
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

/** What is read of an upstream's error object, in any of the protocols. */
export interface UpstreamRefusal {
  /** The sentence for people: it may repeat the prompt or name the gateway's key, so it is never logged. */
  readonly message: string | undefined;
  readonly param: string | undefined;
  /** The words for machines, in whatever field the protocol puts them. */
  readonly reasons: readonly string[];
  /** The most exact of them, where the protocol has a field for it. */
  readonly code: string | undefined;
  /** The HTTP status it names, which servers repeat where they report a failure inside a reply. */
  readonly status: number | undefined;
  /** How long it asks callers to wait, in milliseconds. */
  readonly waitMs: number | undefined;
}

/** Longest sentence that is passed on, in characters. */
const MAX_MESSAGE = 1_000;

/** What a word for machines looks like; anything else in such a field could be the caller's own text. */
const REASON = /^[A-Za-z][\w.-]{0,63}$/;

const isReason = (word: unknown): word is string => typeof word === 'string' && REASON.test(word);

/** The words for machines of a vendor's error object: `type`, `code`, `status`, and `reason` of its details. */
export function errorReasons(error: Readonly<Record<string, unknown>>): readonly string[] {
  const words = [error['type'], error['code'], error['status']];
  for (const { reason } of detailsOf(error)) words.push(reason);
  return words.filter(isReason);
}

function detailsOf({ details }: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(details) ? (details as unknown[]).filter(isJsonObject) : [];
}

/** One protocol names the time to wait among the details, in seconds: `37s`, `0.5s`. Others have a field of the error for it. */
function waitIn(error: Readonly<Record<string, unknown>>): number | undefined {
  const waits = detailsOf(error).map(({ retryDelay }) =>
    typeof retryDelay === 'string' ? /^(\d+(\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined,
  );
  const { resets_in_seconds: left, retry_after: after, retry_after_seconds: seconds } = error;
  const said = [...waits, left, after, seconds].map(secondsIn).find((wait) => wait !== undefined);
  if (said !== undefined) return said * 1_000;
  const [at] = [error['resets_at'], error['reset_at']].map(momentIn).filter((moment) => moment !== undefined);
  return at === undefined ? undefined : at - Date.now();
}

/** A number of seconds, which some servers write as a text. */
const secondsIn = (said: unknown): number | undefined =>
  (typeof said === 'number' || typeof said === 'string') && /^\d+(\.\d+)?$/.test(String(said))
    ? Number(said)
    : undefined;

/** A moment as seconds since 1970, or in words. */
function momentIn(said: unknown): number | undefined {
  const seconds = secondsIn(said);
  const moment = seconds === undefined && typeof said === 'string' ? Date.parse(said) : (seconds ?? Number.NaN) * 1_000;
  return Number.isNaN(moment) ? undefined : moment;
}

const STATUS = /^[45]\d\d$/;

/** A number, which some servers write as a text. */
const statusIn = (code: unknown): number | undefined => (STATUS.test(String(code)) ? Number(code) : undefined);

/** The sentence, of a list of complaints about fields the first one's. */
function sentenceIn(said: unknown): string | undefined {
  if (typeof said === 'string') return said === '' ? undefined : said.slice(0, MAX_MESSAGE);
  if (Array.isArray(said)) return sentenceIn(said[0]);
  return isJsonObject(said) ? sentenceIn(said['detail'] ?? said['msg'] ?? said['message']) : undefined;
}

/** Reads an error object; one that is none reads as an empty refusal. */
export function refusalOf(error: unknown): UpstreamRefusal {
  const { message, param, code, ...rest } = isJsonObject(error) ? error : {};
  const behind = isJsonObject(error) ? errorBehind(error) : undefined;
  const told = behind === undefined ? undefined : refusalOf(behind);
  return {
    message: told?.message ?? sentenceIn(message),
    param: told?.param ?? (typeof param === 'string' ? param : undefined),
    reasons: [...errorReasons({ code, ...rest }), ...(told?.reasons ?? [])],
    code: told?.code ?? (isReason(code) ? code : undefined),
    status: statusIn(code) ?? told?.status,
    waitMs: waitIn(rest) ?? told?.waitMs,
  };
}

/** The error of the server behind one that hands it on, in whatever place and form; undefined: there is none. */
function errorBehind({ error, message, metadata }: Readonly<Record<string, unknown>>): unknown {
  if (isJsonObject(error)) return error;
  const raw = isJsonObject(metadata) ? metadata['raw'] : undefined;
  for (const text of [raw, message]) {
    const said = typeof text === 'string' ? handedOn(text) : undefined;
    if (said !== undefined) return errorIn(said);
  }
  return typeof raw === 'string' && raw !== '' ? { message: raw } : undefined;
}

/** The error object of a body; some servers write its sentence in its place. */
function errorIn(body: unknown): unknown {
  // One protocol wraps its error object in an array when it streams.
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(outer)) return outer;
  const { error, message, detail, errors, msg, ...others } = outer;
  return isJsonObject(error) ? error : { ...others, message: error ?? message ?? detail ?? errors ?? msg };
}

export function parseRefusal(body: string): UpstreamRefusal {
  try {
    return refusalOf(errorIn(parseBounded(body)));
  } catch {
    return refusalOf(undefined);
  }
}

/** Names of accounts and keys as vendors write them, keys half hidden by stars too. */
const ACCOUNT_NAMES = /\b(sk|gsk|xai|AIza)[-_]?[A-Za-z0-9_*-]{12,}|\b(org|proj)[-_][A-Za-z0-9]{12,}/g;

/** The same failure, its sentence without the operator's key, account and address. */
export function withoutSecrets(error: GatewayError, secrets: readonly string[]): GatewayError {
  const { publicMessage, code, message: log, param, retryAfterMs, upstreamCode, cause } = error;
  const cleaned = textWithoutSecrets(publicMessage.replace(ACCOUNT_NAMES, HIDDEN), secrets);
  if (cleaned === publicMessage) return error;
  return new GatewayError(code, cleaned, {
    log,
    cause,
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(upstreamCode === undefined ? {} : { upstreamCode }),
  });
}

export interface RefusedRequest {
  /** The model's name at the upstream: the operator's choice. */
  readonly upstreamModel: string;
  /** The body that was sent, in which the caller's own words stand. */
  readonly sent: readonly Uint8Array[];
}

/** Statuses that are about the operator's account or address, whatever the request holds. */
const OPERATORS_STATUS: ReadonlySet<number> = new Set([401, 402, 405, 407, 421, 426]);

/**
 * Words for machines that vendors use only for the account, its key, its quota or its region. Not among them are words
 * that also stand for a file or cache the caller named: `permission_error`, `PERMISSION_DENIED`, `FAILED_PRECONDITION`.
 */
const OPERATORS_REASON =
  /^(API_KEY_\w+|ACCESS_TOKEN_\w+|authentication_error|billing_\w+|invalid_api_key|insufficient_quota|quota_exceeded|UNAUTHENTICATED|SERVICE_DISABLED|BILLING_DISABLED|CONSUMER_\w+|USER_PROJECT_DENIED|account_deactivated|organization_\w+|unsupported_country_region_territory|request_forbidden|Arrearage|AccessDenied\.Unpurchased)$/i;

const MODEL_REASON = /^model_not_(found|available|supported)$/i;

/**
 * How sentences begin that blame the account, for vendors that name no reason. Further on a sentence may repeat words of
 * the caller's.
 */
const OPERATORS_SENTENCE =
  /^((Please )?(pass a valid |Incorrect |Invalid |The |Your )?(x-)?api[ _-]?key\b|Your credit balance|You exceeded your current quota|You have reached your specified API usage limits|Key limit exceeded|Gemini API free tier is not available|User location is not supported|(This|Your)( newly created)? (organization|account|project|workspace|team)( \S+)? (has been|has|is|does not|must)|Insufficient (Balance|credits|quota)|Generative Language API has not been used|Method doesn't allow unregistered callers|Requests (to|from) this (API|region)|Country, region, or territory not supported|Project \S+ does not have access)/i;

/** Larger bodies are not searched for a sentence; it is then believed to be the caller's own. */
const MAX_SEARCHED_BYTES = 1024 * 1024;

/**
 * True when the operator's account, key or choice of model is to blame for a refusal. Everything else with a status of
 * 4xx can follow from what the caller sent. A sentence counts only where the caller did not write it: vendors repeat ids
 * and names, and no caller may make an upstream look broken by choosing a name.
 */
export function isOperatorsFault(status: number, refusal: UpstreamRefusal, request?: RefusedRequest): boolean {
  const { reasons, message } = refusal;
  if (OPERATORS_STATUS.has(status) || reasons.some((reason) => OPERATORS_REASON.test(reason))) return true;
  // Nothing answers at this path: the address is wrong, not the request.
  if (status === 404 && message === undefined && reasons.length === 0) return true;
  if (reasons.some((reason) => MODEL_REASON.test(reason))) return namesOurModel(message, request);
  const said = message === undefined ? undefined : blamingPart(message, request);
  return said !== undefined && !isCallersText(said, request);
}

/** A tool may name a model as well: what is missing must be the one that the operator chose. */
function namesOurModel(message: string | undefined, request: RefusedRequest | undefined): boolean {
  const quoted = message?.match(/[`'"]([^`'"]+)[`'"]/g) ?? [];
  return !request || quoted.length === 0 || quoted.some((name) => name.slice(1, -1) === request.upstreamModel);
}

/** The beginning of a sentence that blames the account or says that the operator's model does not exist. */
function blamingPart(message: string, request: RefusedRequest | undefined): string | undefined {
  const account = OPERATORS_SENTENCE.exec(message)?.[0];
  if (account !== undefined || !request) return account;
  const model = request.upstreamModel.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const named = new RegExp(
    `^((The )?models?\\b[/: ]*[\`'"]?${model}[\`'"]?)( (does not exist|is not found|not found|is not available|is not supported)|$)`,
    'i',
  );
  const bare = new RegExp(`^${model} is not a valid model|^Model Not Exist|^No endpoints found for ${model}`, 'i');
  return named.exec(message)?.[1] ?? bare.exec(message)?.[0];
}

function isCallersText(said: string, request: RefusedRequest | undefined): boolean {
  if (!request) return false;
  const { sent } = request;
  if (sent.reduce((sum, { length }) => sum + length, 0) > MAX_SEARCHED_BYTES) return true;
  const text = Buffer.concat(sent).toString('utf8');
  return spellings(text).some((spelling) => spelling.includes(simple(said)));
}

/** The caller's text as a vendor may repeat it: without JSON's escapes, and without those of addresses. */
function spellings(text: string): readonly string[] {
  const unescaped = text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_match, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\(.)/g, '$1');
  return [simple(unescaped), simple(percentDecoded(unescaped))];
}

const simple = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ');

/** The text decoded, where it holds such escapes at all. */
function percentDecoded(text: string): string {
  return text.replace(/(%[0-9a-fA-F]{2})+/g, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
