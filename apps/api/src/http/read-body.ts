import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '#contracts';
import { BodyBytes, type JsonBounds, JsonScan, nextTurn, PieceCount } from '#platform';
import { type BodyBudget, noRoomFor, UNCOUNTED_BYTES } from './body-budget.js';
import type { BodyCoding, BodyDecoder } from './decode-body.js';
import { expectClient } from './client-gone.js';
import type { SendingRate } from './sending-rate.js';

/** So much of a body is read at a time, in bytes. Then others come first: a socket hands over two megabytes at once. */
const AT_ONCE_BYTES = 256 * 1024;

/** Clients that write JSON token by token send longer ones. There is no time limit, because a sender may use many slow connections. */
const PIECES = { leastBytes: 8, withinMs: Number.POSITIVE_INFINITY };

export interface BodyBounds {
  readonly maxBytes: number;
  /** Of all bodies together. */
  readonly budget: BodyBudget;
  /** How slowly they may come. */
  readonly rate: SendingRate;
  readonly decoder: BodyDecoder;
}

/** Whose a body is, and how much structure its route takes. */
export interface BodySender {
  readonly accountId: string;
  /** Undefined where the body is not looked through. */
  readonly json: JsonBounds | undefined;
  /** Undefined where it is not encoded. */
  readonly coding?: BodyCoding | undefined;
  /** The most bytes of an encoded one, where that is less than of any: its announced length does not tell. */
  readonly maxDecodedBytes?: number | undefined;
}

/** A body as it was sent, decoded and looked through but not parsed. */
export interface SentBody {
  readonly bytes: Buffer;
  readonly scan: JsonScan | undefined;
}

/**
 * Reads the body of a request and counts its structure on the way. One that is refused is read to its end all the same,
 * without being held: a client that is still writing would take an early answer for a broken connection. An encoded one is decoded
 * once it is whole, so that nobody holds a decoder by sending slowly.
 *
 * @throws GatewayError `request_too_large`, also for very many very short pieces; `overloaded` or `rate_limit_exceeded` when there is no room
 * for it; `invalid_json` when it has too much structure, cannot be decoded or the client left before the end; `request_timeout` when
 * it comes too slowly. For how it comes, its connection ends with the answer.
 */
export async function readBody(
  request: IncomingMessage,
  answer: ServerResponse,
  bounds: BodyBounds,
  sender: BodySender,
): Promise<SentBody> {
  const scan = sender.json && new JsonScan(sender.json);
  const { coding } = sender;
  const sent = await received(request, answer, bounds, sender, coding ? undefined : scan);
  const body = coding && sent.length > 0 ? await decoded(sent, coding, answer, bounds, sender, scan) : sent;
  scan?.end();
  const bytes = body.joined();
  return { bytes: bytes instanceof Promise ? await bytes : bytes, scan };
}

/** What an encoded body holds, within the bounds of any. */
async function decoded(
  sent: BodyBytes,
  coding: BodyCoding,
  answer: ServerResponse,
  bounds: BodyBounds,
  { accountId, maxDecodedBytes = bounds.maxBytes }: BodySender,
  scan: JsonScan | undefined,
): Promise<BodyBytes> {
  const within = { ...bounds, maxBytes: Math.min(bounds.maxBytes, maxDecodedBytes) };
  const arriving = new ArrivingBody(answer, accountId, within, scan, 0, sent.length);
  await bounds.decoder.decode(accountId, coding, await sent.joined(), (piece) => {
    expectClient(answer);
    arriving.take(piece);
    // One that is too large is told so, whatever its structure.
    if (arriving.bytes > within.maxBytes) throw tooLarge(within.maxBytes);
    if (arriving.refusal && arriving.refusal.code !== 'invalid_json') throw arriving.refusal;
  });
  if (arriving.refusal) throw arriving.refusal;
  return arriving.body;
}

function received(
  request: IncomingMessage,
  answer: ServerResponse,
  bounds: BodyBounds,
  { accountId }: BodySender,
  scan: JsonScan | undefined,
): Promise<BodyBytes> {
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers['content-length'] ?? 0);
    const arriving = new ArrivingBody(answer, accountId, bounds, scan, announced);
    let restAt = AT_ONCE_BYTES;
    const pieces = new PieceCount(PIECES);
    const take = (chunk: Buffer): void => {
      arriving.take(chunk);
      if (pieces.isTooMany(chunk)) return end(new GatewayError('request_too_large', `The body ${pieces.fault}.`));
      if (arriving.bytes < restAt) return;
      restAt = arriving.bytes + AT_ONCE_BYTES;
      request.pause();
      void nextTurn().then(() => request.resume());
    };
    const end = (refusal: GatewayError): void => {
      unwatch();
      request.off('data', take).pause();
      bounds.budget.giveBack(answer);
      answer.setHeader('connection', 'close');
      answer.once('finish', () => request.destroy());
      reject(arriving.refusal ?? refusal);
    };
    const unwatch = bounds.rate.watch(() => arriving.bytes, end);
    request.on('data', take);
    request.once('end', () => {
      unwatch();
      if (arriving.refusal) reject(arriving.refusal);
      else resolve(arriving.body);
    });
    request.once('error', (cause) => {
      unwatch();
      reject(new GatewayError('invalid_json', 'The body broke off before its end.', { cause }));
    });
  });
}

/** A body on its way: held until it is refused. */
class ArrivingBody {
  readonly body: BodyBytes;
  /** All that came, held or not. */
  bytes = 0;
  refusal: GatewayError | undefined;

  constructor(
    private readonly answer: ServerResponse,
    private readonly accountId: string,
    private readonly bounds: BodyBounds,
    private readonly scan: JsonScan | undefined,
    announcedBytes: number,
    /** The length of what it is decoded from. Both are held until its end, when nothing has been made of it yet. */
    private readonly encodedBytes = 0,
  ) {
    this.body = new BodyBytes(Math.min(announcedBytes, bounds.maxBytes));
  }

  take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.refusal) return;
    try {
      this.refusal = this.noRoom();
      if (!this.refusal) this.scan?.push(chunk);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.refusal = error;
    }
    if (this.refusal) {
      this.body.clear();
      this.bounds.budget.giveBack(this.answer);
    } else this.body.add(chunk);
  }

  private noRoom(): GatewayError | undefined {
    const { maxBytes, budget } = this.bounds;
    if (this.bytes > maxBytes) return tooLarge(maxBytes);
    const held = Math.max(this.bytes, this.encodedBytes);
    const whose = held > UNCOUNTED_BYTES ? budget.grow(this.answer, this.accountId, held) : null;
    return whose === null ? undefined : noRoomFor(whose);
  }
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('request_too_large', `The body is larger than the ${maxBytes} bytes allowed.`);
