import { CodedError, NamedError } from '../named-error.js';

/** A rule of ours that forbids the request or its answer. Asking again does not help. */
export type FetchRefusedCode =
  | 'bad_url'
  | 'bad_scheme'
  | 'credentials'
  | 'bad_port'
  | 'address_blocked'
  | 'too_many_redirects'
  | 'downgrade'
  | 'content_encoding'
  | 'too_large'
  | 'too_many_pieces'
  | 'too_many_interim_responses';

/** The safe fetcher will not do it. The message may be shown to the owner of the URL: it never contains a resolved address. */
export class FetchRefused extends CodedError<FetchRefusedCode> {}

/** What the network or the other side did. Asking again may help. */
export type FetchFailedCode = 'name_not_found' | 'timeout' | 'connection_failed';

/** The other side could not be reached, was too slow, or cut the connection. */
export class FetchFailed extends CodedError<FetchFailedCode> {}

/** A file was requested and the host answered with another status than success. */
export class RemoteStatus extends NamedError {
  constructor(readonly status: number) {
    super(`its host answered ${status}`);
  }
}

/** True for faults of a network or a host that another attempt may not meet. */
export const mayPass = (error: unknown): boolean =>
  error instanceof FetchFailed || (error instanceof RemoteStatus && (error.status >= 500 || error.status === 429));

const NAME_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'EAI_NODATA', 'EAI_NONAME']);
const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/**
 * Names a failure of the transport. Refusals and failures already named pass unchanged, an abort by the caller becomes
 * the caller's own reason, and a connection tried at several addresses is judged by the first of them.
 */
export function asFetchError(error: unknown, callerSignal?: AbortSignal): unknown {
  if (callerSignal?.aborted) return callerSignal.reason;
  if (error instanceof FetchRefused || error instanceof FetchFailed) return error;
  const failure = Object(error) as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  const code = String(failure.errors?.[0]?.code ?? failure.code);
  if (NAME_CODES.has(code)) return new FetchFailed('name_not_found', 'the host name cannot be found', { cause: error });
  if (failure.name === 'TimeoutError' || TIMEOUT_CODES.has(code))
    return new FetchFailed('timeout', 'the host did not answer in time', { cause: error });
  return new FetchFailed('connection_failed', 'the connection failed', { cause: error });
}
