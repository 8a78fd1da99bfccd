import { HttpException } from '@nestjs/common';
import { type ConsoleFailure, type ErrorCode, ERRORS, GatewayError } from '#contracts';
import { MediaStoreError } from '#media';
import { isConnectionError, isUnfitError, isUnwritableText } from '#platform';

/** The codes that only the console has, each with the code of the gateway that gives it its status. */
const CODES = {
  sign_in_required: 'invalid_api_key',
  wrong_credentials: 'invalid_api_key',
  proof_required: 'permission_denied',
  cross_site: 'permission_denied',
  reload_required: 'conflict',
} as const satisfies Readonly<Record<string, ErrorCode>>;

/** A refusal in the words of the console. */
export class ConsoleRefusal extends GatewayError {
  constructor(
    readonly consoleCode: keyof typeof CODES,
    message: string,
    param?: string,
  ) {
    super(CODES[consoleCode], message, param === undefined ? {} : { param });
  }
}

/** The credentials match no user. */
export const wrongCredentials = (message: string, param?: string): ConsoleRefusal =>
  new ConsoleRefusal('wrong_credentials', message, param);

/** The error body of media, task and account routes. */
export function toErrorBody(error: GatewayError): Record<string, unknown> {
  const { code, status, publicMessage, param, details } = error;
  return {
    code: status,
    message: publicMessage,
    error: {
      message: publicMessage,
      type: ERRORS[code].openai,
      code,
      param: param ?? null,
      ...(details && { details }),
    },
  };
}

export function toConsoleFailure(error: GatewayError, requestId: string): ConsoleFailure {
  const { publicMessage: message, param: field = null, details = [], retryAfterMs } = error;
  const problems = details.map(({ code: each, param, message: words }) => ({
    code: each,
    field: param,
    message: words,
  }));
  const code = error instanceof ConsoleRefusal ? error.consoleCode : error.code;
  const seconds = retryAfterMs === undefined ? null : Math.ceil(retryAfterMs / 1000);
  return { error: { code, message, field, problems, request_id: requestId, retry_after_seconds: seconds } };
}

/** What Express and its parsers throw at a client's fault: an error with a status, whose words are for the client. */
interface HttpError extends Error {
  readonly status: number;
}

const isHttpError = (error: unknown): error is HttpError =>
  error instanceof Error && 'expose' in error && error.expose === true && 'status' in error;

/** The retry delay while a server is unavailable or has no room, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

const isFullDisk = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
const isStoreAway = (error: unknown): boolean =>
  error instanceof MediaStoreError && (error.code === 'unavailable' || error.code === 'no_space');

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_parameter',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'request_too_large',
  415: 'unsupported_media_type',
};

/** Turns a thrown value into a GatewayError. An unexpected error becomes a 500 without details. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const status = error instanceof HttpException ? error.getStatus() : isHttpError(error) ? error.status : undefined;
  const code = status === undefined ? undefined : CODE_OF_STATUS[status];
  if (code && error instanceof Error) return new GatewayError(code, error.message, { cause: error });
  if (isConnectionError(error)) {
    return new GatewayError(
      'unavailable',
      'The gateway cannot reach its database at the moment; try again shortly. Repeating with the same Idempotency-Key never pays twice.',
      { retryAfterMs: RETRY_AFTER_MS, cause: error },
    );
  }
  if (isUnwritableText(error))
    return new GatewayError(
      'invalid_parameter',
      'A text in the request contains a null character or half of a surrogate pair, which cannot be stored.',
      {
        cause: error,
      },
    );
  if (isUnfitError(error) || isFullDisk(error) || isStoreAway(error)) {
    return new GatewayError(
      'unavailable',
      'The gateway cannot do this at the moment; try again shortly. Repeating with the same Idempotency-Key never pays twice.',
      { retryAfterMs: RETRY_AFTER_MS, cause: error },
    );
  }
  return new GatewayError('internal_error', 'Something went wrong on our side. The request id helps us to find it.', {
    cause: error,
  });
}
