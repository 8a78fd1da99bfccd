import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';

/** Numbers that the style's own dialect may write as texts. */
const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Fields that JSON Schema does not have and that only order or illustrate. */
const ONLY_HERE = new Set(['propertyOrdering', 'nullable', 'example']);

const FORMATS_ONLY_HERE = new Set(['enum', 'int32', 'int64', 'float', 'double']);

/** The interface reads its own words in snake_case as well; names of properties stay what they are. */
const SPELLED = new Map(
  [...COUNTS, ...ONLY_HERE, 'anyOf', 'additionalProperties', 'prefixItems'].map((name) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name,
  ]),
);

type Write = (value: JsonValue) => JsonValue | undefined;

const mapped = (value: JsonValue): JsonValue => (isJsonObject(value) ? jsonSchemaOf(value) : value);
const listed: Write = (value) => (Array.isArray(value) ? value.map(mapped) : value);
const count: Write = (value) => (typeof value === 'string' ? Number(value) : value);
const byName: Write = (value) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, mapped(schema ?? null)]))
    : value;

/** How the fields of a schema are written that JSON Schema writes in another way. */
const WRITE: Readonly<Record<string, Write>> = {
  type: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  format: (value) => (typeof value === 'string' && FORMATS_ONLY_HERE.has(value) ? undefined : value),
  properties: byName,
  items: mapped,
  additionalProperties: mapped,
  anyOf: listed,
};

function fieldOf(name: string, value: JsonValue): JsonValue | undefined {
  if (ONLY_HERE.has(name)) return undefined;
  if (COUNTS.has(name)) return count(value);
  const write = Object.hasOwn(WRITE, name) ? WRITE[name] : undefined;
  return write ? write(value) : value;
}

/** What may be null says so by its type, and by its words where there is a list of them. */
function nullable({ type, enum: words, anyOf, ...rest }: JsonObject): JsonObject {
  const also = [
    ...(typeof type === 'string' ? [['type', [type, 'null']] as const] : []),
    ...(Array.isArray(words) ? [['enum', [...words, null]] as const] : []),
    ...(Array.isArray(anyOf) ? [['anyOf', [...anyOf, { type: 'null' }]] as const] : []),
  ];
  return { ...rest, ...Object.fromEntries(also) };
}

/** A schema in the style's own dialect, with types in capitals, counts as texts and `nullable`, as JSON Schema. */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const written = Object.entries(schema).flatMap(([sent, value]) => {
    const name = SPELLED.get(sent) ?? sent;
    const entry = value === undefined ? undefined : fieldOf(name, value);
    return entry === undefined ? [] : [[name, entry] as const];
  });
  const plain: JsonObject = Object.fromEntries(written);
  return schema['nullable'] === true ? nullable(plain) : plain;
}
