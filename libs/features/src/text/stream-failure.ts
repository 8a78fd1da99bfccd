import { GatewayError } from '#contracts';

/** Whatever broke a stream, as one of our errors; what nobody foresaw gives nothing away. */
export function toStreamFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', 'Something went wrong on our side. The request id helps us to find it.', {
    cause: error,
    log: error instanceof Error ? error.message : 'unknown failure',
  });
}
