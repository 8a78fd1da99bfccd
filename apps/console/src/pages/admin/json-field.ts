import type { JsonObject } from '../../api/types';

/** The JSON object in a text; null when it is not one. */
export function readObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a JSON merge patch (RFC 7396) makes of an object. */
export function patched(object: JsonObject, patch: JsonObject): JsonObject {
  const result: Record<string, JsonObject[string]> = { ...object };
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name];
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? patched(isObject(before) ? before : {}, value) : value;
  }
  return result;
}
