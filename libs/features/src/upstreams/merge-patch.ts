import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

/** Applies a JSON merge patch (RFC 7396): objects are merged field by field, null takes a field away, all else replaces. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue>(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isJsonObject(value) ? mergePatch(objectOr(merged.get(name)), value) : value);
  }
  return Object.fromEntries(merged);
}

const objectOr = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
