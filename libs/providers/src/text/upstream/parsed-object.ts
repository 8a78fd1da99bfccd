import { isJsonObject, type JsonObject } from '#contracts';

const BEGINS_OBJECT = /^[\t\n\r ]*\{/;

/** The arguments of a call as an object; text that is no JSON object counts as no arguments. */
export function parsedObject(json: string): JsonObject {
  // A text that is refused by the parser takes fifty times as long as one that is not asked about.
  if (!BEGINS_OBJECT.test(json)) return {};
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
