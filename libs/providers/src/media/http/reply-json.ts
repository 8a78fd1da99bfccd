import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from 'node:zlib';
import { isJsonObject, type JsonValue } from '#contracts';
import { parseBounded } from '#platform';

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
export const unknownEncoding = (headers: IncomingHttpHeaders): string | undefined =>
  decodersOf(headers) ? undefined : encodingsOf(headers).join(', ').slice(0, MAX_NAMES);

/** The encodings of the body, the one applied last first. Undefined: one of them is unknown here, or there are too many. */
function decodersOf(headers: IncomingHttpHeaders): (() => Decoder)[] | undefined {
  const names = encodingsOf(headers);
  if (names.length > MAX_DECODERS) return undefined;
  const decoders = names.toReversed().map((name) => DECODERS.get(name));
  return decoders.every((decoder) => decoder !== undefined) ? decoders : undefined;
}

/** A body without its compression, as it arrives. Undefined: its compression is unknown here. */
export function uncompressed(body: Readable, headers: IncomingHttpHeaders): Readable | undefined {
  // Whoever reads the last of them meets the failure of any.
  return decodersOf(headers)?.reduce<Readable>((source, decoder) => pipeline(source, decoder(), () => undefined), body);
}

/** The text of a whole body, `maxBytes` at most. Undefined: it is longer, or cannot be read. */
export async function textOfBody(
  body: Readable,
  headers: IncomingHttpHeaders,
  maxBytes: number,
): Promise<string | undefined> {
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
export function decodedText(bytes: Buffer, headers: IncomingHttpHeaders): string {
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
export function parsedJson(text: string): JsonValue | undefined {
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
