import { analyse } from 'chardet';
import { Unreadable } from './unreadable.js';

/** As much of a file as its encoding is guessed from. */
const SAMPLE_BYTES = 64 * 1024;

/** Below this certainty (of 100) a guess is none. */
const CERTAINTY_MIN = 10;

/** The share of control characters from which on bytes are no text. */
const CONTROLS_MAX = 0.02;

/** Texts in UTF-8, UTF-16 (with a mark or without), GB18030 and what else can be recognised by its bytes. */
export function decodeText(bytes: Uint8Array): string {
  const text = decoded(bytes);
  if (controlShare(text.slice(0, SAMPLE_BYTES)) > CONTROLS_MAX)
    throw new Unreadable('unsupported_file', 'The file is of no type that is read: its bytes are no text.');
  return text;
}

function decoded(bytes: Uint8Array): string {
  const encoding = markedEncoding(bytes) ?? unmarkedUtf16(bytes);
  if (encoding) return new TextDecoder(encoding).decode(bytes);
  const candidates = ['utf-8', ...guesses(bytes), 'gb18030'];
  for (const candidate of candidates) {
    const text = decodedAs(candidate, bytes);
    if (text !== null) return text;
  }
  // What is not recognised is read as UTF-8 with a replacement character for each invalid byte.
  return new TextDecoder().decode(bytes);
}

/** Null: these bytes are none of the encoding, or it is not known. */
function decodedAs(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

const guesses = (bytes: Uint8Array): string[] =>
  analyse(bytes.subarray(0, SAMPLE_BYTES))
    .filter(({ confidence }) => confidence >= CERTAINTY_MIN)
    .map(({ name }) => name);

function markedEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** Every other byte of text in Latin letters is zero. */
function unmarkedUtf16(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, 1_024);
  const zeros = [0, 0];
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = sample.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : undefined;
}

function controlShare(text: string): number {
  // eslint-disable-next-line no-control-regex -- they are what is counted
  const controls = text.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return text === '' ? 0 : controls / text.length;
}
