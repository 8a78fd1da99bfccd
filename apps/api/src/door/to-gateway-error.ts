import { GatewayError, type ErrorCode } from '#contracts';
import { isConnectionError } from '#platform';
import { HttpException } from '@nestjs/common';

/** What the body parser of Express throws: an error with a status and a machine-readable type. */
interface ParserError extends Error {
  readonly status: number;
  readonly type: string;
  readonly limit?: number;
}

const isParserError = (error: unknown): error is ParserError =>
  error instanceof Error && 'type' in error && typeof error.type === 'string' && 'status' in error;

/** When to come again while the database is away, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_parameter',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'request_too_large',
  415: 'unsupported_media_type',
};

/** Whatever was thrown, as one of our errors. What nobody foresaw becomes a 500 that gives nothing away. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isParserError(error)) return fromParser(error);
  if (error instanceof HttpException) {
    const code = CODE_OF_STATUS[error.getStatus()];
    if (code) return new GatewayError(code, error.message, { cause: error });
  }
  if (isConnectionError(error)) {
    return new GatewayError(
      'unavailable',
      'The gateway cannot reach its database at the moment; try again shortly. Repeating with the same Idempotency-Key never pays twice.',
      { retryAfterMs: RETRY_AFTER_MS, cause: error },
    );
  }
  return new GatewayError('internal_error', 'Something went wrong on our side. The request id helps us to find it.', {
    cause: error,
  });
}

function fromParser(error: ParserError): GatewayError {
  switch (error.type) {
    case 'entity.parse.failed':
      return new GatewayError('invalid_json', `The body is not valid JSON: ${error.message}.`, { cause: error });
    case 'entity.too.large':
      return new GatewayError('request_too_large', `The body is larger than the ${error.limit} bytes allowed.`, {
        cause: error,
      });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new GatewayError('unsupported_media_type', `The body cannot be read: ${error.message}.`, { cause: error });
    default:
      return new GatewayError('invalid_json', `The body could not be read: ${error.message}.`, { cause: error });
  }
}
