import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { referred } from './nested-schemas.js';

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
const HELD = new Set([
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

/** Schemas that refer to each other can say more than they hold, and be without end. */
const DEEPEST = 16;
const MOST_SCHEMAS = 1_000;

/** Reads schemas that are put together of others, all below one root. */
export class ShapeReader {
  readonly #root: JsonObject;
  #schemas = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** @returns undefined for what is no object, leads nowhere or has no end. */
  read(schema: JsonValue | undefined, depth = 0): ObjectShape | undefined {
    this.#schemas += 1;
    if (depth > DEEPEST || this.#schemas > MOST_SCHEMAS) return undefined;
    if (schema === true) return NOTHING;
    if (!isJsonObject(schema) || !mayBeObject(schema)) return undefined;
    return this.#parts(schema, depth + 1).reduce<ObjectShape | undefined>(
      (all, part) => all && part && both(all, part),
      ownShape(schema),
    );
  }

  /** What a reference leads to within the root. */
  target(ref: JsonValue): JsonValue | undefined {
    return referred(this.#root, ref);
  }

  #parts({ $ref: ref, allOf, anyOf, oneOf }: JsonObject, depth: number): (ObjectShape | undefined)[] {
    const all = Array.isArray(allOf) ? (allOf as readonly JsonValue[]) : [];
    const choices = [anyOf, oneOf].filter((list) => Array.isArray(list)) as (readonly JsonValue[])[];
    return [
      ...(ref === undefined ? [] : [this.read(this.target(ref), depth)]),
      ...all.map((part) => this.read(part, depth)),
      ...choices.map((list) => this.#either(list, depth)),
    ];
  }

  /** What the objects among some schemas have in common. */
  #either(schemas: readonly JsonValue[], depth: number): ObjectShape | undefined {
    const shapes = schemas.flatMap((schema) => this.read(schema, depth) ?? []);
    const [first] = shapes;
    if (!first) return undefined;
    const names = new Set(shapes.flatMap(({ properties }) => [...properties.keys()]));
    return {
      properties: new Map(
        [...names].map((name) => [name, distinct(shapes.flatMap((shape) => shape.properties.get(name) ?? []))]),
      ),
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
    isWhole: Object.keys(schema).every((word) => HELD.has(word)) && !isJsonObject(others),
  };
}

/** What holds where both hold. Of a field that both speak of, the second, which is the closer one, is heard. */
function both(one: ObjectShape, other: ObjectShape): ObjectShape {
  const properties = new Map(one.properties);
  let isWhole = one.isWhole && other.isWhole;
  for (const [name, closer] of other.properties) {
    const [wider] = properties.get(name) ?? [];
    if (closer.every((schema) => Object.keys(schema).length === 0) && wider) continue;
    if (wider) isWhole = false;
    properties.set(name, wider ? closer.map((schema) => ({ ...wordsOf(wider), ...schema })) : closer);
  }
  return {
    properties,
    required: new Set([...one.required, ...other.required]),
    isClosed: one.isClosed || other.isClosed,
    isWhole,
  };
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
