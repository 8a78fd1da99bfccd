import type { JsonObject, JsonValue } from '../json.js';
import { alternatives } from './field-check.js';
import { offeredSchema } from './field-schema.js';
import { type Field, fieldsOf } from './field.js';
import { allowedSource } from './file-source.js';
import type { ModelFamily } from './model-family.js';

/** One line of a model's field table: in words for people, and as data for programs that draw a form of it. */
export interface FieldTableRow {
  /** The wire name; fields of listed objects read `image_with_roles[].url`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: JsonValue;
  /** What is allowed, in words. */
  readonly allowed: string;
  readonly note: string;
  /** JSON Schema (2020-12) of a value that is given; each choice in its documented spelling, once. */
  readonly schema: JsonObject;
  /** What the number counts; null if it counts nothing. */
  readonly unit: FieldUnit | null;
  /** Where a form shows it; fields of objects stand in the group of the object. */
  readonly group: FieldGroup;
  /** Its place in a form of the whole model, from 1. */
  readonly order: number;
}

/** The field table of a family as one of its models has it, in the order of its document; null stands where there is no default. */
export function fieldTable(family: ModelFamily, model?: string): FieldTableRow[] {
  const fields = fieldsOf(family.table, model);
  const rows = fields.flatMap((field) => linesOf(field, '', groupOf(field)));
  const places = inFormOrder(fields).flatMap((field) => linesOf(field, '', groupOf(field)).map(({ name }) => name));
  return rows.map((row) => ({ ...row, order: places.indexOf(row.name) + 1 }));
}

function linesOf(field: Field, prefix: string, group: FieldGroup): Omit<FieldTableRow, 'order'>[] {
  const name = prefix + field.name;
  const line = {
    name,
    required: field.required,
    default: field.default ?? null,
    note: field.note ?? '',
    ...describe(field),
    schema: offeredSchema(field),
    unit: UNITS[field.name] ?? null,
    group,
  };
  if (field.kind !== 'object' && field.kind !== 'objects') return [line];
  const inner = field.kind === 'object' ? `${name}.` : `${name}[].`;
  return [line, ...fieldsOf(field.item).flatMap((each) => linesOf(each, inner, group))];
}

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

/** Where a form shows a field, in this order; what is under `more` can stay folded. */
export const FIELD_GROUPS = ['model', 'prompt', 'inputs', 'output', 'more'] as const;
type FieldGroup = (typeof FIELD_GROUPS)[number];

/** What a number counts. */
type FieldUnit = 'second' | 'image' | 'video';

/** Members of groups by wire name, in the order in which people decide; files are `inputs` and all others `more`. */
const MEMBERS: Readonly<Record<Exclude<FieldGroup, 'more'>, readonly string[]>> = {
  model: ['model'],
  prompt: ['prompt', 'template'],
  inputs: ['image_urls', 'first_frame_image', 'last_frame_image', 'image_with_roles', 'video_urls'],
  output: [
    'mode',
    'resolution',
    'duration',
    'size',
    'aspect_ratio',
    'n',
    'sample_count',
    'sequential_image_generation',
    'audio',
    'generate_audio',
  ],
};

const UNITS: Readonly<Record<string, FieldUnit>> = {
  duration: 'second',
  n: 'image',
  max_images: 'image',
  sample_count: 'video',
};

/** What the value counts; null if it counts nothing. */

function groupOf({ name, kind }: Field): FieldGroup {
  const named = FIELD_GROUPS.find((group) => group !== 'more' && MEMBERS[group].includes(name));
  return named ?? (kind === 'file' || kind === 'files' ? 'inputs' : 'more');
}

/** The fields of a request body as a form shows them. Those whose place is not laid down keep the order of the document. */
const inFormOrder = (fields: readonly Field[]): Field[] =>
  fields
    .map((field) => ({ field, place: placeOf(field) }))
    .sort((one, other) => one.place - other.place)
    .map(({ field }) => field);

function placeOf(field: Field): number {
  const group = groupOf(field);
  const members = group === 'more' ? [] : MEMBERS[group];
  const index = members.indexOf(field.name);
  return FIELD_GROUPS.indexOf(group) * 100 + (index === -1 ? members.length : index);
}
