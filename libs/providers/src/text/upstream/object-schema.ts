import {
  type FunctionTool,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type OutputFormat,
} from '#contracts';

/**
 * What writing the schemas of one request may take beyond reading each once: by what they refer to, short ones say much many times
 * over, and many tools do so together.
 */
export class SchemaWork {
  private left = 100_000;

  get isUsedUp(): boolean {
    return this.left < 0;
  }

  /** @returns false when the request has used up what it may take. */
  take(steps: number): boolean {
    this.left -= steps;
    return !this.isUsedUp;
  }
}

/** Words that most vendors refuse at the root of a schema of arguments, and what only words can say of them. */
const CHOICES = ['anyOf', 'oneOf', 'not', 'enum', 'const'] as const;
const PUT_TOGETHER = ['$ref', 'allOf', ...CHOICES] as const;

/**
 * The arguments of a function as the schema of one object, which is all that vendors take. An object that is put together of
 * others (`anyOf`, `oneOf`, `allOf`, `$ref`) becomes one with the fields of all; which of them go together its description says.
 *
 * @throws GatewayError `unsupported_parameter` for arguments that are no object, and for references that lead nowhere or say too much.
 */
export function objectSchema({ name, parameters: given = {} }: FunctionTool, work: SchemaWork): JsonObject {
  const parameters = currentSchema(given);
  if (isOneObject(parameters)) return 'properties' in parameters ? parameters : { ...parameters, properties: {} };
  const reader = new ShapeReader(parameters, work);
  const shape = reader.read(parameters);
  if (!shape) {
    const reason = work.isUsedUp ? 'refers to too much, with those before it' : 'does not describe one object';
    throw GatewayError.unsupported('tools', `the schema of "${name}", which ${reason},`);
  }
  const root = followed(parameters, reader);
  const { type: _type, properties: _own, required: _required, ...others } = root;
  const kept = Object.entries(others).filter(([word]) => !(PUT_TOGETHER as readonly string[]).includes(word));
  return withReferences(parameters, {
    type: 'object',
    ...Object.fromEntries(kept),
    ...fieldsOf(shape),
    ...inWords(root, shape),
  });
}

/** Whether a schema is of one object, and says so in no other way than by its fields. */
export const isOneObject = (schema: JsonObject): boolean =>
  schema['type'] === 'object' && PUT_TOGETHER.every((word) => !(word in schema));

/** The root with what it refers to; what stands beside a reference is closer. */
function followed(schema: JsonObject, reader: ShapeReader): JsonObject {
  const { $ref: ref, ...beside } = schema;
  return ref === undefined ? schema : { ...followed(reader.target(ref) as JsonObject, reader), ...beside };
}

function fieldsOf({ properties, required, isClosed }: ObjectShape): JsonObject {
  return {
    properties: Object.fromEntries([...properties].map(([name, schemas]) => [name, oneOf(schemas)])),
    ...(required.size > 0 && { required: [...required] }),
    ...(isClosed && { additionalProperties: false }),
  };
}

function oneOf(schemas: readonly JsonObject[]): JsonObject {
  const [first = {}] = schemas;
  if (schemas.length < 2) return first;
  const values = schemas.map(valuesOf);
  if (values.includes(undefined)) return { anyOf: schemas };
  const types = new Set(schemas.map(({ type }) => type));
  const { type } = first;
  return { ...(types.size === 1 && type !== undefined && { type }), enum: [...new Set(values.flat())] as JsonValue[] };
}

/** The values of a field that tells variants apart. */
function valuesOf({ type: _type, const: value, enum: values, ...others }: JsonObject): JsonValue[] | undefined {
  if (Object.keys(others).length > 0) return undefined;
  if (value !== undefined) return [value];
  return Array.isArray(values) ? (values as JsonValue[]) : undefined;
}

/** What one schema of an object cannot say. */
function inWords(root: JsonObject, { isWhole }: ObjectShape): JsonObject {
  const words = isWhole ? [] : [...CHOICES, 'allOf'].filter((word) => root[word] !== undefined);
  if (words.length === 0) return {};
  const rules = words.map((word) => `${word}: ${JSON.stringify(root[word])}`).join(', ');
  const { description } = root;
  return { description: typeof description === 'string' ? `${description} (${rules})` : rules };
}

const INTO_PARTS = /^#\/(anyOf|oneOf|allOf)\//;

/** References into the parts that the root was put together of go on leading there. */
function withReferences({ anyOf, oneOf: one, allOf }: JsonObject, schema: JsonObject): JsonObject {
  let leadsThere = false;
  const led = (inside: JsonObject): JsonObject => {
    const written = withNestedSchemas(inside, led);
    const { $ref: ref } = written;
    if (typeof ref !== 'string' || !INTO_PARTS.test(ref)) return written;
    leadsThere = true;
    return { ...written, $ref: `#/$defs/arguments${ref.slice(1)}` };
  };
  const parts = Object.fromEntries(
    Object.entries({ anyOf, oneOf: one, allOf }).filter(([, part]) => part !== undefined),
  );
  const $defs = { ...(schema['$defs'] as JsonObject | undefined), arguments: parts as JsonObject };
  const written = led({ ...schema, $defs });
  return leadsThere ? written : schema;
}

/** What is said of the fields of an object, whatever words it is said in. */
export interface ObjectShape {
  /** What each field may be: one of these. */
  readonly properties: ReadonlyMap<string, readonly JsonObject[]>;
  readonly required: ReadonlySet<string>;
  /** True: it has no other fields. */
  readonly isClosed: boolean;
  /** False: something was said besides, which a shape does not hold. */
  readonly isWhole: boolean;
}

const NOTHING: ObjectShape = { properties: new Map(), required: new Set(), isClosed: false, isWhole: true };

/** Words that a shape holds, or that limit nothing. */
const SHAPE_WORDS = new Set([
  '$ref',
  '$defs',
  'definitions',
  '$schema',
  '$id',
  'type',
  'properties',
  'required',
  'additionalProperties',
  'allOf',
  'title',
  'description',
  'default',
  'examples',
]);

/** Schemas that refer to each other can be without end. */
const DEEPEST = 16;
const STEPS_OF_A_SCHEMA = 10;

/** Reads schemas that are put together of others, all below one root. */
export class ShapeReader {
  private readonly known = new Map<JsonObject, ObjectShape>();

  constructor(
    private readonly root: JsonObject,
    private readonly work: SchemaWork,
  ) {}

  /** @returns undefined for what is no object, leads nowhere or has no end. */
  read(schema: JsonValue | undefined, depth = 0): ObjectShape | undefined {
    if (depth > DEEPEST || !this.work.take(STEPS_OF_A_SCHEMA)) return undefined;
    if (schema === true) return NOTHING;
    if (!isJsonObject(schema) || !mayBeObject(schema)) return undefined;
    const own = this.known.get(schema) ?? ownShape(schema);
    this.known.set(schema, own);
    const whole = allOf(own, this.parts(schema, depth + 1));
    return this.work.take((whole?.properties.size ?? 0) + (whole?.required.size ?? 0)) ? whole : undefined;
  }

  /** What a reference leads to within the root. */
  target(ref: JsonValue): JsonValue | undefined {
    return referred(this.root, ref);
  }

  private parts({ $ref: ref, allOf, anyOf, oneOf }: JsonObject, depth: number): (ObjectShape | undefined)[] {
    const all = Array.isArray(allOf) ? (allOf as readonly JsonValue[]) : [];
    const choices = [anyOf, oneOf].filter((list) => Array.isArray(list)) as (readonly JsonValue[])[];
    return [
      ...(ref === undefined ? [] : [this.read(this.target(ref), depth)]),
      ...all.map((part) => this.read(part, depth)),
      ...choices.map((list) => this.either(list, depth)),
    ];
  }

  /** What the objects among some schemas have in common. */
  private either(schemas: readonly JsonValue[], depth: number): ObjectShape | undefined {
    const shapes = schemas.flatMap((schema) => this.read(schema, depth) ?? []);
    const [first] = shapes;
    if (!first) return undefined;
    const named = new Map<string, Set<JsonObject>>();
    for (const { properties } of shapes)
      for (const [name, all] of properties) {
        const known = named.get(name) ?? new Set();
        for (const one of all) known.add(one);
        named.set(name, known);
      }
    return {
      properties: new Map([...named].map(([name, all]) => [name, distinct([...all])])),
      required: new Set([...first.required].filter((name) => shapes.every(({ required }) => required.has(name)))),
      isClosed: shapes.every(({ isClosed }) => isClosed),
      isWhole: false,
    };
  }
}

/** A type that was left open is that of an object, which all arguments are. */
function mayBeObject({ type }: JsonObject): boolean {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type ?? 'object'];
  return types.includes('object') || types.includes('type_unspecified');
}

function ownShape(schema: JsonObject): ObjectShape {
  const { properties, required, additionalProperties: others } = schema;
  const own = Object.entries(isJsonObject(properties) ? properties : {}).filter(([, value]) => value !== false);
  return {
    properties: new Map(own.map(([name, value]) => [name, [isJsonObject(value) ? value : {}]])),
    required: new Set(
      Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [],
    ),
    isClosed: others === false,
    isWhole: Object.keys(schema).every((word) => SHAPE_WORDS.has(word)) && !isJsonObject(others),
  };
}

/** What holds where all hold; undefined where one is no object. Of a field that two speak of, the later, which is the closer one, is heard. */
function allOf(own: ObjectShape, parts: readonly (ObjectShape | undefined)[]): ObjectShape | undefined {
  if (parts.length === 0) return own;
  const properties = new Map(own.properties);
  const required = new Set(own.required);
  let { isClosed, isWhole } = own;
  for (const part of parts) {
    if (!part) return undefined;
    isClosed ||= part.isClosed;
    isWhole &&= part.isWhole;
    for (const name of part.required) required.add(name);
    for (const [name, closer] of part.properties) {
      const [wider] = properties.get(name) ?? [];
      const saysNothing = closer.every((schema) => schema === wider || Object.keys(schema).length === 0);
      if (wider && saysNothing) continue;
      if (wider) isWhole = false;
      properties.set(name, wider ? closer.map((schema) => ({ ...wordsOf(wider), ...schema })) : closer);
    }
  }
  return { properties, required, isClosed, isWhole };
}

const LONGEST_WORDS = 1_000;

/** What a field is called and for: short enough to stand in many places. */
function wordsOf(schema: JsonObject): JsonObject {
  const words = ['type', 'title', 'description'].flatMap((name) => {
    const value = schema[name];
    return typeof value === 'string' && value.length <= LONGEST_WORDS ? [[name, value] as const] : [];
  });
  return Object.fromEntries(words);
}

function distinct(schemas: readonly JsonObject[]): readonly JsonObject[] {
  const own = [...new Set(schemas)];
  return own.length < 2 ? own : [...new Map(own.map((schema) => [JSON.stringify(schema), schema])).values()];
}

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

/**
 * A schema in the words of the current draft (2020-12), which is all that some vendors take: generators of schemas still write
 * earlier ones. A list says what it holds, if anything, which other vendors insist on.
 */
export function currentSchema(schema: JsonObject): JsonObject {
  const written = inCurrentWords(schema);
  const { $schema: draft } = written;
  if (draft === undefined || (typeof draft === 'string' && draft.includes('2020-12'))) return written;
  const { $schema: _dated, ...others } = written;
  return others;
}

const inCurrentWords = (schema: JsonObject): JsonObject =>
  withItems(withBounds(withPlaces(withNestedSchemas(schema, inCurrentWords))));

/** Schemas by place were a list of `items`, and `additionalItems` what follows them. */
function withPlaces(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema['items'])) return schema;
  const { items, additionalItems: others, ...rest } = schema;
  return { ...rest, prefixItems: items ?? [], ...(others !== undefined && { items: others }) };
}

const BOUNDS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;

/** That a bound is not among the values was a yes or no beside it. */
function withBounds(schema: JsonObject): JsonObject {
  let written = schema;
  for (const [bound, exclusive] of BOUNDS) {
    if (typeof written[exclusive] !== 'boolean') continue;
    const { [bound]: value, [exclusive]: isExclusive, ...rest } = written;
    written = { ...rest, ...(value !== undefined && { [isExclusive === true ? exclusive : bound]: value }) };
  }
  return written;
}

function withItems(schema: JsonObject): JsonObject {
  const { type } = schema;
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isList && !('items' in schema) ? { ...schema, items: {} } : schema;
}

/** The schema of an answer with what the answer is for, for protocols that have no field of their own for that. */
export function describedSchema({ schema, description }: Extract<OutputFormat, { type: 'json-schema' }>): JsonObject {
  return description === undefined || schema['description'] !== undefined ? schema : { description, ...schema };
}

/**
 * Whether calls of a function are held to its schema. The interfaces differ in what they take then: one lets fields be left out, and
 * two refuse a schema in which some may be. There the function is one like any other.
 */
export const strictness = ({ parameters, strict }: FunctionTool): boolean | undefined =>
  strict === true && parameters && leavesOut(parameters) ? undefined : strict;

/** Whether some object in the schema has a field that may be absent. */
function leavesOut(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return schema.some(leavesOut);
  if (!isJsonObject(schema)) return false;
  const { properties, required, ...others } = schema;
  const fields = isJsonObject(properties) ? properties : {};
  const needed = new Set<JsonValue>(Array.isArray(required) ? (required as readonly JsonValue[]) : []);
  return Object.keys(fields).some((name) => !needed.has(name)) || [fields, others].some(anyLeavesOut);
}

const anyLeavesOut = (schemas: JsonObject): boolean =>
  Object.values(schemas).some((schema) => typeof schema === 'object' && leavesOut(schema));
