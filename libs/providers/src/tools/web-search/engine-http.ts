import { Agent, request } from 'undici';
import { excerpt, isJsonObject, type JsonObject } from '#contracts';
import { abortAfter, parseBounded } from '#platform';
import { WebSearchFailure } from './web-search.js';

const SEARCH_MS = 15_000;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** One call of an engine. */
interface EngineCall {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/** Asks an engine at the address that the operator set. It may be private, because no caller chose it. */
export class EngineHttp {
  readonly #agent = new Agent({ connections: 32, headersTimeout: SEARCH_MS, bodyTimeout: SEARCH_MS });

  /** @throws WebSearchFailure for anything but a JSON object; what `signal` throws when it is aborted. */
  async ask({ method, url, headers, body }: EngineCall, signal: AbortSignal): Promise<JsonObject> {
    try {
      const reply = await request(url, {
        method,
        dispatcher: this.#agent,
        signal: abortAfter(SEARCH_MS, signal),
        headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
        body: body ? JSON.stringify(body) : null,
      });
      const text = await boundedText(reply.body);
      if (reply.statusCode !== 200)
        throw new WebSearchFailure(`the search engine answered with HTTP status ${reply.statusCode}`);
      return parsed(text);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof WebSearchFailure) throw error;
      throw new WebSearchFailure('the search engine did not answer', { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_REPLY_BYTES) throw new WebSearchFailure('the search engine answered with more than is read');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = parseBounded(text);
    if (isJsonObject(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new WebSearchFailure('the search engine answered with something that is not a JSON object');
}

const LONGEST_TITLE = 300;
const LONGEST_TEXT = 4_000;

/** A field as plain text: engines mark what was found with elements of HTML. */
export const plain = (value: unknown, longest = LONGEST_TEXT): string =>
  excerpt(typeof value === 'string' ? value.replaceAll(/<\/?(strong|b|em|mark)>/gi, '') : '', longest);

export const title = (value: unknown): string => plain(value, LONGEST_TITLE);

/** The objects of a list; anything else is none. */
export const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? (value as unknown[]).filter((entry): entry is JsonObject => isJsonObject(entry)) : [];

/** A web address as it is, or nothing: what an engine calls an address may be anything. */
export function webUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  return /^https?:$/.test(new URL(value).protocol) ? value : undefined;
}
