import { excerpt } from '#contracts';
import { FetchFailed, FetchRefused, NamedError } from '#platform';
import { textWithoutSecrets, valueWithoutSecrets } from '../../hidden-secrets.js';

/** How much of a server's own words is repeated, in characters. */
const LONGEST_WORDS = 300;

/** What kept a server of tools from answering, in words that its owner may read: they hold no address and no token. */
export class McpFailure extends NamedError {}

const NOT_OF_PROTOCOL = 'it broke off, or sent something that is not part of the Model Context Protocol';

/** For an answer that has not the form that it should have. */
export const notOfProtocol = (): McpFailure => new McpFailure(NOT_OF_PROTOCOL);

/** What the client library throws, by the fields it has; its classes are loaded only when a server is asked. */
interface Thrown {
  readonly name?: string;
  readonly code?: unknown;
  readonly message?: unknown;
}

/** Codes of JSON-RPC errors that the client library makes itself. */
const TIMED_OUT = -32_001;
const CLOSED = -32_000;

/**
 * Names a failure of a connection to a server.
 *
 * @param secrets what must not be in the message, wherever it comes from.
 */
export function asMcpFailure(error: unknown, timeoutMs: number, secrets: readonly string[]): McpFailure {
  if (error instanceof McpFailure) return error;
  const words = wordsOf(error, timeoutMs, secrets);
  // What the library throws repeats what the server said, which may be the token: no log is to have it.
  const isOurs = error instanceof FetchRefused || error instanceof FetchFailed;
  return new McpFailure(words, isOurs ? { cause: error } : undefined);
}

function wordsOf(error: unknown, timeoutMs: number, secrets: readonly string[]): string {
  if (error instanceof FetchRefused)
    return error.code === 'too_large' || error.code === 'too_many_pieces'
      ? error.message
      : `it could not be asked: ${error.message}`;
  if (isLate(error)) return `it did not answer within ${timeoutMs / 1000} s`;
  if (error instanceof FetchFailed) return error.message;
  const { name, code, message } = Object(error) as Thrown;
  if (name === 'McpError' && code !== CLOSED) return `it said: ${own(message, secrets)}`;
  if (typeof code === 'number' && code >= 300 && code < 600) return `it answered with HTTP status ${code}`;
  return NOT_OF_PROTOCOL;
}

function isLate(error: unknown): boolean {
  if (error instanceof FetchFailed) return error.code === 'timeout';
  const { name, code } = Object(error) as Thrown;
  return name === 'TimeoutError' || (name === 'McpError' && code === TIMED_OUT);
}

function own(message: unknown, secrets: readonly string[]): string {
  const words = String(message).replace(/^MCP error -?\d+: /, '');
  return excerpt(wordsOfServer(words, secrets), LONGEST_WORDS);
}

const HIDDEN = '***';

/** A text of a server without what opens it, which it may echo. */
export const wordsOfServer = (text: string, secrets: readonly string[]): string =>
  textWithoutSecrets(text, secrets, HIDDEN);

/** What a server said, names of fields included, without what opens it: it is stored, and shown to a model. */
export const saidByServer = <Sent extends object>(sent: Sent, secrets: readonly string[]): Sent =>
  valueWithoutSecrets(sent, secrets, HIDDEN);
