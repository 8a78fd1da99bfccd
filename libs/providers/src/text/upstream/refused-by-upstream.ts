import { GatewayError, isJsonObject, type ErrorCode } from '#contracts';
import type { UpstreamReply } from './upstream-http.js';

/** Longest wait an upstream may ask for, in milliseconds; beyond it the number is taken for nonsense. */
const MAX_RETRY_AFTER_MS = 3_600_000;

function header({ headers }: UpstreamReply, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The name an upstream gives the exchange in its own logs. */
export const upstreamRequestId = (reply: UpstreamReply): string | undefined =>
  header(reply, 'x-request-id') ?? header(reply, 'request-id');

/** How long an upstream asks callers to wait, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or date. */
export function retryAfterMs(reply: UpstreamReply): number | undefined {
  const milliseconds = Number(header(reply, 'retry-after-ms') ?? Number.NaN);
  const after = header(reply, 'retry-after');
  const seconds = Number(after ?? Number.NaN) * 1000;
  const date = Date.parse(after ?? '') - Date.now();
  const wait = [milliseconds, seconds, date].find((value) => Number.isFinite(value));
  return wait === undefined || wait < 0 || wait > MAX_RETRY_AFTER_MS ? undefined : Math.ceil(wait);
}

/** What is read of an error body, in any of the protocols. */
interface Refusal {
  /** The sentence for people: it may repeat the prompt or name the gateway's key, so it is never logged. */
  readonly message: string | undefined;
  readonly param: string | undefined;
  /** The words for machines, in whatever field the protocol puts them. */
  readonly reasons: readonly string[];
}

/** Longest sentence that is passed on, in characters. */
const MAX_MESSAGE = 1_000;

/** What a word for machines looks like; anything else in such a field could be the caller's own text. */
const REASON = /^[A-Za-z][\w.-]{0,63}$/;

function parsedError(body: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(body);
    // One protocol wraps its error object in an array when it streams.
    const outer: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    const error = isJsonObject(outer) && isJsonObject(outer['error']) ? outer['error'] : outer;
    return isJsonObject(error) ? error : {};
  } catch {
    return {};
  }
}

function readRefusal(body: string): Refusal {
  const error = parsedError(body);
  const { message, param } = error;
  return {
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : undefined,
    param: typeof param === 'string' ? param : undefined,
    reasons: errorReasons(error),
  };
}

/** The words for machines of a vendor's error object: `type`, `code`, `status`, and `reason` of its details. */
export function errorReasons(error: Readonly<Record<string, unknown>>): readonly string[] {
  const details: readonly unknown[] = Array.isArray(error['details']) ? error['details'] : [];
  const words = [error['type'], error['code'], error['status']];
  for (const detail of details) if (isJsonObject(detail)) words.push(detail['reason']);
  return words.filter((word): word is string => typeof word === 'string' && REASON.test(word));
}

const FAILURES: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  408: ['upstream_timeout', 'The upstream took too long.'],
  429: ['rate_limit_exceeded', 'The upstream is limiting its rate.'],
  503: ['overloaded', 'The upstream is overloaded.'],
  504: ['upstream_timeout', 'The upstream took too long.'],
  529: ['overloaded', 'The upstream is overloaded.'],
};

/** Statuses that speak of the caller's own request. */
const CALLERS_FAULT: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_parameter',
  413: 'request_too_large',
  422: 'invalid_parameter',
};

/**
 * What vendors answer with a status of `CALLERS_FAULT` although the operator's account or configuration is to blame: a
 * bad key, no credit, an unknown model, a region that is not served.
 */
const OPERATORS_FAULT = {
  reasons:
    /^(API_KEY_\w+|authentication_error|permission_error|billing_\w+|invalid_api_key|insufficient_quota|model_not_found|FAILED_PRECONDITION|PERMISSION_DENIED|UNAUTHENTICATED|SERVICE_DISABLED|BILLING_DISABLED|CONSUMER_\w+|account_deactivated|Arrearage)$/i,
  /**
   * For the vendors that name no reason. Only the beginning counts: further on a sentence may repeat words of the
   * caller's, who must not be able to make an upstream look broken.
   */
  message:
    /^(Please )?(pass a valid |Incorrect |Invalid |The )?(x-)?api[ _-]?key|^Your credit balance|^You exceeded your current quota|^User location is not supported|^This (organization|account) (has been|is) (disabled|deactivated|suspended)/i,
};

/**
 * A refusal by status. What the caller's request caused is told in the upstream's words; what the gateway's own
 * configuration caused (key, model name, account) is a failure of the upstream to the caller, and the log names the
 * upstream's reason, never its sentence.
 */
export function refusedByUpstream(reply: UpstreamReply, body: string): GatewayError {
  const { status } = reply;
  const { message: sentence, param, reasons } = readRefusal(body);
  const log = `upstream answered ${status} ${reasons.join(' ')}`.trimEnd();
  const fault = CALLERS_FAULT[status];
  const isOperators =
    reasons.some((reason) => OPERATORS_FAULT.reasons.test(reason)) || OPERATORS_FAULT.message.test(sentence ?? '');
  if (fault && !isOperators)
    return new GatewayError(
      fault,
      sentence ?? 'The upstream refused the request as invalid.',
      param === undefined ? { log } : { log, param },
    );
  const [code, message] = FAILURES[status] ?? ['upstream_error', 'The upstream failed.'];
  const wait = retryAfterMs(reply);
  return new GatewayError(code, message, wait === undefined ? { log } : { log, retryAfterMs: wait });
}
