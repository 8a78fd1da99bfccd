import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from 'node:zlib';
import { Client, type Dispatcher, Pool } from 'undici';
import { isJsonObject, type JsonValue } from '#contracts';
import { NamedError, parseBounded, serverNames, withinTime } from '#platform';
import { ReplyTooLarge, wholeReplyBytes } from '../../http/whole-reply.js';
import { type InlineFiles, withoutFiles } from './inline-files.js';
import type { VendorReply, VendorRequest } from './media-codec.js';

const LONG_INTEGER = /\d{16,}/;
/**
 * A text, or an integer of 16 digits or more that is no part of another number. A text that is never closed reaches
 * to the end, or each quotation mark in it would start a search of its own.
 */
const TEXT_OR_INTEGER = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/**
 * Parses JSON with integers beyond 2^53 kept as texts: vendors number their tasks with 18 digits, and a number would lose
 * the last ones.
 *
 * @throws SyntaxError when it is not JSON.
 */
export function parseExactly(json: string): JsonValue {
  const exact = LONG_INTEGER.test(json)
    ? json.replace(TEXT_OR_INTEGER, (token) =>
        token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
      )
    : json;
  return parseBounded(exact) as JsonValue;
}

type Decoder = BrotliDecompress | Gunzip | Inflate;

/** What every Node.js that we run on can undo. It is asked for none of them, and some proxies compress all the same. */
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map<string, () => Decoder>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** One of the vendor's and one of a proxy before it. Each more costs memory of ours. */
const MAX_DECODERS = 2;

/** How many characters of their names are told. */
const MAX_NAMES = 100;

/** Deeper than any reply of a vendor; what reads a value goes down with it. */
const MAX_DEPTH = 100;

/** The encodings of a body in the order of their use; a header that is sent twice is one list. */
const encodingsOf = (headers: IncomingHttpHeaders): string[] =>
  [headers['content-encoding'] ?? []]
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');

/** The encodings of a body that cannot be undone here, for operators; undefined when there is none. */
const unknownEncoding = (headers: IncomingHttpHeaders): string | undefined =>
  decodersOf(headers) ? undefined : encodingsOf(headers).join(', ').slice(0, MAX_NAMES);

/** The encodings of the body, the one applied last first. Undefined: one of them is unknown here, or there are too many. */
function decodersOf(headers: IncomingHttpHeaders): (() => Decoder)[] | undefined {
  const names = encodingsOf(headers);
  if (names.length > MAX_DECODERS) return undefined;
  const decoders = names.toReversed().map((name) => DECODERS.get(name));
  return decoders.every((decoder) => decoder !== undefined) ? decoders : undefined;
}

/** A body without its compression, as it arrives. Undefined: its compression is unknown here. */
function uncompressed(body: Readable, headers: IncomingHttpHeaders): Readable | undefined {
  // Whoever reads the last of them meets the failure of any.
  return decodersOf(headers)?.reduce<Readable>((source, decoder) => pipeline(source, decoder(), () => undefined), body);
}

/** The text of a whole body, `maxBytes` at most. Undefined: it is longer, or cannot be read. */
async function textOfBody(body: Readable, headers: IncomingHttpHeaders, maxBytes: number): Promise<string | undefined> {
  const source = uncompressed(body, headers);
  if (!source) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return decodedText(Buffer.concat(chunks), headers);
}

/** In the charset that the reply names, else in UTF-8; without its byte order mark. */
function decodedText(bytes: Buffer, headers: IncomingHttpHeaders): string {
  const [, charset = 'utf-8'] = /charset="?([\w.:-]+)/i.exec(headers['content-type'] ?? '') ?? [];
  return decoderFor(charset).decode(bytes);
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** The value of a JSON text. Undefined: it is not JSON, or nested so deeply that reading it could end the process. */
function parsedJson(text: string): JsonValue | undefined {
  try {
    const value = parseExactly(text);
    return isWithin(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWithin(value: JsonValue, depth: number): boolean {
  if (!Array.isArray(value) && !isJsonObject(value)) return true;
  const parts: readonly JsonValue[] = Array.isArray(value) ? value : Object.values(value);
  return depth > 0 && parts.every((part) => isWithin(part, depth - 1));
}

/** Longest reply that is read, in bytes; what is longer is no reply of any protocol here. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const PIECE_BYTES = 64 * 1024;

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
export class NoReply extends NamedError {
  constructor(
    readonly sent: boolean,
    cause: unknown,
  ) {
    super('no reply', { cause });
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
