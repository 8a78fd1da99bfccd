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

/** The sentence for people in an error body of any of the protocols. */
function messageOf(body: string): { message: string | undefined; param: string | undefined } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { message: undefined, param: undefined };
  }
  // One protocol wraps its error object in an array when it streams.
  const outer: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isJsonObject(outer) && isJsonObject(outer['error']) ? outer['error'] : outer;
  if (!isJsonObject(error)) return { message: undefined, param: undefined };
  const { message, param } = error;
  return {
    message: typeof message === 'string' ? message.slice(0, 1000) : undefined,
    param: typeof param === 'string' ? param : undefined,
  };
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
 * A refusal by status. What the caller's request caused is told in the upstream's words; what the gateway's own
 * configuration caused (key, model name, account) is a failure of the upstream to the caller, and the log says why.
 */
export function refusedByUpstream(reply: UpstreamReply, body: string): GatewayError {
  const { status } = reply;
  const log = `upstream answered ${status}: ${body.slice(0, 500)}`;
  const fault = CALLERS_FAULT[status];
  if (fault) {
    const { message = 'The upstream refused the request as invalid.', param } = messageOf(body);
    return new GatewayError(fault, message, param === undefined ? { log } : { log, param });
  }
  const [code, message] = FAILURES[status] ?? ['upstream_error', 'The upstream failed.'];
  const wait = retryAfterMs(reply);
  return new GatewayError(code, message, wait === undefined ? { log } : { log, retryAfterMs: wait });
}
