import type { Field } from './field.js';

/** Where a form shows a field, in this order; what is under `more` can stay folded. */
export const FIELD_GROUPS = ['model', 'prompt', 'inputs', 'output', 'more'] as const;
export type FieldGroup = (typeof FIELD_GROUPS)[number];

/** What a number counts. */
export type FieldUnit = 'second' | 'image' | 'video';

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
export const unitOf = ({ name }: Field): FieldUnit | null => UNITS[name] ?? null;

/** The group of a field of a request body. */
export function groupOf({ name, kind }: Field): FieldGroup {
  const named = FIELD_GROUPS.find((group) => group !== 'more' && MEMBERS[group].includes(name));
  return named ?? (kind === 'file' || kind === 'files' ? 'inputs' : 'more');
}

/** The fields of a request body as a form shows them. Those whose place is not laid down keep the order of the document. */
export const inFormOrder = (fields: readonly Field[]): Field[] =>
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
