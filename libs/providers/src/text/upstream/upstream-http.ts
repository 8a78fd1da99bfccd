import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { GatewayError, type StopSignal } from '#contracts';
import { asAbortSignal, InterimResponses, PieceCount, type ServerNames, serverNames } from '#platform';
import {
  expectFew,
  type ReplyHead,
  ReplyTooLarge,
  type WholeReply,
  wholeReply,
  type WholeReplyLimits,
} from '../../http/whole-reply.js';

/** How long an upstream may take, in milliseconds. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** Until the reply's headers: a model may think for minutes before its first word. */
  readonly firstByteMs: number;
  /** Between two pieces of a reply. */
  readonly idleMs: number;
}

/** Long enough for a model that thinks; undici's own five minutes are not. */
export const DEFAULT_TIMEOUTS: UpstreamTimeouts = { connectMs: 5_000, firstByteMs: 600_000, idleMs: 300_000 };

/** The longest reply, in milliseconds: no model is known to think for a quarter of it. */
export const REPLY_MS_MAX = 2 * 3_600_000;

/** Longest whole reply, in bytes. */
export const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** A body in pieces, sent one after the other, so that no large one is put together first. */
export type RequestBytes = readonly Buffer[];

/** Shorter bodies are put together before they are sent, in bytes. */
const SHORT_BYTES = 256 * 1024;

/** An upstream's answer, its body not yet read. */
export interface UpstreamReply extends ReplyHead {
  readonly body: Dispatcher.ResponseData['body'];
}

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A failure of the network, sorted; a failure that is already sorted stays as it is. */
export function networkFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = codeOf(error);
  if (TIMEOUTS.has(code)) return new GatewayError('upstream_timeout', 'The upstream took too long.', { cause: error });
  return new GatewayError('upstream_error', 'The connection to the upstream failed.', { log: code, cause: error });
}

/** Connections to one upstream, kept open between requests. */
export class UpstreamHttp {
  /** Where it is, as addresses spell it: host, and the port when there is one. */
  readonly host: string;
  private readonly basePath: string;
  private readonly connections: Pool;

  /** @param baseUrl address that the protocol's paths are appended to, for example `https://api.vendor.example/v1`. */
  constructor(baseUrl: string, timeouts: UpstreamTimeouts = DEFAULT_TIMEOUTS, names: ServerNames = serverNames) {
    const { host, origin, pathname } = new URL(baseUrl);
    this.host = host;
    this.basePath = pathname.replace(/\/+$/, '');
    this.connections = new Pool(origin, {
      connect: { timeout: timeouts.connectMs, lookup: names.lookup },
      headersTimeout: timeouts.firstByteMs,
      bodyTimeout: timeouts.idleMs,
      keepAliveTimeout: 30_000,
    });
  }

  /** @throws GatewayError `upstream_error` or `upstream_timeout`; what `signal` throws when the caller has left. */
  async post(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: RequestBytes,
    signal: StopSignal,
  ): Promise<UpstreamReply> {
    const interim = new InterimResponses();
    try {
      const {
        statusCode,
        headers: received,
        body: stream,
      } = await this.connections.request({
        ...this.posting(path, headers, body),
        signal: asAbortSignal(signal),
        onInfo: () => expectFew(interim),
      });
      // The reader of the body gets its failure; without a listener, an unread failure would end the process.
      stream.on('error', () => {});
      return { status: statusCode, headers: received, body: stream };
    } catch (error) {
      signal.throwIfAborted();
      throw networkFailure(error);
    }
  }

  /**
   * Reads the answer whole.
   *
   * @throws GatewayError as `post`, and `upstream_error` for an answer beyond its limit or one that breaks off.
   */
  exchange(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: RequestBytes,
    { signal, accept, timeoutMs = REPLY_MS_MAX }: WholeReplyLimits,
  ): Promise<WholeReply> {
    return this.whole(this.posting(path, headers, body), { signal, accept, timeoutMs });
  }

  /** Reads what an address has, whole. @throws GatewayError as `exchange`. */
  read(path: string, headers: Readonly<Record<string, string>>, limits: WholeReplyLimits): Promise<WholeReply> {
    return this.whole({ method: 'GET', path: this.basePath + path, headers: { ...headers } }, limits);
  }

  private async whole(request: Dispatcher.DispatchOptions, limits: WholeReplyLimits): Promise<WholeReply> {
    try {
      return await wholeReply(this.connections, request, limits);
    } catch (error) {
      limits.signal.throwIfAborted();
      throw networkFailure(error);
    }
  }

  private posting(path: string, headers: Readonly<Record<string, string>>, body: RequestBytes) {
    const pieces = together(body);
    const sent: Record<string, string> = { 'content-type': 'application/json', ...headers };
    // Of one piece undici announces the length itself.
    if (pieces.length !== 1) sent['content-length'] = String(lengthOf(pieces));
    return { method: 'POST' as const, path: this.basePath + path, headers: sent, body: sendable(pieces) };
  }

  /** Closes the connections when the replies on them have been read to their end; asking again fails. */
  retire(): Promise<void> {
    return this.connections.close();
  }

  close(): Promise<void> {
    return this.connections.destroy();
  }
}

const lengthOf = (pieces: RequestBytes): number => pieces.reduce((sum, { length }) => sum + length, 0);

const sendable = (pieces: RequestBytes): Buffer | Readable =>
  pieces.length === 1 && pieces[0] ? pieces[0] : Readable.from(pieces, { objectMode: false });

/** A short body is sent in one piece for a fraction of the work: a copy of it costs less than a stream of its pieces. */
const together = (pieces: RequestBytes): RequestBytes =>
  pieces.length === 1 || lengthOf(pieces) >= SHORT_BYTES ? pieces : [Buffer.concat(pieces)];

/** Reads a whole body as text, `limitBytes` at most. @throws GatewayError when it breaks off or is too large. */
export async function readText({ body }: UpstreamReply, signal: StopSignal, limitBytes: number): Promise<string> {
  try {
    return await boundedText(body, limitBytes);
  } catch (error) {
    signal.throwIfAborted();
    throw networkFailure(error);
  }
}

function boundedText(body: UpstreamReply['body'], limitBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const pieces = new PieceCount();
    let bytes = 0;
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limitBytes) body.destroy(new ReplyTooLarge());
      else if (pieces.isTooMany(chunk)) body.destroy(new ReplyTooLarge(undefined, pieces.fault));
      else chunks.push(chunk);
    });
    body.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    body.once('error', reject);
  });
}
