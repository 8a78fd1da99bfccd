import { excerpt } from '#contracts';
import { FetchFailed, FetchRefused } from '#platform';

/** How much of a server's own words is repeated, in characters. */
const LONGEST_WORDS = 300;

/** What kept a server of tools from answering, in words that its owner may read: they hold no address and no token. */
export class McpFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'McpFailure';
  }
}

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
 * @param secrets what must not stand in the words, whoever said them.
 */
export function asMcpFailure(error: unknown, timeoutMs: number, secrets: readonly string[]): McpFailure {
  if (error instanceof McpFailure) return error;
  const cause = { cause: error };
  if (error instanceof FetchRefused) return new McpFailure(`it could not be asked: ${error.message}`, cause);
  if (error instanceof FetchFailed && error.code !== 'timeout') return new McpFailure(error.message, cause);
  const { name, code, message } = Object(error) as Thrown;
  const isLate = error instanceof FetchFailed || name === 'TimeoutError' || (name === 'McpError' && code === TIMED_OUT);
  if (isLate) return new McpFailure(`it did not answer within ${timeoutMs / 1000} s`, cause);
  if (name === 'McpError' && code !== CLOSED) return new McpFailure(`it said: ${own(message, secrets)}`, cause);
  const status = typeof code === 'number' && code >= 300 && code < 600 ? code : undefined;
  if (status !== undefined) return new McpFailure(`it answered with HTTP status ${status}`, cause);
  return new McpFailure('it broke off, or sent something that is not part of the Model Context Protocol', cause);
}

function own(message: unknown, secrets: readonly string[]): string {
  const words = String(message).replace(/^MCP error -?\d+: /, '');
  return excerpt(
    secrets.reduce((text, secret) => text.replaceAll(secret, '***'), words),
    LONGEST_WORDS,
  );
}
