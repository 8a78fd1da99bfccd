import { GatewayError } from '#contracts';

/** Strings of so many bytes as written are decoded on their own in a large body, so that parsing never takes long. */
export const LONG_STRING_BYTES = 512;

/** A key of an object, in bytes as written. Names of fields and functions are far shorter. */
const KEY_BYTES_MAX = LONG_STRING_BYTES;

/** A number, `true`, `false` or `null`, in characters. No useful number is longer than 24. */
const TOKEN_CHARACTERS_MAX = 400;

/** What is not inside a long string: punctuation, white space, keys, numbers, short strings. In bytes. */
const STRUCTURE_BYTES_MAX = 4 * 1024 * 1024;

/** Arrays and objects within each other. Far more than any request needs, far less than what exhausts a call stack. */
const DEPTH_MAX = 200;

/** How much structure the JSON of a route may have. */
export interface JsonBounds {
  /** Values in all: numbers, texts, arrays and objects, within each other too. */
  readonly maxValues: number;
  /** Keys of all objects together. */
  readonly maxKeys: number;
}

/** Where a string stands in the body: the bytes between its quotes. */
export interface StringPlace {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const SPACE = 0x20;

/**
 * Reads the bytes of a JSON text as they arrive and counts what makes it dear to parse, so that a hostile one is refused
 * before anything is built of it: twenty million empty objects fit into 60 MB. Does not check that the text is JSON;
 * that is the parser's business.
 */
export class JsonScan {
  /** Places of the strings of at least `LONG_STRING_BYTES`, in order. */
  readonly longStrings: StringPlace[] = [];
  /** True when a key was written with an escape sequence. */
  hasEscapedKeys = false;
  #values = 1;
  #keys = 0;
  #depth = 0;
  #bytes = 0;
  #longBytes = 0;
  #token = 0;
  #inString = false;
  #escapeOpen = false;
  #stringStart = 0;
  #stringBytes = 0;
  #stringEscaped = false;
  /** The last bytes as text, a character for each: it is searched ten times faster than they are. */
  #text: string | undefined;
  #pieces = 0;
  /** The next quote and the next backslash of these bytes, once searched for. */
  #quote = -1;
  #backslash = -1;

  constructor(private readonly bounds: JsonBounds) {}

  /** Keys of all objects so far. */
  get keys(): number {
    return this.#keys;
  }

  /** All bytes as text, a character for each, when they came in one piece and had to be read so. */
  get latin1(): string | undefined {
    return this.#pieces === 1 ? this.#text : undefined;
  }

  /** An upper bound of the values so far. */
  get values(): number {
    return this.#values;
  }

  /**
   * Takes the next bytes.
   *
   * @throws GatewayError `invalid_json` naming the bound that is broken.
   */
  push(bytes: Buffer): void {
    let index = 0;
    this.#pieces += 1;
    this.#text = undefined;
    this.#quote = -1;
    this.#backslash = -1;
    while (index < bytes.length) index = this.#inString ? this.#string(bytes, index) : this.#structure(bytes, index);
    this.#bytes += bytes.length;
    const open = this.#inString ? this.#bytes - this.#stringStart : 0;
    const structure = this.#bytes - this.#longBytes - (open >= LONG_STRING_BYTES ? open : 0);
    if (structure > STRUCTURE_BYTES_MAX)
      throw refusal(
        `hold at most ${STRUCTURE_BYTES_MAX} bytes outside of texts of ${LONG_STRING_BYTES} bytes and more`,
      );
  }

  /** @throws GatewayError `invalid_json`: the last text has no end. */
  end(): void {
    if (this.#inString) throw new GatewayError('invalid_json', 'The body is not valid JSON: a text in it has no end.');
  }

  /** Up to the beginning of the next string. */
  #structure(bytes: Buffer, from: number): number {
    let token = this.#token;
    for (let index = from; index < bytes.length; index += 1) {
      const byte = bytes[index] as number;
      if (byte === QUOTE) {
        this.#token = 0;
        this.#inString = true;
        this.#stringEscaped = false;
        this.#stringStart = this.#bytes + index + 1;
        return index + 1;
      }
      if (byte <= SPACE) token = 0;
      else if (this.#punctuation(byte)) token = 0;
      else if (++token > TOKEN_CHARACTERS_MAX)
        throw refusal(`hold no number of more than ${TOKEN_CHARACTERS_MAX} characters`);
    }
    this.#token = token;
    return bytes.length;
  }

  #punctuation(byte: number): boolean {
    if (byte === COLON) this.#key();
    else if (byte === COMMA) this.#value();
    else if (byte === BRACE || byte === BRACKET) {
      this.#value();
      if (++this.#depth > DEPTH_MAX) throw refusal(`not nest deeper than ${DEPTH_MAX} arrays and objects`);
    } else if (byte === BRACE_END || byte === BRACKET_END) this.#depth -= 1;
    else return false;
    return true;
  }

  #value(): void {
    if (++this.#values > this.bounds.maxValues) throw refusal(`hold at most ${this.bounds.maxValues} values`);
  }

  /** A colon outside of a string: the string before it was a key. */
  #key(): void {
    if (++this.#keys > this.bounds.maxKeys) throw refusal(`hold at most ${this.bounds.maxKeys} keys`);
    if (this.#stringBytes >= KEY_BYTES_MAX) throw refusal(`hold no key of ${KEY_BYTES_MAX} bytes or more`);
    if (this.#stringEscaped) this.hasEscapedKeys = true;
  }

  /** Up to the end of the string, or of the bytes. */
  #string(bytes: Buffer, from: number): number {
    let index = from;
    if (this.#escapeOpen) {
      this.#escapeOpen = false;
      index += 1;
    }
    const text = (this.#text ??= bytes.toString('latin1'));
    while (index < bytes.length) {
      if (this.#quote < index) this.#quote = placeOf(text, '"', index);
      if (this.#backslash < index) this.#backslash = placeOf(text, '\\', index);
      if (this.#quote < this.#backslash) return this.#endString(this.#quote);
      if (this.#backslash === bytes.length) return bytes.length;
      this.#stringEscaped = true;
      index = this.#backslash + 2;
    }
    this.#escapeOpen = index > bytes.length;
    return bytes.length;
  }

  #endString(index: number): number {
    const end = this.#bytes + index;
    this.#inString = false;
    this.#stringBytes = end - this.#stringStart;
    if (this.#stringBytes >= LONG_STRING_BYTES) {
      this.longStrings.push({ start: this.#stringStart, end });
      this.#longBytes += this.#stringBytes;
    }
    return index + 1;
  }
}

const placeOf = (text: string, character: string, from: number): number => {
  const place = text.indexOf(character, from);
  return place === -1 ? text.length : place;
};

const refusal = (rule: string): GatewayError => new GatewayError('invalid_json', `The body must ${rule}.`);
