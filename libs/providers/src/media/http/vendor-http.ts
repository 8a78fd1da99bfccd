import { Readable } from 'node:stream';
import { type Dispatcher, Client, Pool } from 'undici';
import type { JsonValue } from '#contracts';
import { abortAfter, serverNames } from '#platform';
import { parseExactly } from './exact-json.js';
import { type InlineFiles, withoutFiles } from './inline-files.js';
import type { VendorReply, VendorRequest } from './media-codec.js';

/** Longest reply that is read, in bytes; what is longer is no reply of any protocol here. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const PIECE_BYTES = 64 * 1024;

/** Bounds of one exchange. */
export interface ExchangeLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /**
   * Sends on a connection of its own. One that lay idle may be closed by the vendor in the moment of sending, and then
   * nobody knows whether the order was taken.
   */
  readonly fresh: boolean;
  /** What becomes of files that stand in the reply; absent: nothing is looked for. */
  readonly files?: InlineFiles | undefined;
}

/** No reply came. `sent`: the last of the request was handed to the line, so that it may have been taken. */
export class NoReply extends Error {
  constructor(
    readonly sent: boolean,
    cause: unknown,
  ) {
    super('no reply', { cause });
    this.name = 'NoReply';
  }
}

/** Connections to one upstream. It follows no redirect, so that the key reaches no other address. */
export class VendorHttp {
  readonly host: string;
  private readonly origin: string;
  private readonly basePath: string;
  private readonly connections: Pool;

  constructor(baseUrl: string) {
    const { host, origin, pathname } = new URL(baseUrl);
    this.host = host;
    this.origin = origin;
    this.basePath = pathname.replace(/\/+$/, '');
    this.connections = new Pool(origin, {
      connect: { timeout: CONNECT_TIMEOUT_MS, lookup: serverNames.lookup },
      keepAliveTimeout: 4_000,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** @throws NoReply; RangeError when the vendor named an address of another origin. */
  async exchange(
    request: VendorRequest,
    headers: Readonly<Record<string, string>>,
    { signal, timeoutMs, fresh, files }: ExchangeLimits,
  ): Promise<VendorReply> {
    const line: Dispatcher = fresh
      ? new Client(this.origin, {
          connect: { timeout: CONNECT_TIMEOUT_MS, lookup: serverNames.lookup },
          headersTimeout: 0,
          bodyTimeout: 0,
        })
      : this.connections;
    const body = request.body && Buffer.from(JSON.stringify(request.body));
    const sending = { done: false };
    try {
      const reply = await line.request({
        method: request.method,
        path: this.pathOf(request.path),
        headers: {
          accept: 'application/json',
          ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
          ...request.headers,
          ...headers,
        },
        body: body ? Readable.from(pieces(body, sending), { objectMode: false }) : null,
        signal: abortAfter(timeoutMs, signal),
      });
      return { status: reply.statusCode, headers: reply.headers, body: await readJson(reply.body, files) };
    } catch (error) {
      if (error instanceof RangeError) throw error;
      throw new NoReply(body === undefined || sending.done, error);
    } finally {
      if (fresh) void line.destroy();
    }
  }

  close(): Promise<void> {
    return this.connections.close();
  }

  private pathOf(path: string): string {
    if (path.startsWith('/')) return this.basePath + path;
    const { origin, pathname, search } = new URL(path);
    if (origin !== this.origin) throw new RangeError('the vendor named an address of another origin');
    return pathname + search;
  }
}

/** Says when the last piece was handed over: before that, no vendor can have a whole order. */
async function* pieces(body: Buffer, sending: { done: boolean }): AsyncGenerator<Buffer> {
  for (let start = 0; start < body.length; start += PIECE_BYTES) {
    if (start + PIECE_BYTES >= body.length) sending.done = true;
    yield body.subarray(start, start + PIECE_BYTES);
  }
}

async function readJson(
  body: Dispatcher.ResponseData['body'],
  files: InlineFiles | undefined,
): Promise<JsonValue | undefined> {
  const text = files ? await withoutFiles(body, files, MAX_REPLY_BYTES) : await wholeText(body);
  try {
    return text === undefined ? undefined : parseExactly(text);
  } catch {
    return undefined;
  }
}

async function wholeText(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop closes the body.
    if (bytes > MAX_REPLY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
