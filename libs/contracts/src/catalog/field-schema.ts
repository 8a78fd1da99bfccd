import { type ChoiceField, type Field, type FieldTableClass, fieldsOf, type FileSource } from './field.js';
import { MAX_URL_LENGTH } from './file-source.js';
import type { JsonObject, JsonValue } from '../json.js';

/**
 * What a schema is for. `accept` passes every body that the gateway accepts: forgiven letter cases, and null for absent
 * fields. `offer` holds only what a form should offer: the documented spelling of each value, and no null.
 */
type Purpose = 'accept' | 'offer';

/** JSON Schema (2020-12) of an object with the fields of a table, which passes all that is accepted. */
export const bodySchema = (table: FieldTableClass): JsonObject => objectSchema(table, 'accept');

/** JSON Schema (2020-12) of a field's value where it is given, with the documented spelling of each choice alone. */
export const offeredSchema = (field: Field): JsonObject => valueSchema(field, 'offer');

function objectSchema(table: FieldTableClass, purpose: Purpose): JsonObject {
  const fields = fieldsOf(table);
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, purpose)] as const)),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function fieldSchema(field: Field, purpose: Purpose): JsonObject {
  const { type, ...rest } = valueSchema(field, purpose);
  const base = field.required || purpose === 'offer' ? { type, ...rest } : orNull(type, rest);
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

function valueSchema(field: Field, purpose: Purpose): JsonObject & { readonly type: string } {
  switch (field.kind) {
    case 'choice':
      return { type: typeOfChoice(field.values), enum: choices(field, purpose) };
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
      return { ...objectSchema(field.item, purpose), type: 'object' };
    default:
      return { type: 'array', minItems: field.min, maxItems: field.max, items: objectSchema(field.item, purpose) };
  }
}

const choices = ({ spellings, values }: ChoiceField, purpose: Purpose): JsonValue[] =>
  purpose === 'offer' ? [...values] : [...spellings.keys()];

const typeOfChoice = ([value]: readonly JsonValue[]): string => (typeof value === 'number' ? 'integer' : typeof value);

function fileSchema({ inline, httpsOnly }: FileSource): JsonObject & { readonly type: string } {
  const url = `[hH][tT][tT][pP]${httpsOnly ? '[sS]' : '[sS]?'}://\\S+`;
  if (inline.length === 0) return { type: 'string', pattern: `^${url}$`, maxLength: MAX_URL_LENGTH };
  return { type: 'string', pattern: `^(${url}|data:image/(${inline.join('|')});base64,[A-Za-z0-9+/]+={0,2})$` };
}
