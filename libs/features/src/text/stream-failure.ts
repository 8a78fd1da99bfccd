import { GatewayError } from '#contracts';

/** Turns the cause of a broken stream into a GatewayError; an unexpected one reveals no details. */
export function toStreamFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', 'Something went wrong on our side. The request id helps us to find it.', {
    cause: error,
    log: error instanceof Error ? error.message : 'unknown failure',
  });
}
