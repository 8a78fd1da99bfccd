import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

/** Words whose value is a schema, a list of them, or schemas by name. What stands elsewhere, as in `enum`, is a value like any other. */
const ALONE = [
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
] as const;
const LISTED = ['items', 'anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] as const;

type WriteSchema = (schema: JsonObject) => JsonObject;

/** A schema with those inside it written anew. */
export function withNestedSchemas(schema: JsonObject, write: WriteSchema): JsonObject {
  const one = (value: JsonValue): JsonValue => (isJsonObject(value) ? write(value) : value);
  const written: Record<string, JsonValue> = { ...(schema as Record<string, JsonValue>) };
  for (const word of ALONE) {
    const value = written[word];
    if (isJsonObject(value)) written[word] = write(value);
  }
  for (const word of LISTED) {
    const value = written[word];
    if (Array.isArray(value)) written[word] = (value as readonly JsonValue[]).map(one);
  }
  for (const word of BY_NAME) {
    const value = written[word];
    if (isJsonObject(value))
      written[word] = Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, one(inside ?? null)]));
  }
  return written;
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
