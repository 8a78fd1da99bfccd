import { isJsonObject, type JsonObject } from '#contracts';

/** The arguments of a call as an object; a model that wrote something else gets an empty one. */
export function parsedArguments(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json === '' ? '{}' : json);
    return isJsonObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
