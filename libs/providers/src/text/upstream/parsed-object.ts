import { isJsonObject, type JsonObject } from '#contracts';

/** The arguments of a call as an object; text that is no JSON object counts as no arguments. */
export function parsedObject(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
