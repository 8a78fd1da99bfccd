import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { FetchRefused } from '#platform';

/** The most values of one answer, on all levels of all its messages together, and how deep they may lie. */
const MAX_VALUES = 50_000;
const MAX_DEPTH = 200;

/** The most lines of a stream of messages, each of which takes two at least. */
const MAX_LINES = 20_000;

/** How much of a stream is handed on before others get their turn, in bytes. */
const PIECE_BYTES = 4_096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The bytes of an answer, as long as they can be what the protocol has: the client library reads each message at once
 * and checks every value of it, in which a few megabytes of next to nothing would stop the process for seconds.
 *
 * @throws FetchRefused for more.
 */
export async function* boundedReply(body: Readable, { isStream }: { isStream: boolean }): AsyncGenerator<Uint8Array> {
  const count = new ValueCount(isStream);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const length = isStream ? PIECE_BYTES : chunk.length;
      for (let from = 0; from < chunk.length; from += length) {
        const piece = chunk.subarray(from, from + length);
        count.add(piece);
        yield piece;
        if (isStream) await setImmediate();
      }
    }
  } finally {
    body.destroy();
  }
}

/** Counts by the marks between values; those within texts are none. */
class ValueCount {
  private values = 0;
  private depth = 0;
  private lines = 0;
  private isInText = false;
  private isEscaped = false;

  constructor(private readonly isStream: boolean) {}

  /** @throws FetchRefused */
  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === NEWLINE) this.endLine();
      else if (this.isInText) this.inText(byte);
      else this.between(byte);
    }
    if (this.values > MAX_VALUES) throw tooMuch(`holds more than ${MAX_VALUES} values`);
    if (this.lines > MAX_LINES) throw tooMuch(`has more than ${MAX_LINES} lines`);
  }

  /** No text of JSON goes beyond a line, and no message of a stream does. */
  private endLine(): void {
    this.isInText = false;
    if (!this.isStream) return;
    this.lines += 1;
    this.depth = 0;
  }

  private inText(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.isInText = false;
  }

  private between(byte: number): void {
    if (byte === QUOTE) {
      this.isInText = true;
      this.isEscaped = false;
    } else if (byte === COMMA) this.values += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.open(byte);
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.depth -= 1;
  }

  private open(byte: number): void {
    // Several messages at once answer several, and one alone was sent.
    if (byte === OPEN_LIST && this.depth === 0) throw tooMuch('is a list of messages');
    this.values += 1;
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw tooMuch(`nests values deeper than ${MAX_DEPTH} levels`);
  }
}

const tooMuch = (what: string): FetchRefused => new FetchRefused('too_large', `the answer ${what}`);
