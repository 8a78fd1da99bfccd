import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

/** Words whose value is a schema or a list of them, and those whose value is schemas by name. What stands elsewhere, as in `enum`, is a value. */
const HELD: ReadonlyMap<string, 'schemas' | 'names'> = new Map([
  ...[
    'items',
    'additionalItems',
    'additionalProperties',
    'contains',
    'not',
    'if',
    'then',
    'else',
    'propertyNames',
    'anyOf',
    'oneOf',
    'allOf',
    'prefixItems',
  ].map((word) => [word, 'schemas'] as const),
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'].map(
    (word) => [word, 'names'] as const,
  ),
]);

type WriteSchema = (schema: JsonObject) => JsonObject;

/** A schema with those inside it written anew; the very same where none of them changes, as in nearly every tool. */
export function withNestedSchemas(schema: JsonObject, write: WriteSchema): JsonObject {
  return changed(schema, (value, word) => {
    const held = HELD.get(word);
    if (held === undefined) return value;
    if (held === 'names') return isJsonObject(value) ? changed(value, (inside) => written(inside, write)) : value;
    return written(value, write);
  });
}

function written(value: JsonValue, write: WriteSchema): JsonValue {
  if (isJsonObject(value)) return write(value);
  if (!Array.isArray(value)) return value;
  const list = (value as readonly JsonValue[]).map((one) => (isJsonObject(one) ? write(one) : one));
  return list.some((one, place) => one !== value[place]) ? list : value;
}

/** The object with each value as `change` has it; a copy only where one differs. */
function changed(object: JsonObject, change: (value: JsonValue, name: string) => JsonValue): JsonObject {
  let copy: Record<string, JsonValue> | undefined;
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const now = change(value, name);
    if (now !== value) (copy ??= { ...(object as Record<string, JsonValue>) })[name] = now;
  }
  return copy ?? object;
}

/** What a reference leads to within a schema; undefined where it leads nowhere, or elsewhere. */
export function referred(root: JsonObject, ref: JsonValue | undefined): JsonValue | undefined {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) return undefined;
  return ref
    .split('/')
    .slice(1)
    .map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<JsonValue | undefined>(
      (found, step) =>
        typeof found === 'object' && found !== null && Object.hasOwn(found, step)
          ? (found as JsonObject)[step]
          : undefined,
      root,
    );
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
