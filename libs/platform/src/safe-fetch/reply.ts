import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { InterimResponses } from '../floods/interim-responses.js';
import { boundedBody, tooLarge } from './bounded-body.js';
import { FetchRefused } from './fetch-errors.js';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Where a reply sends its reader: an address, or words that are none; undefined when it is no redirect. */
export function redirectTarget(reply: Dispatcher.ResponseData, from: URL): string | undefined {
  const location = [reply.headers.location].flat()[0];
  if (!REDIRECTS.has(reply.statusCode) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from).href : location;
}

/** Takes note of the interim responses to one request. @throws FetchRefused `too_many_interim_responses` */
export function limitInterimResponses(): () => void {
  const interim = new InterimResponses();
  return () => {
    if (interim.isTooMany()) throw new FetchRefused('too_many_interim_responses', `the host ${interim.fault}`);
  };
}

/** How the body of a reply is encoded although plain bytes were requested; undefined when it is not. */
export function encodingOf({ headers }: Pick<Dispatcher.ResponseData, 'headers'>): string | undefined {
  const names = [headers['content-encoding'] ?? []].flat().join(', ');
  return names.split(',').every((name) => /^(?:identity)?$/i.test(name.trim()))
    ? undefined
    : names.slice(0, 100).replaceAll(/[^\w, .+-]/g, '?');
}

/**
 * A reply whose body flows to its reader, `maxBytes` at most. Of a refusal the status is what counts: a body that is
 * compressed is left out.
 *
 * @throws FetchRefused when what was requested comes compressed or announces more bytes; the reply is ended then.
 */
export function acceptBody(
  reply: Dispatcher.ResponseData,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): { readonly status: number; readonly headers: Dispatcher.ResponseData['headers']; readonly body: Readable } {
  const { statusCode: status, headers, body } = reply;
  const isRefusal = status >= 400;
  const encoding = encodingOf(reply);
  const mistake = isRefusal ? undefined : mistakeOf(encoding, Number(headers['content-length'] ?? 0), maxBytes);
  if (mistake || encoding !== undefined) discard(body);
  if (mistake) throw mistake;
  return { status, headers, body: encoding === undefined ? boundedBody(body, maxBytes, signal) : Readable.from([]) };
}

function mistakeOf(encoding: string | undefined, announced: number, maxBytes: number): FetchRefused | undefined {
  if (encoding !== undefined)
    return new FetchRefused(
      'content_encoding',
      `the host sends it with content-encoding ${encoding}, which was not requested`,
    );
  return announced > maxBytes ? tooLarge(maxBytes) : undefined;
}

/** Ends an answer that will not be read; its late errors are ignored. */
export function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
