import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { isDataUri } from '#media';

/** Inline files by their type alone: the caller has them, and repeating 60 MB would keep others waiting. */
export function withFilesNamed(parameters: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, withFileNamed(value)]));
}

function withFileNamed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return isDataUri(value) ? `${value.slice(0, value.indexOf(',') + 1)}…` : value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withFileNamed(item));
  return isJsonObject(value) ? withFilesNamed(value) : value;
}
