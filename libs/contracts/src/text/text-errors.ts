import { ERRORS, type GatewayError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { TextStyle } from './text-style.js';

/** The status the messages style has for an overloaded service; its own client library knows it by that number. */
const MESSAGES_OVERLOADED = 529;

/** HTTP status of a failure in a style. */
export function statusInStyle(style: TextStyle, error: GatewayError): number {
  return style === 'messages' && error.status === 503 ? MESSAGES_OVERLOADED : error.status;
}

/** The body of a failure in the style's own shape, with `code` (the HTTP status) and `message` at the top as well. */
export function errorInStyle(style: TextStyle, error: GatewayError, requestId: string): JsonObject {
  const code = statusInStyle(style, error);
  const top = { code, message: style === 'messages' ? sentenceInMessages(error) : error.publicMessage };
  const names = ERRORS[error.code];
  if (style === 'messages')
    return {
      type: 'error',
      error: { type: names.anthropic, message: top.message, ...detailsInMessages(error) },
      request_id: requestId,
      ...top,
    };
  if (style === 'gemini')
    return { error: { code, message: error.publicMessage, status: names.google, details: [] }, ...top };
  // Agents act on the vendor's own code: they shorten the conversation on `context_length_exceeded`.
  const machineCode = error.upstreamCode ?? error.code;
  return {
    error: { message: error.publicMessage, type: names.openai, param: error.param ?? null, code: machineCode },
    ...top,
  };
}

/** How the vendor of the style says that a conversation is too long. Its agent knows it by these words alone. */
const TOO_LONG = 'prompt is too long';
const SAID_SO = new RegExp(`${TOO_LONG}|input length and \`max_tokens\` exceed context limit`, 'i');

function sentenceInMessages({ publicMessage, upstreamCode }: GatewayError): string {
  const isSaid = upstreamCode !== 'context_length_exceeded' || SAID_SO.test(publicMessage);
  return isSaid ? publicMessage : `${TOO_LONG}: ${publicMessage}`;
}

/** What the style's client libraries act on by its code: they start a conversation anew that is not kept. */
const detailsInMessages = ({ code }: GatewayError): JsonObject =>
  code === 'thread_not_found' ? { details: { error_code: code } } : {};
