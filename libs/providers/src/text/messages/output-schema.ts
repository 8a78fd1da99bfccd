import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { referred } from '../upstream/object-schema.js';

/** What this interface enforces of a schema; the rest stands in descriptions. */
const ENFORCED = new Set([
  '$schema',
  '$id',
  '$ref',
  '$defs',
  'definitions',
  'type',
  'properties',
  'required',
  'items',
  'anyOf',
  'enum',
  'const',
  'default',
  'title',
  'description',
]);

/** Words whose value is schemas by name. */
const NAMED = new Set(['properties', '$defs', 'definitions']);

/** What a description cannot say well enough. */
const BEYOND_WORDS = ['allOf', 'not', 'if', 'prefixItems', 'patternProperties', 'propertyNames', 'dependentSchemas'];

const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);

/** Says that a schema cannot be enforced. */
class Unsayable extends Error {}

/**
 * A schema of the answer in the part of JSON Schema that this interface enforces. Every object is closed, and bounds stand
 * in descriptions.
 *
 * @returns undefined where that would be another schema: objects of any keys, values of any kind, and what holds itself.
 */
export function enforceableSchema(schema: JsonObject): JsonObject | undefined {
  try {
    expectNoCycle(schema, schema, { open: new Set(), done: new Set() });
    return closed(schema);
  } catch (error) {
    if (error instanceof Unsayable || error instanceof RangeError) return undefined;
    throw error;
  }
}

function closed(schema: JsonObject): JsonObject {
  if (BEYOND_WORDS.some((name) => name in schema) || isAnything(schema)) throw new Unsayable();
  const written: Record<string, JsonValue> = {};
  let bounds = '';
  // Loops: a request may hold tens of thousands of schemas, and lists of what is in each cost several times as much.
  for (const word of Object.keys(schema)) {
    const value = schema[word] ?? null;
    const name = word === 'oneOf' && Array.isArray(value) ? 'anyOf' : word;
    if (isEnforced(name, value)) written[name] = nested(name, value);
    else if (word !== 'additionalProperties') bounds += `${bounds && ', '}${word}: ${JSON.stringify(value)}`;
  }
  const { description, additionalProperties } = schema;
  if (bounds !== '') written['description'] = typeof description === 'string' ? `${description} (${bounds})` : bounds;
  if (isObject(schema)) written['additionalProperties'] = onlyItsOwn(schema, additionalProperties);
  return written;
}

/** Whether a value of any kind is meant. */
const isAnything = (schema: JsonObject): boolean =>
  !['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref', 'properties'].some((name) => name in schema);

const isObject = ({ type, properties }: JsonObject): boolean =>
  type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'));

/** @throws Unsayable for an object of any keys, which closed would be an empty one. */
function onlyItsOwn({ properties }: JsonObject, others: JsonValue | undefined): false {
  const isOpen = properties === undefined && others !== false;
  if (isOpen || isJsonObject(others)) throw new Unsayable();
  return false;
}

function isEnforced(name: string, value: JsonValue | undefined): boolean {
  if (name === 'format') return typeof value === 'string' && FORMATS.has(value);
  if (name === 'minItems') return value === 0 || value === 1;
  return ENFORCED.has(name);
}

function nested(name: string, value: JsonValue): JsonValue {
  if (name === 'anyOf' && Array.isArray(value)) return value.map((one) => inside(one as JsonValue));
  if (name === 'items') return inside(value);
  if (!NAMED.has(name) || !isJsonObject(value)) return value;
  const schemas: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) schemas[key] = inside(value[key] ?? null);
  return schemas;
}

/** @throws Unsayable for `true`, which stands for any value. */
function inside(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) throw new Unsayable();
  return closed(schema);
}

/** What is being looked through because a reference leads there, however it spells it, and what was looked through. */
interface Followed {
  readonly open: Set<JsonObject>;
  readonly done: Set<JsonObject>;
}

/** @throws Unsayable for a schema that holds itself, and for one that lies elsewhere. */
function expectNoCycle(value: JsonValue | undefined, root: JsonObject, followed: Followed): void {
  if (Array.isArray(value)) for (const one of value) expectNoCycle(one as JsonValue, root, followed);
  if (!isJsonObject(value)) return;
  if (typeof value['$ref'] === 'string') follow(value['$ref'], root, followed);
  for (const name of Object.keys(value))
    if (name !== '$defs' && name !== 'definitions') expectNoCycle(value[name], root, followed);
}

function follow(ref: string, root: JsonObject, followed: Followed): void {
  const { open, done } = followed;
  const target = leadsTo(ref, root);
  if (open.has(target)) throw new Unsayable();
  if (done.has(target)) return;
  open.add(target);
  expectNoCycle(target, root, followed);
  open.delete(target);
  done.add(target);
}

function leadsTo(ref: string, root: JsonObject): JsonObject {
  const found = ref === '#' ? undefined : referred(root, ref);
  if (!isJsonObject(found)) throw new Unsayable();
  return found;
}
