import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { GatewayError } from '#contracts';
import { FairSlots, NoSlot } from '#platform';

/** What decodes the bytes of a body, one thread of Node's at a time. */
type Decoder = Transform & { readonly bytesWritten: number };

/** How a body was encoded, and what decodes it. */
export interface BodyCoding {
  readonly name: string;
  /** @param bytes the encoded ones, all of them. */
  readonly open: (bytes: Buffer) => Decoder;
}

/** So much comes out at a time, in bytes: what is looked through at once. Of a short body less, but never so little that a bomb comes in very many pieces. */
const AT_ONCE_BYTES = 256 * 1024;
const USUAL_RATIO = 8;

const sizedFor = ({ length }: Buffer) => ({
  chunkSize: Math.min(AT_ONCE_BYTES, Math.max(zlib.constants.Z_DEFAULT_CHUNK, USUAL_RATIO * length)),
});

/** The largest window of zstd: what every receiver of HTTP has to take, and none more. */
const ZSTD_WINDOW_LOG = 23;

const DEFLATE_METHOD = 8;

/** `deflate` is deflate within zlib's frame; some senders leave out the frame. No block of deflate begins with these bits. */
const hasZlibFrame = ([first = 0]: Buffer): boolean => (first & 0x0f) === DEFLATE_METHOD;

const gzip = (bytes: Buffer): Decoder => zlib.createGunzip(sizedFor(bytes));

// Node has zstd since 22.15 and 23.8.
const ZSTD: readonly (readonly [string, BodyCoding['open']])[] =
  'createZstdDecompress' in zlib ? [['zstd', zstdDecoder(zlib)]] : [];

const CODINGS: ReadonlyMap<string, BodyCoding['open']> = new Map<string, BodyCoding['open']>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', (bytes) => (hasZlibFrame(bytes) ? zlib.createInflate : zlib.createInflateRaw)(sizedFor(bytes))],
  ['br', (bytes) => zlib.createBrotliDecompress(sizedFor(bytes))],
  ...ZSTD,
]);

/** What `Accept-Encoding` says of requests. */
const ACCEPTED = [...CODINGS.keys()].filter((name) => name !== 'x-gzip').join(', ');

interface ZstdOfNode {
  readonly createZstdDecompress: (options: { chunkSize: number; params: Readonly<Record<number, number>> }) => Decoder;
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
}

function zstdDecoder(node: object): BodyCoding['open'] {
  // The types are those of the oldest Node that we run on.
  const { createZstdDecompress, constants } = node as ZstdOfNode;
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG };
  return (bytes) => createZstdDecompress({ ...sizedFor(bytes), params });
}

/**
 * How a body is encoded by its header `Content-Encoding`; undefined: not at all.
 *
 * @throws GatewayError `unsupported_media_type`: in a way that is not known here, or more than once.
 */
export function codingOf(header = 'identity'): BodyCoding | undefined {
  const names = header
    .toLowerCase()
    .split(',', 100)
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const [name] = names;
  if (name === undefined) return undefined;
  const open = CODINGS.get(name);
  if (open && names.length === 1) return { name, open };
  const shown = `"${header.slice(0, 100)}"`;
  const why = open
    ? `A body may be encoded once, not with Content-Encoding ${shown}.`
    : `Content-Encoding ${shown} is not supported: use ${ACCEPTED}, or none.`;
  const node =
    name === 'zstd' && !open ? ` zstd needs Node 22.15 or newer, and this gateway runs on ${process.version}.` : '';
  throw new GatewayError('unsupported_media_type', why + node, { headers: { 'accept-encoding': ACCEPTED } });
}

/**
 * The bodies that a process decodes at once, one of each account. Node has four threads for this, which files need too.
 */
const SLOTS = { most: 2, mostPerShare: 1, mostWaitingPerShare: 200, waitMs: 20_000 };

/** When to send a body again whose turn to be decoded did not come. */
const RETRY_AFTER_MS = 2_000;

/** Decodes the bodies of a process, in turns between its accounts. */
export class BodyDecoder {
  private readonly slots = new FairSlots(SLOTS);

  /**
   * Hands the decoded bytes of a whole body to `take`, piece by piece, until that throws.
   *
   * @throws GatewayError `invalid_json` for bytes that are broken, cut off, or followed by others; `rate_limit_exceeded` when too many
   * of the account wait; what `take` throws.
   */
  async decode(accountId: string, coding: BodyCoding, bytes: Buffer, take: (piece: Buffer) => void): Promise<void> {
    try {
      await this.slots.run(accountId, () => decodeAll(coding, bytes, take));
    } catch (error) {
      if (!(error instanceof NoSlot)) throw error;
      const words = 'The account sends too many encoded bodies at once; send this one again shortly.';
      throw new GatewayError('rate_limit_exceeded', words, { retryAfterMs: RETRY_AFTER_MS });
    }
  }
}

async function decodeAll({ name, open }: BodyCoding, bytes: Buffer, take: (piece: Buffer) => void): Promise<void> {
  const decoder = open(bytes);
  decoder.end(bytes);
  try {
    // A copy of a short piece: with it, all the memory that it came in would be kept.
    for await (const piece of decoder as AsyncIterable<Buffer>)
      take(piece.length < zlib.constants.Z_DEFAULT_CHUNK / 2 ? Buffer.from(piece) : piece);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('invalid_json', `The body ${faultOf(error)} (Content-Encoding ${name}).`, { cause: error });
  }
  if (decoder.bytesWritten !== bytes.length)
    throw new GatewayError(
      'invalid_json',
      `The body continues after the end of its compressed data (Content-Encoding ${name}).`,
    );
}

/** What is wrong with an encoded body, behind its subject. */
function faultOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'Z_BUF_ERROR') return 'ends before its encoding does';
  if (code === 'ZSTD_error_frameParameter_windowTooLarge')
    return `was encoded with a window of more than ${2 ** (ZSTD_WINDOW_LOG - 20)} MiB`;
  return 'cannot be decoded';
}
