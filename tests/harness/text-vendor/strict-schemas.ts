/** A schema, however its words are used. */
export interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly [word: string]: unknown;
}

type Protocol = 'chat' | 'responses' | 'messages' | 'gemini';

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A schema with all that are inside it. */
function allIn(schema: unknown): Schema[] {
  if (!isSchema(schema)) return [];
  const { properties, patternProperties, $defs, definitions, ...words } = schema;
  const byName = [properties, patternProperties, $defs, definitions].filter(isSchema).flatMap(Object.values);
  const inWords = ['items', 'additionalProperties', 'not', 'anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap(
    (word) => words[word],
  );
  return [schema, ...[...byName, ...inWords].flatMap(allIn)];
}

const isList = ({ type }: Schema): boolean => type === 'array' || (Array.isArray(type) && type.includes('array'));

/** Words of earlier drafts. */
const isDated = ({ items, exclusiveMinimum, exclusiveMaximum }: Schema): boolean =>
  Array.isArray(items) || typeof exclusiveMinimum === 'boolean' || typeof exclusiveMaximum === 'boolean';

const OF_OBJECTS = {
  dated: (name: string) => `Invalid schema for '${name}': [] is not of type 'object', 'boolean'.`,
  unsaid: (name: string) => `Invalid schema for '${name}': array schema missing items.`,
};

function brokenForLists(name: string, root: Schema): string | undefined {
  const all = allIn(root);
  if (all.some(isDated)) return OF_OBJECTS.dated(name);
  return all.some((schema) => isList(schema) && !('items' in schema)) ? OF_OBJECTS.unsaid(name) : undefined;
}

function brokenReference(root: Schema): string | undefined {
  if ('definitions' in root) return 'Invalid JSON payload received. Unknown name "definitions".';
  const shared = new Set(Object.keys(root['$defs'] ?? {}).map((name) => `#/$defs/${name}`));
  const references = allIn(root).filter((schema) => '$ref' in schema);
  if (references.some(({ $ref: ref }) => !shared.has(String(ref)))) return 'reference to undefined schema.';
  return references.some((schema) => Object.keys(schema).length > 1)
    ? 'If a schema node has $ref set, then only description and default can be set alongside it.'
    : undefined;
}

/** The sentence with which a vendor refuses a schema for what is in it; `name` is what it is the schema of. */
export function brokenInside(protocol: Protocol, name: string, root: Schema): string | undefined {
  if (protocol === 'gemini') return brokenReference(root) ?? brokenForLists(name, root);
  if (protocol !== 'messages') return brokenForLists(name, root);
  return allIn(root).some(isDated) ? 'JSON schema is invalid. It must match JSON Schema draft 2020-12.' : undefined;
}

const PUT_TOGETHER = ['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'not'] as const;

/** Whether a schema is of one object and nothing else, as vendors want it of arguments, and some of answers. */
export const isOneObject = (schema: Schema): boolean =>
  schema.type === 'object' && PUT_TOGETHER.every((word) => !(word in schema));

interface AnswerBody {
  readonly response_format?: { readonly type?: string; readonly json_schema?: { readonly schema?: Schema } };
  readonly text?: { readonly format?: { readonly type?: string; readonly schema?: Schema } };
  readonly generationConfig?: { readonly responseJsonSchema?: Schema };
  readonly messages?: unknown;
  readonly input?: unknown;
}

const isWordMissing = ({ response_format: chat, text, messages, input }: AnswerBody): boolean =>
  (chat ?? text?.format)?.type === 'json_object' && !/json/i.test(JSON.stringify(input ?? messages));

const answerSchema = ({ response_format: chat, text, generationConfig: gemini }: AnswerBody): Schema | undefined =>
  chat?.json_schema?.schema ?? text?.format?.schema ?? gemini?.responseJsonSchema;

/** The sentence with which a vendor refuses the form that is asked of an answer. */
export function brokenByAnswer(protocol: Protocol, body: AnswerBody): string | undefined {
  if (isWordMissing(body))
    return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  const schema = answerSchema(body);
  if (!schema) return undefined;
  if (protocol !== 'gemini' && !(isOneObject(schema) && schema.properties))
    return `Invalid schema for response_format: schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema.type)}"'.`;
  return brokenInside(protocol, 'response_format', schema);
}
