import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

const roleOf = (content: JsonValue | undefined): JsonValue | undefined =>
  isJsonObject(content) ? (content['role'] === 'model' ? 'model' : 'user') : undefined;

const partsOf = (content: JsonValue): readonly JsonValue[] | undefined =>
  isJsonObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly JsonValue[]) : undefined;

/**
 * The contents with neighbours of a role put together, since the interface wants roles to alternate; the same list where
 * they do. Client libraries send an image that a function returned as a content of its own.
 */
export function alternating(contents: readonly JsonValue[]): readonly JsonValue[] {
  if (!contents.some((content, place) => place > 0 && areOne(contents[place - 1], content))) return contents;
  const merged: JsonValue[] = [];
  for (const content of contents) {
    const last = merged.at(-1);
    if (areOne(last, content)) merged.splice(-1, 1, joined(last, content as JsonObject));
    else merged.push(content);
  }
  return merged;
}

const areOne = (one: JsonValue | undefined, other: JsonValue): one is JsonObject =>
  one !== undefined && roleOf(one) === roleOf(other) && partsOf(one) !== undefined && partsOf(other) !== undefined;

const joined = (one: JsonObject, other: JsonObject): JsonObject => ({
  ...one,
  parts: [...(partsOf(one) ?? []), ...(partsOf(other) ?? [])],
});
