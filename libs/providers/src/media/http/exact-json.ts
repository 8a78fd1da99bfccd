import type { JsonValue } from '#contracts';
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
 * @throws SyntaxError when it is no JSON.
 */
export function parseExactly(json: string): JsonValue {
  const exact = LONG_INTEGER.test(json)
    ? json.replace(TEXT_OR_INTEGER, (token) =>
        token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
      )
    : json;
  return parseBounded(exact) as JsonValue;
}
