import { CATALOG, familiesAt } from './catalog.js';
import { type Field, type FieldTableClass, fieldsOf, type FileSource } from './field.js';
import { MAX_URL_LENGTH } from './file-source.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { SubmissionPath } from './media-order.js';
import type { ModelFamily } from './model-family.js';

/** The component name of a family's schema: the name of its request class. */
const schemaName = (family: ModelFamily): string => family.table.name;

const reference = (family: ModelFamily) => `#/components/schemas/${schemaName(family)}`;

/**
 * The schema of a submission body, for OpenAPI 3.1: one schema per family, told apart by `model`.
 * It refers to `componentSchemas`.
 */
export function submissionSchema(path: SubmissionPath): JsonObject {
  const families = familiesAt(path);
  const [only, ...others] = families;
  if (only && others.length === 0) return { $ref: reference(only) };
  return {
    oneOf: families.map((family) => ({ $ref: reference(family) })),
    discriminator: {
      propertyName: 'model',
      mapping: Object.fromEntries(
        families.flatMap((family) => family.models.map((model) => [model, reference(family)] as const)),
      ),
    },
  };
}

/** The schemas of all media families by component name. */
export const componentSchemas = (): Record<string, JsonObject> =>
  Object.fromEntries(CATALOG.map((family: ModelFamily) => [schemaName(family), familySchema(family)] as const));

/** JSON Schema (2020-12) of the bodies a family accepts. Refusals that look at several fields are told in words. */
export function familySchema(family: ModelFamily): JsonObject {
  const rules = family.rules.map(({ message }) => `- ${message}`);
  return {
    ...objectSchema(family.table),
    title: family.models.join(', '),
    description: [`${family.summary} (${family.source})`, ...rules].join('\n'),
    examples: [family.example],
  };
}

function objectSchema(table: FieldTableClass): JsonObject {
  const fields = fieldsOf(table);
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)] as const)),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function fieldSchema(field: Field): JsonObject {
  const { type, ...rest } = valueSchema(field);
  const base = field.required ? { type, ...rest } : orNull(type, rest);
  return {
    ...base,
    ...(field.note !== undefined && { description: field.note }),
    ...(field.default !== undefined && { default: field.default }),
  };
}

/** Null for an optional field counts as absent, so the schema allows it. */
const orNull = (type: string, rest: JsonObject): JsonObject => ({
  type: [type, 'null'],
  ...rest,
  ...(Array.isArray(rest['enum']) && { enum: [...(rest['enum'] as JsonValue[]), null] }),
});

/** The schema of a value that is there. */
function valueSchema(field: Field): JsonObject & { readonly type: string } {
  switch (field.kind) {
    case 'choice':
      return { type: typeOfChoice(field.values), enum: [...field.spellings.keys()] };
    case 'text':
      return { type: 'string', maxLength: field.max, ...(field.required && { minLength: 1, pattern: '\\S' }) };
    case 'whole':
      return { type: 'integer', minimum: field.min, maximum: field.max };
    case 'flag':
      return { type: 'boolean' };
    case 'file':
      return fileSchema(field.source);
    case 'files':
      return { type: 'array', minItems: field.min, maxItems: field.max, items: fileSchema(field.source) };
    case 'object':
      return { ...objectSchema(field.item), type: 'object' };
    default:
      return { type: 'array', minItems: field.min, maxItems: field.max, items: objectSchema(field.item) };
  }
}

const typeOfChoice = ([value]: readonly JsonValue[]): string => (typeof value === 'number' ? 'integer' : typeof value);

function fileSchema({ inline, httpsOnly }: FileSource) {
  const url = `[hH][tT][tT][pP]${httpsOnly ? '[sS]' : '[sS]?'}://\\S+`;
  if (inline.length === 0) return { type: 'string', pattern: `^${url}$`, maxLength: MAX_URL_LENGTH };
  return { type: 'string', pattern: `^(${url}|data:image/(${inline.join('|')});base64,[A-Za-z0-9+/]+={0,2})$` };
}
