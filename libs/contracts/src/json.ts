/** Anything that survives JSON.stringify and JSON.parse unchanged. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** True for what JSON calls an object: neither null nor an array. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields that have a value: an absent field is left out, never sent as null. */
export function omitUndefined(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** `maxRunningTasks` as the API spells it: `max_running_tasks`. */
export const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** An object under the names of the API, which are written with underscores. What its fields hold stays as it is. */
export const wireNames = (row: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(row).map(([name, field]) => [toSnakeCase(name), field]));
