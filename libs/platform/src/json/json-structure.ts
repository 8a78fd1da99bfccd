/** How much structure a JSON text may have. */
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
  #values = 1;
  #keys = 0;
  #depth = 0;
  #token = 0;

  constructor(private readonly bounds: JsonBounds) {}

  /** An upper bound of the values so far. */
  get values(): number {
    return this.#values;
  }

  /** Keys of all objects so far. */
  get keys(): number {
    return this.#keys;
  }

  /** Another text comes, which is a value as well. */
  protected begin(): void {
    this.#depth = 0;
    this.#token = 0;
    this.#value();
  }

  /** Takes a character outside of strings, or the quote that begins one. */
  protected count(code: number): void {
    if (code === QUOTE || code <= SPACE || this.#isPunctuation(code)) this.#token = 0;
    else if (++this.#token > TOKEN_CHARACTERS_MAX)
      throw this.tooMuch(`hold no number of more than ${TOKEN_CHARACTERS_MAX} characters`);
  }

  /** The string that was just read is a key. */
  protected readKey(): void {}

  /** What is thrown when a bound is broken. */
  protected abstract tooMuch(rule: string): Error;

  #isPunctuation(code: number): boolean {
    if (code === COLON) this.#key();
    else if (code === COMMA) this.#value();
    else if (code === BRACE || code === BRACKET) {
      this.#value();
      if (++this.#depth > DEPTH_MAX) throw this.tooMuch(`not nest deeper than ${DEPTH_MAX} arrays and objects`);
    } else if (code === BRACE_END || code === BRACKET_END) this.#depth -= 1;
    else return false;
    return true;
  }

  #value(): void {
    if (++this.#values > this.bounds.maxValues) throw this.tooMuch(`hold at most ${this.bounds.maxValues} values`);
  }

  #key(): void {
    if (++this.#keys > this.bounds.maxKeys) throw this.tooMuch(`hold at most ${this.bounds.maxKeys} keys`);
    this.readKey();
  }
}
