import type { FunctionTool, JsonObject, JsonValue } from '#contracts';
import { cannotSay } from './codec-failures.js';
import { currentSchema } from './current-schema.js';
import { type ObjectShape, ShapeReader } from './object-shape.js';

/** Words that most vendors refuse at the root of a schema of arguments, and what only words can say of them. */
const CHOICES = ['anyOf', 'oneOf', 'not', 'enum', 'const'] as const;
const PUT_TOGETHER = ['$ref', 'allOf', ...CHOICES] as const;

/**
 * The arguments of a function as the schema of one object, which is all that vendors take. An object that is put together of
 * others (`anyOf`, `oneOf`, `allOf`, `$ref`) becomes one with the fields of all; which of them go together its description says.
 *
 * @throws GatewayError `unsupported_parameter` for arguments that are no object, and for references that lead nowhere.
 */
export function objectSchema({ name, parameters: given = {} }: FunctionTool): JsonObject {
  const parameters = currentSchema(given);
  if (isOneObject(parameters)) return 'properties' in parameters ? parameters : { ...parameters, properties: {} };
  const reader = new ShapeReader(parameters);
  const shape = reader.read(parameters);
  if (!shape) throw cannotSay('tools', `the schema of "${name}", which does not describe one object,`);
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

const INTO_PARTS = /"\$ref":"#\/(anyOf|oneOf|allOf)\//g;

/** References into the parts that the root was put together of go on leading there. */
function withReferences({ anyOf, oneOf: one, allOf }: JsonObject, schema: JsonObject): JsonObject {
  const json = JSON.stringify(schema);
  if (json.search(INTO_PARTS) === -1) return schema;
  const parts = Object.fromEntries(
    Object.entries({ anyOf, oneOf: one, allOf }).filter(([, part]) => part !== undefined),
  );
  const $defs = { ...(schema['$defs'] as JsonObject | undefined), arguments: parts };
  const written = JSON.stringify({ ...schema, $defs });
  return JSON.parse(written.replace(INTO_PARTS, '"$$ref":"#/$$defs/arguments/$1/')) as JsonObject;
}
