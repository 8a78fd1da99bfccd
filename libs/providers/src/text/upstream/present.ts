import type { JsonObject, JsonValue } from '#contracts';

/** A JSON object of the fields that have a value: an absent field is left out, never sent as null. */
export function present(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** The list itself, or undefined when it is empty: most interfaces refuse empty lists. */
export const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);
