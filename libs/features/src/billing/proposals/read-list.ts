import { createHash } from 'node:crypto';
import { GatewayError } from '#contracts';
import { FetchFailed, FetchRefused, nextTurn, type SafeFetcher, Turns } from '#platform';
import type { TextUpstreams } from '../../upstreams/text-upstreams.js';

export type ListPlace =
  | { readonly url: string }
  | { readonly file: string }
  /** The id of a text upstream, whose own list it is. */
  | { readonly upstream: string };

export interface ReadList {
  readonly text: string;
  readonly sha256: string;
  /** What it was read from, for people. */
  readonly origin: string;
}

const TIMEOUT_MS = 20_000;
const BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads a list once.
 *
 * @throws GatewayError `invalid_parameter`: it may not be fetched, or its host answers with an error; `upstream_error`: it cannot be
 * reached; `not_found`: there is no such upstream in service.
 */
export async function readList(
  place: ListPlace,
  fetcher: SafeFetcher,
  upstreams: TextUpstreams,
  signal: AbortSignal,
): Promise<ReadList> {
  if ('file' in place) return { text: place.file, sha256: await hashOf([Buffer.from(place.file)]), origin: 'file' };
  if ('upstream' in place) return listOfUpstream(place.upstream, upstreams, signal);
  const chunks = await fetched(place.url, fetcher, signal);
  return { text: Buffer.concat(chunks).toString('utf8'), sha256: await hashOf(chunks), origin: place.url };
}

async function fetched(address: string, fetcher: SafeFetcher, signal: AbortSignal): Promise<readonly Buffer[]> {
  try {
    const url = fetcher.checkUrl(address);
    if (url.protocol !== 'https:' && !fetcher.allowsHost(url))
      throw new FetchRefused('bad_scheme', 'only https URLs are fetched, or hosts that MEDIA_FETCH_ALLOW names');
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: BYTES_MAX, signal, headers: { accept: 'application/json' } };
    const { status, body } = await fetcher.get(address, limits);
    const chunks: Buffer[] = [];
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
    if (status === 200) return chunks;
    throw GatewayError.ofField('url', `cannot be read: its host answered ${status}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FetchRefused)
      throw new GatewayError('invalid_parameter', `url cannot be read: ${error.message}.`, {
        param: 'url',
        cause: error,
      });
    if (error instanceof FetchFailed)
      throw new GatewayError('upstream_error', `url cannot be read: ${error.message}.`, { param: 'url', cause: error });
    throw error;
  }
}

async function listOfUpstream(id: string, upstreams: TextUpstreams, signal: AbortSignal): Promise<ReadList> {
  const provider = upstreams.all.find((upstream) => upstream.provider.id === id)?.provider;
  if (!provider?.readModels)
    throw new GatewayError('not_found', `There is no text upstream "${id.slice(0, 64)}" in service that has a list.`, {
      param: 'upstream',
    });
  const text = await provider.readModels(signal);
  return { text, sha256: await hashOf([Buffer.from(text)]), origin: id };
}

const HASHED_BYTES = 1024 * 1024;

async function hashOf(chunks: readonly Buffer[]): Promise<string> {
  const hash = createHash('sha256');
  const turns = new Turns();
  for (const chunk of chunks)
    for (let from = 0; from < chunk.length; from += HASHED_BYTES) {
      hash.update(chunk.subarray(from, from + HASHED_BYTES));
      if (turns.isOver) await nextTurn(turns);
    }
  return hash.digest('hex');
}
