import { GatewayError } from '#contracts';
import { type JsonBounds, JsonStructure, placeOf, QUOTE } from './json-structure.js';

/** Strings of so many bytes as written are decoded on their own in a large body, so that parsing never takes long. */
export const LONG_STRING_BYTES = 512;

/** A key of an object, in bytes as written. Names of fields and functions are far shorter. */
const KEY_BYTES_MAX = LONG_STRING_BYTES;

/** What is not inside a long string: punctuation, white space, keys, numbers, short strings. In bytes. */
const STRUCTURE_BYTES_MAX = 4 * 1024 * 1024;

/** How much structure the turns of a request may have: thousands of them with their tool calls, and no more work than some 20 ms at once. */
export const CONVERSATION_JSON: JsonBounds = { maxValues: 100_000, maxKeys: 30_000 };

/** Where a string is in the body: the bytes between its quotes. */
export interface StringPlace {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the bytes of a JSON text as they arrive and counts what makes it dear to parse, so that a hostile one is refused
 * before anything is built of it: twenty million empty objects fit into 60 MB. Does not check that the text is JSON;
 * that is the parser's business.
 */
export class JsonScan extends JsonStructure {
  /** Places of the strings of at least `LONG_STRING_BYTES`, in order. */
  readonly longStrings: StringPlace[] = [];
  /** True when a key was written with an escape sequence. */
  hasEscapedKeys = false;
  private bytes = 0;
  private longBytes = 0;
  private inString = false;
  private escapeOpen = false;
  private stringStart = 0;
  private stringBytes = 0;
  private stringEscaped = false;
  /** The last bytes as text, a character for each: it is searched ten times faster than they are. */
  private text: string | undefined;
  private pieces = 0;
  /** The next quote and the next backslash of these bytes, once searched for. */
  private quote = -1;
  private backslash = -1;

  /** Hands over all bytes as text, a character for each, when they came in one piece and had to be read so. It is kept no longer. */
  takeLatin1(): string | undefined {
    const text = this.pieces === 1 ? this.text : undefined;
    this.text = undefined;
    return text;
  }

  /**
   * Takes the next bytes.
   *
   * @throws GatewayError `invalid_json` naming the bound that is broken.
   */
  push(bytes: Buffer): void {
    let index = 0;
    this.pieces += 1;
    this.text = undefined;
    this.quote = -1;
    this.backslash = -1;
    while (index < bytes.length)
      index = this.inString ? this.readString(bytes, index) : this.readStructure(bytes, index);
    this.bytes += bytes.length;
    const open = this.inString ? this.bytes - this.stringStart : 0;
    const structure = this.bytes - this.longBytes - (open >= LONG_STRING_BYTES ? open : 0);
    if (structure > STRUCTURE_BYTES_MAX)
      throw refusal(
        `hold at most ${STRUCTURE_BYTES_MAX} bytes outside of texts of ${LONG_STRING_BYTES} bytes and more`,
      );
  }

  /** @throws GatewayError `invalid_json`: the last text has no end. */
  end(): void {
    if (this.inString)
      throw new GatewayError('invalid_json', 'The body is not valid JSON: a string in it is not closed.');
  }

  /** Up to the beginning of the next string. */
  private readStructure(bytes: Buffer, from: number): number {
    for (let index = from; index < bytes.length; index += 1) {
      const byte = bytes[index] as number;
      this.count(byte);
      if (byte !== QUOTE) continue;
      this.inString = true;
      this.stringEscaped = false;
      this.stringStart = this.bytes + index + 1;
      return index + 1;
    }
    return bytes.length;
  }

  protected override readKey(): void {
    if (this.stringBytes >= KEY_BYTES_MAX) throw refusal(`hold no key of ${KEY_BYTES_MAX} bytes or more`);
    if (this.stringEscaped) this.hasEscapedKeys = true;
  }

  protected override tooMuch(rule: string): GatewayError {
    return refusal(rule);
  }

  /** Up to the end of the string, or of the bytes. */
  private readString(bytes: Buffer, from: number): number {
    let index = from;
    if (this.escapeOpen) {
      this.escapeOpen = false;
      index += 1;
    }
    const text = (this.text ??= bytes.toString('latin1'));
    while (index < bytes.length) {
      if (this.quote < index) this.quote = placeOf(text, '"', index);
      if (this.backslash < index) this.backslash = placeOf(text, '\\', index);
      if (this.quote < this.backslash) return this.endString(this.quote);
      if (this.backslash === bytes.length) return bytes.length;
      this.stringEscaped = true;
      index = this.backslash + 2;
    }
    this.escapeOpen = index > bytes.length;
    return bytes.length;
  }

  private endString(index: number): number {
    const end = this.bytes + index;
    this.inString = false;
    this.stringBytes = end - this.stringStart;
    if (this.stringBytes >= LONG_STRING_BYTES) {
      this.longStrings.push({ start: this.stringStart, end });
      this.longBytes += this.stringBytes;
    }
    return index + 1;
  }
}

const refusal = (rule: string): GatewayError => new GatewayError('invalid_json', `The body must ${rule}.`);
