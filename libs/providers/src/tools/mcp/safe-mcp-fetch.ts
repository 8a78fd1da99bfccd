import { Readable } from 'node:stream';
import { FetchFailed, FetchRefused, type SafeFetcher } from '#platform';
import { boundedReply } from './bounded-reply.js';

/** Bounds of everything one connection may do. Times in milliseconds, sizes in bytes. */
export interface McpFetchBounds {
  readonly accountId: string;
  /** Longest time of one call and its answer. */
  readonly timeoutMs: number;
  /** Longest life of a stream that stays open beside the calls. */
  readonly lifetimeMs: number;
  readonly maxReplyBytes: number;
  /** Asked before each call: a server may ask for answers of ours without end. */
  readonly mayCall: () => boolean;
}

type SafeAnswer = Awaited<ReturnType<SafeFetcher['request']>>;

/** What the client library calls instead of `fetch`. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Answers that have no body; making one with a body would throw. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * `fetch` for one connection to a server of tools: every call is made by the safe fetcher, so that none reaches a private
 * address, follows a redirect unchecked, or reads without end.
 *
 * @param onBroken called when the body of an answer breaks, which the client library does not report.
 */
export function safeMcpFetch(
  fetcher: SafeFetcher,
  bounds: McpFetchBounds,
  { signal, onBroken }: { readonly signal: AbortSignal; readonly onBroken: (error: unknown) => void },
): McpFetch {
  return async (url, init = {}) => {
    if (!bounds.mayCall()) {
      const tooMany = new FetchRefused('too_large', 'the server asks for too many calls');
      onBroken(tooMany);
      throw tooMany;
    }
    const method = (init.method ?? 'GET') as 'GET' | 'POST' | 'DELETE';
    const staysOpen = method === 'GET';
    const answer = await fetcher.request(String(url), {
      method,
      accountId: bounds.accountId,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === 'string' ? init.body : undefined,
      timeoutMs: staysOpen ? bounds.lifetimeMs : bounds.timeoutMs,
      silenceMs: staysOpen ? bounds.lifetimeMs : bounds.timeoutMs,
      maxBytes: bounds.maxReplyBytes,
      signal: init.signal ? AbortSignal.any([signal, init.signal]) : signal,
    });
    return asResponse(answer, onBroken);
  };
}

function asResponse({ status, headers: sent, body }: SafeAnswer, onBroken: (error: unknown) => void): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) if (value !== undefined) headers.set(name, String(value));
  if (WITHOUT_BODY.has(status)) {
    body.destroy();
    return new Response(null, { status, headers });
  }
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const reply = Readable.from(reported(boundedReply(body, { isStream }), onBroken), { highWaterMark: 1 });
  return new Response(Readable.toWeb(reply) as ReadableStream<Uint8Array>, { status, headers });
}

/** What the library itself leaves unread ends with an error of another kind. */
async function* reported(
  reply: AsyncIterable<Uint8Array>,
  onBroken: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* reply;
  } catch (error) {
    if (error instanceof FetchRefused || error instanceof FetchFailed) onBroken(error);
    throw error;
  }
}
