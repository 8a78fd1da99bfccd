export interface JsonBounds {
  /** Values in all: numbers, texts, arrays and objects, within each other too. */
  readonly maxValues: number;
  /** Keys of all objects together. */
  readonly maxKeys: number;
}

/** Arrays and objects within each other. Far more than anybody needs, far less than what exhausts a call stack. */
export const DEPTH_MAX = 200;

/** A number, `true`, `false` or `null`, in characters. No useful number is longer than 24. */
const TOKEN_CHARACTERS_MAX = 400;

export const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const SPACE = 0x20;

/** Where a character stands next; the end of the text where it does not. */
export const placeOf = (text: string, character: string, from: number): number => {
  const place = text.indexOf(character, from);
  return place === -1 ? text.length : place;
};

/**
 * Counts what makes JSON dear to parse, from the characters outside of its strings. Does not check that it is JSON; that is
 * the parser's business.
 */
export abstract class JsonStructure {
  private valueCount = 1;
  private keyCount = 0;
  private depth = 0;
  private token = 0;

  constructor(private readonly bounds: JsonBounds) {}

  /** Keys of all objects so far. */
  get keys(): number {
    return this.keyCount;
  }

  /** Another text comes, which is a value as well. */
  protected begin(): void {
    this.depth = 0;
    this.token = 0;
    this.value();
  }

  /** Takes a character outside of strings, or the quote that begins one. */
  protected count(code: number): void {
    if (code === QUOTE || code <= SPACE || this.isPunctuation(code)) this.token = 0;
    else if (++this.token > TOKEN_CHARACTERS_MAX)
      throw this.tooMuch(`hold no number of more than ${TOKEN_CHARACTERS_MAX} characters`);
  }

  /** The string that was just read is a key. */
  protected readKey(): void {}

  /** What is thrown when a bound is broken. */
  protected abstract tooMuch(rule: string): Error;

  private isPunctuation(code: number): boolean {
    if (code === COLON) this.key();
    else if (code === COMMA) this.value();
    else if (code === BRACE || code === BRACKET) {
      this.value();
      if (++this.depth > DEPTH_MAX) throw this.tooMuch(`not nest deeper than ${DEPTH_MAX} arrays and objects`);
    } else if (code === BRACE_END || code === BRACKET_END) this.depth -= 1;
    else return false;
    return true;
  }

  private value(): void {
    if (++this.valueCount > this.bounds.maxValues) throw this.tooMuch(`hold at most ${this.bounds.maxValues} values`);
  }

  private key(): void {
    if (++this.keyCount > this.bounds.maxKeys) throw this.tooMuch(`hold at most ${this.bounds.maxKeys} keys`);
    this.readKey();
  }
}

/** The most different keys of a request: ten times what the longest list of tools has. */
export const DIFFERENT_KEYS_MAX = 10_000;

const COLON_BYTE = 0x3a;

/** What may be behind a text that is not a key: `,`, `]` and `}`. */
const BEHIND_VALUES = new Set([0x2c, 0x5d, 0x7d]);

/**
 * True when a JSON text, together with those before it, has more different keys than a request may have. The parser keeps each
 * new key in a table of the whole process. Enlarging that table stops all work: at two million keys for 60 ms.
 *
 * @param json need not be valid. What cannot be JSON is not scanned to its end.
 * @param known keys so far, as they are written. Those of the text are added to it.
 */
export function hasManyDifferentKeys(json: string, known = new Set<string>()): boolean {
  for (let index = json.indexOf('"'); index !== -1; index = json.indexOf('"', index)) {
    const end = endOfString(json, index + 1);
    const behind = behindSpace(json, end + 1);
    if (json.charCodeAt(behind) === COLON_BYTE) known.add(json.slice(index + 1, end));
    // A million texts without anything between them would take 20 ms.
    else if (!BEHIND_VALUES.has(json.charCodeAt(behind))) return false;
    if (known.size > DIFFERENT_KEYS_MAX) return true;
    index = behind;
  }
  return false;
}

/** Where the quote stands that ends a string; the end of the text where there is none. */
export function endOfString(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) return index;
    if (character === 0x5c) index += 1;
  }
  return text.length;
}

/** Only white space can be between a key and its colon. */
export const isBeforeColon = (text: string, from: number): boolean =>
  text.charCodeAt(behindSpace(text, from)) === COLON_BYTE;

function behindSpace(text: string, from: number): number {
  let index = from;
  while (text.charCodeAt(index) <= 0x20) index += 1;
  return index;
}
