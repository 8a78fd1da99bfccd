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
  const { oneOf, additionalProperties, ...others } = schema;
  const plain: JsonObject = Array.isArray(oneOf) ? { ...others, anyOf: oneOf } : others;
  const entries = Object.entries(plain).filter(([name, value]) => isEnforced(name, value));
  const written = Object.fromEntries(entries.map(([name, value]) => [name, nested(name, value ?? null)]));
  return { ...written, ...described(plain), ...(isObject(schema) && onlyItsOwn(schema, additionalProperties)) };
}

/** Whether a value of any kind is meant. */
const isAnything = (schema: JsonObject): boolean =>
  !['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref', 'properties'].some((name) => name in schema);

const isObject = ({ type, properties }: JsonObject): boolean =>
  type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'));

/** @throws Unsayable for an object of any keys, which closed would be an empty one. */
function onlyItsOwn({ properties }: JsonObject, others: JsonValue | undefined): JsonObject {
  const isOpen = properties === undefined && others !== false;
  if (isOpen || isJsonObject(others)) throw new Unsayable();
  return { additionalProperties: false };
}

function isEnforced(name: string, value: JsonValue | undefined): boolean {
  if (name === 'format') return typeof value === 'string' && FORMATS.has(value);
  if (name === 'minItems') return value === 0 || value === 1;
  return ENFORCED.has(name);
}

function described(schema: JsonObject): JsonObject {
  const left = Object.entries(schema).filter(([name, value]) => !isEnforced(name, value));
  if (left.length === 0) return {};
  const bounds = left.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
  const { description } = schema;
  return { description: typeof description === 'string' ? `${description} (${bounds})` : bounds };
}

function nested(name: string, value: JsonValue): JsonValue {
  if (name === 'anyOf' && Array.isArray(value)) return value.map((one) => inside(one as JsonValue));
  if (name === 'items') return inside(value);
  if (['properties', '$defs', 'definitions'].includes(name) && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inside(one ?? null)]));
  return value;
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
  for (const [name, one] of Object.entries(value))
    if (name !== '$defs' && name !== 'definitions') expectNoCycle(one, root, followed);
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
