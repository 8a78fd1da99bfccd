import { isJsonObject, type JsonObject } from '#contracts';
import { parseNested } from './bounded-json.js';

const BEGINS_OBJECT = /^[\t\n\r ]*\{/;

/**
 * The JSON object that a text of somebody else is, such as the arguments of a call; undefined where it is none.
 *
 * @param parse the text, or throws; many texts of one request are parsed by one `JsonTexts`.
 */
export function parsedObject(json: string, parse: (json: string) => unknown = parseNested): JsonObject | undefined {
  // A text that is refused by the parser takes fifty times as long as one that is not asked about.
  if (!BEGINS_OBJECT.test(json)) return undefined;
  try {
    const value = parse(json);
    return isJsonObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
