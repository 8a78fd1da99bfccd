/** How one kind of failure is named: HTTP status, whether the same request may succeed later, type in each answer style. */
interface ErrorKind {
  readonly status: number;
  readonly retryable: boolean;
  readonly openai: string;
  readonly anthropic: string;
  readonly google: string;
}

const kind = (status: number, retryable: boolean, openai: string, anthropic: string, google: string): ErrorKind => ({
  status,
  retryable,
  openai,
  anthropic,
  google,
});

const REFUSED = kind(400, false, 'invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT');
const UNPAID = kind(402, false, 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION');
const FORBIDDEN = kind(403, false, 'permission_error', 'permission_error', 'PERMISSION_DENIED');
const MISSING = kind(404, false, 'not_found_error', 'not_found_error', 'NOT_FOUND');
const OVERLOADED = kind(503, true, 'server_error', 'overloaded_error', 'UNAVAILABLE');

/**
 * Every failure a caller can meet. Statuses and types are those that common client libraries retry, or report, in the
 * right way.
 */
export const ERRORS = {
  invalid_json: REFUSED,
  invalid_parameter: REFUSED,
  missing_parameter: REFUSED,
  unknown_parameter: REFUSED,
  unsupported_parameter: REFUSED,
  invalid_media: REFUSED,
  previous_response_not_found: REFUSED,
  invalid_api_key: kind(401, false, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  insufficient_balance: UNPAID,
  insufficient_key_quota: UNPAID,
  spend_limit_reached: UNPAID,
  model_not_allowed: FORBIDDEN,
  address_not_allowed: FORBIDDEN,
  permission_denied: FORBIDDEN,
  model_not_found: MISSING,
  model_not_available: MISSING,
  model_not_priced: MISSING,
  task_not_found: MISSING,
  item_not_found: MISSING,
  thread_not_found: MISSING,
  not_found: MISSING,
  method_not_allowed: { ...REFUSED, status: 405 },
  request_timeout: { ...REFUSED, status: 408, retryable: true, google: 'DEADLINE_EXCEEDED' },
  conflict: { ...REFUSED, status: 409, google: 'ABORTED' },
  idempotency_in_flight: { ...REFUSED, status: 409, retryable: true, google: 'ABORTED' },
  link_expired: { ...MISSING, status: 410 },
  request_too_large: { ...REFUSED, status: 413, anthropic: 'request_too_large' },
  unsupported_media_type: { ...REFUSED, status: 415 },
  range_not_satisfiable: { ...REFUSED, status: 416, google: 'OUT_OF_RANGE' },
  idempotency_mismatch: { ...REFUSED, status: 422 },
  upgrade_required: { ...REFUSED, status: 426 },
  rate_limit_exceeded: kind(429, true, 'rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'),
  /** The vendor's limit, and not one of this gateway. */
  upstream_rate_limited: kind(429, true, 'upstream_rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'),
  internal_error: kind(500, true, 'server_error', 'api_error', 'INTERNAL'),
  upstream_error: kind(502, true, 'server_error', 'api_error', 'UNAVAILABLE'),
  overloaded: OVERLOADED,
  unavailable: OVERLOADED,
  upstream_timeout: kind(504, true, 'server_error', 'timeout_error', 'DEADLINE_EXCEEDED'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** Codes that stay until the payer acts: tops up, raises a limit, or waits for one to reset. */
export const UNPAID_CODES: readonly ErrorCode[] = (Object.keys(ERRORS) as ErrorCode[]).filter(
  (code) => ERRORS[code].status === UNPAID.status,
);

/** One wrong field: which, what rule it broke and what is allowed. */
export interface FieldError {
  readonly param: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface GatewayErrorDetails {
  /** The field at fault, in the caller's own spelling. */
  readonly param?: string;
  /** Every wrong field when there are several; the first is the one `message` speaks of. */
  readonly details?: readonly FieldError[];
  /** How long the caller should wait before trying again, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Further answer headers, for example rate-limit figures. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The upstream's own word for machines, such as `context_length_exceeded`, where the request itself was at fault. */
  readonly upstreamCode?: string;
  /** True where a model ended its own reply: it may do better when asked again, and nothing is wrong with its upstream. */
  readonly isByModel?: boolean;
  /** True where what an upstream sent is no reply of its protocol: asked again, it says the same. */
  readonly isUnreadable?: boolean;
  /** What the log may say and the caller may not. */
  readonly log?: string;
  readonly cause?: unknown;
}

/** A failure with two messages: `publicMessage` goes to the caller, `message` and `cause` only to the log. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly param: string | undefined;
  readonly details: readonly FieldError[] | undefined;
  readonly retryAfterMs: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly upstreamCode: string | undefined;
  readonly isByModel: boolean;
  readonly isUnreadable: boolean;

  constructor(code: ErrorCode, publicMessage: string, details: GatewayErrorDetails = {}) {
    super(details.log ?? publicMessage, { cause: details.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.publicMessage = publicMessage;
    this.param = details.param;
    this.details = details.details;
    this.retryAfterMs = details.retryAfterMs;
    this.headers = details.headers;
    this.upstreamCode = details.upstreamCode;
    this.isByModel = details.isByModel ?? false;
    this.isUnreadable = details.isUnreadable ?? false;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  /** A field that breaks a rule: `duration`, `must be 5 or 10`. */
  static ofField(param: string, rule: string): GatewayError {
    return new GatewayError('invalid_parameter', `${param} ${rule}.`, { param });
  }

  /**
   * A part of a request that the upstream of its model cannot honour: `tools`, `the tool "x"`.
   *
   * @param taken what may stand there instead.
   */
  static unsupported(param: string, what: string, taken: readonly string[] = []): GatewayError {
    const advice = taken.length > 0 ? ` It takes ${taken.join(', ')}.` : '';
    const message = `${param}: ${what} is not supported by the upstream of this model.${advice}`;
    return new GatewayError('unsupported_parameter', message, { param });
  }

  /** Gathers field errors into one refusal whose message and param are those of the first. */
  static fromFields(errors: readonly [FieldError, ...FieldError[]]): GatewayError {
    const [first] = errors;
    return new GatewayError(first.code, first.message, { param: first.param, details: errors });
  }
}

/** 503: this process ends. Nothing that was not delivered is charged, and another process may answer at once. */
export const shuttingDown = (): GatewayError =>
  new GatewayError('unavailable', 'This gateway process is shutting down: try again, another one will answer.', {
    retryAfterMs: 1_000,
    headers: { connection: 'close' },
  });
