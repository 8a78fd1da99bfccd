import { ERRORS, type GatewayError } from '#contracts';

/** The error body of media, task and account routes (design section 6). */
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
