import { alternatives } from './field-errors.js';
import { type Field, fieldsOf } from './field.js';
import { allowedSource } from './file-source.js';
import type { JsonValue } from '../json.js';
import type { ModelFamily } from './model-family.js';

/** One line of a model's field table, for people. */
export interface FieldTableRow {
  /** The wire name; fields of listed objects read `image_with_roles[].url`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: JsonValue;
  /** What is allowed, in words. */
  readonly allowed: string;
  readonly note: string;
}

/** The field table of a family as its document shows it; null stands where there is no default. */
export const fieldTable = (family: ModelFamily): FieldTableRow[] => rowsOf(family.fields, '');

const rowsOf = (fields: readonly Field[], prefix: string): FieldTableRow[] =>
  fields.flatMap((field) => {
    const name = prefix + field.name;
    const row = {
      name,
      required: field.required,
      default: field.default ?? null,
      note: field.note ?? '',
      ...describe(field),
    };
    if (field.kind === 'object') return [row, ...rowsOf(fieldsOf(field.item), `${name}.`)];
    if (field.kind === 'objects') return [row, ...rowsOf(fieldsOf(field.item), `${name}[].`)];
    return [row];
  });

function describe(field: Field): { type: string; allowed: string } {
  switch (field.kind) {
    case 'choice':
      return { type: typeNames[typeof field.values[0]] ?? 'string', allowed: alternatives(field.values) };
    case 'text':
      return { type: 'string', allowed: `at most ${field.max} characters` };
    case 'whole':
      return { type: 'integer', allowed: `${field.min} to ${field.max}` };
    case 'flag':
      return { type: 'boolean', allowed: 'true or false' };
    case 'file':
      return { type: 'string', allowed: allowedSource(field.source) };
    case 'files':
      return { type: 'array of strings', allowed: `${entries(field)}, each ${allowedSource(field.source)}` };
    case 'object':
      return { type: 'object', allowed: 'the fields below' };
    default:
      return { type: 'array of objects', allowed: entries(field) };
  }
}

const typeNames: Readonly<Record<string, string>> = { number: 'integer', boolean: 'boolean', string: 'string' };

const entries = ({ min, max }: { min: number; max: number }) =>
  min === max ? `exactly ${max} ${max === 1 ? 'entry' : 'entries'}` : `${min} to ${max} entries`;
