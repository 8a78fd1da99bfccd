import { isAscii, isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { GatewayError } from '#contracts';
import { nextTurn, Turns } from '../clock/turns.js';
import type { StringPlace } from './json-scan.js';

/**
 * The text that UTF-8 says. Most bodies are plain ASCII, which is decoded in half the time.
 *
 * @param latin1 the bytes as text, a character for each, where that is at hand.
 */
export function textOf(bytes: Buffer, latin1?: string): string {
  if (isAscii(bytes)) return latin1 ?? bytes.toString('latin1');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

/** @throws GatewayError `invalid_json` with the parser's words. */
export function parsedJson(text: string, clean = (message: string): string => message): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Not kept as a cause: its words quote the body, and causes may be logged.
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_json', `The body is not valid JSON: ${clean(reason)}.`);
  }
}

/** Every escape sequence of a JSON text; those of four digits stand for what has no other form in it. */
const ESCAPES = /\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/g;

/** Found wherever one of four digits stands, and rarely elsewhere. */
const CODE_ESCAPES = /\\u(?:0000|d[89a-f])/;

/** Length of an escape sequence with four digits. */
const CODE_ESCAPE = 6;

/**
 * Written JSON in which NUL and halves of surrogate pairs became U+FFFD: no database takes them, nor do many vendors. To
 * be given to `jsonBytes`. Prose has no escape sequence at all, and source code thousands of harmless ones: neither is
 * searched one by one.
 */
export const wellFormedJson = (json: string): string =>
  json.includes('\\') && CODE_ESCAPES.test(json)
    ? json.replace(ESCAPES, (escape) => (escape.length === CODE_ESCAPE ? String.raw`\ufffd` : escape))
    : json;

/**
 * How many characters the texts of a parsed JSON value have, names of fields among them. Counts on until there are more than
 * `most`: a single text can be as long as a body, while its values are few.
 */
export function textCharactersIn(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let characters = 0;
  for (const [name, inner] of Object.entries(value)) {
    characters += (Array.isArray(value) ? 0 : name.length) + textCharactersIn(inner, most);
    if (characters > most) break;
  }
  return characters;
}

/**
 * How much of a long text is decoded at once. Strings of more than some 100 KiB live apart from all others and stay until a full
 * garbage collection; what is made on the way would add up to several bodies.
 */
const PIECE_BYTES = 64 * 1024;

const BACKSLASH = 0x5c;
/** `\u` and four digits, less the first character. */
const ESCAPE_REST = 5;

/** A large body taken apart. */
export interface BodyParts {
  /** The body with a short mark in place of each long text. */
  readonly structure: Buffer;
  /** What each mark begins with, once parsed. Made for this body, so that nothing in it can look like it. */
  readonly mark: string;
  /** The parsed structure with the long texts back in their places. */
  restored(value: unknown): unknown;
}

/**
 * Decodes the long texts of a body, a piece at a time.
 *
 * @throws GatewayError `invalid_json`: a text holds what no JSON text may.
 */
export async function parsedParts(bytes: Buffer, begin: number, places: readonly StringPlace[]): Promise<BodyParts> {
  const mark = `~${randomBytes(12).toString('hex')}:`;
  const turns = new Turns();
  await nextTurn(turns);
  const texts: string[] = [];
  const parts: Buffer[] = [];
  let from = begin;
  for (const { start, end } of places) {
    parts.push(bytes.subarray(from, start), Buffer.from(`${mark}${texts.length}`));
    from = end;
    texts.push(await decoded(bytes, start, end, turns));
    if (turns.isOver) await nextTurn(turns);
  }
  parts.push(bytes.subarray(from));
  return { structure: Buffer.concat(parts), mark, restored: (value) => restored(value, mark, texts) };
}

/**
 * A text in one piece of memory: pieces that were only added would be put together by the first reader of the text, all at
 * once. Most long texts are files in base64, whose bytes are the text.
 */
async function decoded(bytes: Buffer, start: number, end: number, turns: Turns): Promise<string> {
  const pieces: string[] = [];
  let plainFrom = start;
  for (let from = start; from < end;) {
    const to = cutBefore(bytes, from, Math.min(end, from + PIECE_BYTES), end);
    const piece = bytes.subarray(from, to);
    if (!isPlain(piece)) {
      if (plainFrom < from) pieces.push(bytes.toString('latin1', plainFrom, from));
      pieces.push(parsedJson(`"${textOf(piece)}"`) as string);
      plainFrom = to;
    }
    from = to;
    if (turns.isOver) await nextTurn(turns);
  }
  if (plainFrom < end) pieces.push(bytes.toString('latin1', plainFrom, end));
  // The last piece and all of them together may take as long as each other.
  if (turns.isOver) await nextTurn(turns);
  return pieces.length === 1 ? (pieces[0] as string) : pieces.join('');
}

/** True when the bytes are the text: printable ASCII without escape sequences. */
function isPlain(bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return false;
  }
  return true;
}

/** The last place up to `to` that is neither within a character nor within an escape sequence. */
function cutBefore(bytes: Buffer, from: number, to: number, end: number): number {
  if (to === end) return to;
  let cut = to;
  while (cut > from && isContinuation(bytes[cut])) cut -= 1;
  for (let place = cut - 1; place >= Math.max(from, cut - ESCAPE_REST); place -= 1) {
    if (bytes[place] !== BACKSLASH) continue;
    // An even number of backslashes is as many escaped ones, and begins nothing.
    const isEscape = backslashesUpTo(bytes, from, place) % 2 === 1;
    const length = isEscape && bytes[place + 1] === 0x75 ? ESCAPE_REST + 1 : 2;
    if (isEscape && place + length > cut) return place;
    break;
  }
  return cut > from ? cut : to;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function backslashesUpTo(bytes: Buffer, from: number, place: number): number {
  let first = place;
  while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
  return place - first + 1;
}

function restored(value: unknown, mark: string, texts: readonly string[]): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = restored(value[index], mark, texts);
    return value;
  }
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const inner = fields[key];
    if (typeof inner === 'string' || typeof inner === 'object') fields[key] = restored(inner, mark, texts);
  }
  return value;
}
