import { isJsonObject, type JsonObject } from '#contracts';

const BEGINS_OBJECT = /^[\t\n\r ]*\{/;

/** Text as the JSON object it is; undefined where it is none. */
export function parsedObject(json: string): JsonObject | undefined {
  // A text that is refused by the parser takes fifty times as long as one that is not asked about.
  if (!BEGINS_OBJECT.test(json)) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
