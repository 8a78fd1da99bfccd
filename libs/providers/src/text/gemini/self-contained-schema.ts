import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { referred, type SchemaWork, withNestedSchemas } from '../upstream/object-schema.js';

/**
 * Rules that the interface takes and does not keep to. It keeps to type, format, enum, bounds of numbers and lists, properties,
 * required, additionalProperties, items, prefixItems, anyOf and oneOf
 * (https://ai.google.dev/api/generate-content#FIELDS.response_json_schema).
 */
const UNKEPT: ReadonlySet<string> = new Set([
  'const',
  'pattern',
  'minLength',
  'maxLength',
  'contentEncoding',
  'contentMediaType',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  'unevaluatedProperties',
  'not',
  'if',
  'then',
  'else',
  'allOf',
]);

/**
 * A schema whose descriptions say, for the model to follow, what the vendor would not hold it to. The words themselves stay,
 * which a vendor may come to keep to. The very same schema where it keeps to all of them, as in nearly every tool.
 */
function withUnkeptInWords(schema: JsonObject): JsonObject {
  const unkept = Object.keys(schema).filter((word) => UNKEPT.has(word));
  if (unkept.length === 0) return withNestedSchemas(schema, withUnkeptInWords);
  const rules: Record<string, JsonValue> = {};
  const kept: Record<string, JsonValue> = {};
  for (const [word, value] of Object.entries(schema)) (UNKEPT.has(word) ? rules : kept)[word] = value;
  const written = withNestedSchemas(kept, withUnkeptInWords);
  const said = unkept.map((word) => `${word}: ${JSON.stringify(rules[word])}`).join(', ');
  const { description } = schema;
  return { ...written, ...rules, description: typeof description === 'string' ? `${description} (${said})` : said };
}

const MOST_REFERENCES = 200;
/** What a copy of what is referred to takes at least, and how many of its characters are a step more. */
const STEPS_OF_A_COPY = 10;
const CHARACTERS_OF_A_STEP = 8;

/** Words that are written in another way. */
const SAID_OTHERWISE = ['$ref', '$defs', 'definitions', 'const', 'allOf'] as const;

/** Says that what a schema refers to cannot stand wherever it is meant. */
class TooLarge extends Error {}

/**
 * A schema as the interface takes it: what it refers to stands where it is meant, because a reference may have nothing beside it
 * and lead to `$defs` alone. Only what holds itself is still referred to. Constants are lists of one, what is all of one
 * schema is that schema, and rules that the vendor does not keep to stand in descriptions too.
 */
export const selfContainedSchema = (schema: JsonObject, work: SchemaWork): JsonObject =>
  withUnkeptInWords(contained(schema, work));

function contained(schema: JsonObject, work: SchemaWork): JsonObject {
  const references = referencesIn(schema, () => {});
  const takeSteps = (steps: number): void => {
    if (!work.take(steps)) throw new TooLarge();
  };
  try {
    if (references.size > MOST_REFERENCES) throw new TooLarge();
    return new Writer(schema, holdingThemselves(schema, references, takeSteps), takeSteps).write();
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return new Writer(schema, () => true, takeSteps).write();
  }
}

type TakeSteps = (steps: number) => void;

/** Every reference below a value. */
function referencesIn(value: JsonValue | undefined, takeSteps: TakeSteps, found = new Set<string>()): Set<string> {
  takeSteps(1);
  if (Array.isArray(value)) for (const one of value) referencesIn(one as JsonValue, takeSteps, found);
  if (!isJsonObject(value)) return found;
  if (typeof value['$ref'] === 'string') found.add(value['$ref']);
  for (const one of Object.values(value)) referencesIn(one, takeSteps, found);
  return found;
}

/** Says of a reference whether what it leads to refers to itself, by however many steps. */
function holdingThemselves(
  root: JsonObject,
  references: ReadonlySet<string>,
  takeSteps: TakeSteps,
): (ref: string) => boolean {
  const direct = new Map(
    [...references].map((ref) => [ref, referencesIn(withoutShared(referred(root, ref)), takeSteps)]),
  );
  const circular = new Set([...references].filter((ref) => reached(ref, direct, takeSteps).has(ref)));
  return (ref) => circular.has(ref);
}

function reached(from: string, direct: ReadonlyMap<string, ReadonlySet<string>>, takeSteps: TakeSteps): Set<string> {
  const all = new Set<string>();
  const open = [from];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const ref of direct.get(next) ?? []) {
      takeSteps(1);
      if (!all.has(ref)) {
        all.add(ref);
        open.push(ref);
      }
    }
  return all;
}

/** What is shared is no part of what holds it. */
function withoutShared(schema: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(schema)) return schema;
  const { $defs: _shared, definitions: _formerly, ...own } = schema;
  return own;
}

class Writer {
  /** What kept references lead to, however they spell it, and under which names they do. */
  private readonly shared = new Map<JsonObject, string>();
  private readonly names = new Set<string>();
  private readonly stepsOfCopies = new Map<JsonObject, number>();

  constructor(
    private readonly root: JsonObject,
    private readonly isKept: (ref: string) => boolean,
    private readonly takeSteps: TakeSteps,
  ) {}

  write(): JsonObject {
    const written = this.schema(this.root);
    const shared: [name: string, schema: JsonObject][] = [];
    // One after the other, not one within the other: a chain of references may be as long as a request. Those found meanwhile come behind.
    for (const [target, name] of this.shared) shared.push([name, this.schema(target)]);
    return shared.length > 0 ? { ...written, $defs: Object.fromEntries(shared) } : written;
  }

  private schema = (schema: JsonObject): JsonObject => {
    if (SAID_OTHERWISE.every((word) => schema[word] === undefined)) return withNestedSchemas(schema, this.schema);
    const { $ref: ref, $defs: _shared, definitions: _formerly, ...own } = schema;
    const target = referred(this.root, ref);
    if (ref === undefined) return plain(withNestedSchemas(own, this.schema));
    if (typeof ref !== 'string' || !isJsonObject(target)) return schema;
    const beside = withNestedSchemas(own, this.schema);
    if (!this.isKept(ref)) return { ...this.copy(target), ...beside };
    const reference = { $ref: `#/$defs/${this.nameOf(ref, target)}` };
    return Object.keys(beside).length > 0 ? { anyOf: [reference], ...beside } : reference;
  };

  private copy(target: JsonObject): JsonObject {
    const steps =
      this.stepsOfCopies.get(target) ?? STEPS_OF_A_COPY + JSON.stringify(target).length / CHARACTERS_OF_A_STEP;
    this.stepsOfCopies.set(target, steps);
    this.takeSteps(steps);
    return this.schema(target);
  }

  private nameOf(ref: string, target: JsonObject): string {
    const known = this.shared.get(target);
    if (known !== undefined) return known;
    const last = ref.split('/').at(-1)?.replaceAll(/\W/g, '_') ?? '';
    let name = last === '' || this.names.has(last) ? `shared_${this.names.size}` : last;
    while (this.names.has(name)) name += '_';
    this.names.add(name);
    this.shared.set(target, name);
    return name;
  }
}

/** Without the words that the interface does not know, where others say the same. */
function plain({ const: value, allOf, ...others }: JsonObject): JsonObject {
  const [only] = Array.isArray(allOf) && allOf.length === 1 ? (allOf as readonly JsonValue[]) : [];
  return {
    ...(isJsonObject(only) ? only : allOf !== undefined && { allOf }),
    ...others,
    ...(typeof value === 'string' || typeof value === 'number'
      ? { enum: [value] }
      : value !== undefined && { const: value }),
  };
}
