import { type ConsoleFailure, ERRORS, type GatewayError } from '#contracts';
import { ConsoleRefusal } from './console-refusal.js';

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

/** The error body of the routes of the console. */
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
