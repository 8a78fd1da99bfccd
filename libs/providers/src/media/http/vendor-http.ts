import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { type Dispatcher, Client, Pool } from 'undici';
import { serverNames, withinTime } from '#platform';
import { ReplyTooLarge } from '../../http/reply-too-large.js';
import { wholeReplyBytes } from '../../http/whole-reply.js';
import { type InlineFiles, withoutFiles } from './inline-files.js';
import type { VendorReply, VendorRequest } from './media-codec.js';
import { decodedText, parsedJson, textOfBody, uncompressed, unknownEncoding } from './reply-json.js';

/** Longest reply that is read, in bytes; what is longer is no reply of any protocol here. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const PIECE_BYTES = 64 * 1024;

/** Bounds of one exchange. */
export interface ExchangeLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /**
   * Sends on a connection of its own. One that lay idle may be closed by the vendor in the moment of sending, and then it is
   * unknown whether the order was taken.
   */
  readonly fresh: boolean;
  /** How to handle files inside the reply; absent: none are expected. */
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
  readonly origin: string;
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
    limits: ExchangeLimits,
  ): Promise<VendorReply> {
    const { fresh, files } = limits;
    const line: Dispatcher = fresh
      ? new Client(this.origin, {
          connect: { timeout: CONNECT_TIMEOUT_MS, lookup: serverNames.lookup },
          headersTimeout: 0,
          bodyTimeout: 0,
        })
      : this.connections;
    const body = request.body && Buffer.from(JSON.stringify(request.body));
    const sending = { done: body === undefined };
    try {
      const sent = {
        method: request.method,
        path: this.pathOf(request.path),
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
          ...request.headers,
          ...headers,
        },
        body: body ? Readable.from(pieces(body, sending), { objectMode: false }) : null,
      };
      return await (files ? replyWithoutFiles(line, sent, files, limits) : plainReply(line, sent, limits));
    } catch (error) {
      if (error instanceof RangeError) throw error;
      throw new NoReply(sending.done, error);
    } finally {
      if (fresh) void line.destroy();
    }
  }

  close(): Promise<void> {
    return this.connections.close();
  }

  /** What is in the first line of a request, after its method. @throws RangeError as `exchange`. */
  pathOf(path: string): string {
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

async function plainReply(
  line: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, timeoutMs }: ExchangeLimits,
): Promise<VendorReply> {
  try {
    const { status, headers, bytes } = await wholeReplyBytes(line, request, { signal, timeoutMs, accept });
    const isCompressed = headers['content-encoding'] !== undefined;
    const text = isCompressed
      ? await textOfBody(Readable.from([bytes]), headers, MAX_REPLY_BYTES)
      : decodedText(bytes, headers);
    return asReply(status, headers, text);
  } catch (error) {
    if (error instanceof ReplyTooLarge && error.head) return { ...error.head, body: undefined };
    throw error;
  }
}

function asReply(status: number, headers: IncomingHttpHeaders, text: string | undefined): VendorReply {
  const encoding = unknownEncoding(headers);
  const body = text === undefined ? undefined : parsedJson(text);
  return { status, headers, body, ...(encoding !== undefined && { encoding }) };
}

const accept = (): number => MAX_REPLY_BYTES;

const replyWithoutFiles = (
  line: Dispatcher,
  request: Dispatcher.RequestOptions,
  files: InlineFiles,
  { signal: caller, timeoutMs }: ExchangeLimits,
): Promise<VendorReply> =>
  withinTime(timeoutMs, caller, async (signal) => {
    const { statusCode, headers, body } = await line.request({ ...request, signal });
    // Its reader gets its failure; without a listener, the failure of an unread one would end the process.
    body.on('error', () => undefined);
    try {
      const source = uncompressed(body, headers);
      const text = source && (await withoutFiles(source, files, MAX_REPLY_BYTES));
      return asReply(statusCode, headers, text);
    } finally {
      // What is left unread would keep its connection permanently.
      body.destroy();
    }
  });
