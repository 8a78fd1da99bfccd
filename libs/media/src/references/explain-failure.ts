import type { MediaReference } from '#contracts';
import { FetchFailed, FetchRefused, RemoteStatus } from '#platform';
import { alternatives, megabytes, nounOf } from './media-rules.js';
import { MediaUnreadable } from '../inspect/media-unreadable.js';

/** A limit that a readable file breaks; the message is the finished sentence. */
export class BrokenRule extends Error {}

/** The sentence for the caller about a file that cannot be fetched, read or used; nothing when the failure is not the file's. */
export function ruleOf(error: unknown, reference: MediaReference): string | undefined {
  const { medium, limits } = reference;
  if (error instanceof BrokenRule) return error.message;
  if (error instanceof RemoteStatus)
    return `the file could not be fetched: its host answered ${error.status}${hint(error.status)}.`;
  if (error instanceof FetchFailed) return `the file could not be fetched: ${error.message}.`;
  if (error instanceof FetchRefused) return refusal(error, limits.maxBytes);
  if (!(error instanceof MediaUnreadable)) return undefined;
  if (error.code === 'too_large')
    return `the file ${error.message}; at most ${megabytes(limits.maxBytes)} are allowed.`;
  const expected = `it must be ${medium === 'video' ? 'a' : 'an'} ${nounOf(medium)} (${alternatives(limits.formats)})`;
  return error.code === 'unsupported' ? `the file ${error.message}; ${expected}.` : `the file ${error.message}.`;
}

function refusal(error: FetchRefused, maxBytes: number): string {
  if (error.code === 'too_large') return `the file is too large; at most ${megabytes(maxBytes)} are allowed.`;
  if (error.code === 'address_blocked')
    return 'the file is not at a public address; give a URL that anybody on the internet can reach.';
  return `the file cannot be fetched: ${error.message}.`;
}

function hint(status: number): string {
  if (status === 401 || status === 403) return '; the URL must be readable without signing in';
  return status === 404 || status === 410 ? '; nothing is there' : '';
}
