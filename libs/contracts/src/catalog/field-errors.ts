import type { ErrorCode, FieldError } from '../errors.js';
import { excerpt } from '../unicode-text.js';

/** Most errors listed for one request; the rest shows once these are fixed. */
export const MAX_LISTED_ERRORS = 50;

const LONGEST_QUOTE = 60;

/** Collects what is wrong with a request, in the order in which it was found. */
export class FieldErrors {
  readonly list: FieldError[] = [];
  /** All errors found, those beyond the list included. */
  count = 0;

  /** True when further errors are only counted, so that no message is built for them. */
  get isFull(): boolean {
    return this.list.length >= MAX_LISTED_ERRORS;
  }

  add(param: string, message: string, code: ErrorCode = 'invalid_parameter'): void {
    this.count += 1;
    if (!this.isFull) this.list.push({ param, code, message });
  }
}

/** Writes a caller's value for a message: JSON, cut after 60 characters. */
export function quote(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  // Cut before JSON.stringify, so that a megabyte of text costs nothing.
  const text = JSON.stringify(typeof value === 'string' ? excerpt(value, LONGEST_QUOTE) : value);
  return typeof value === 'string' && value.length > LONGEST_QUOTE ? `${text.slice(0, -1)}…"` : text;
}

/** Joins values as a sentence does: "5, 10 or 15". */
export function alternatives(values: readonly unknown[]): string {
  const texts = values.map(String);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}
