import {
  familyOf,
  type Field,
  hasAtMostCharacters,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ModelFamily,
  type ModelTrait,
  nearestName,
  type PlannedOrder,
  type Scalar,
} from '#contracts';
import { isLike } from '../../check-fields.js';
import { NotMakeable } from '../http/media-codec.js';

/** What a vendor allows in one field of a model, beyond the catalogue. What is absent is not limited. */
export interface TraitRule {
  /** The values that it takes; none: it takes none at all. A field that is left out is always taken. */
  readonly one_of?: readonly Scalar[];
  /** Of a number; of a text in characters; of a list in entries. */
  readonly least?: number;
  readonly most?: number;
  readonly required?: true;
  /** Only for orders in which each of these fields has one of these values. */
  readonly with?: Readonly<Record<string, readonly Scalar[]>>;
  readonly modes?: readonly string[];
  /** Not at addresses of these regions. */
  readonly except_regions?: readonly string[];
}

/** Rules of one field of some models of a protocol, and from where and when they are. */
interface MediaTrait {
  readonly protocol: string;
  /** Names of models, ours or the vendor's; `*` stands for anything. */
  readonly models: readonly string[];
  readonly field: string;
  readonly rules: readonly TraitRule[];
  readonly source: string;
  /** The day on which the source was read. */
  readonly checked: string;
}

/** What holds for one field of a model at an upstream. */
export interface HeldTrait extends Omit<ModelTrait, 'rules'> {
  readonly rules: readonly TraitRule[];
}

/** `model_traits` of an entry: name or pattern of models to field to its rule or rules; an empty list lifts those of the table. */
export type TraitSettings = Readonly<Record<string, Readonly<Record<string, TraitRule | readonly TraitRule[]>>>>;

interface TraitSubject {
  readonly protocol: string;
  readonly model: string;
  readonly name: string;
  readonly region?: string | undefined;
}

const isAbout = (pattern: string, { model, name }: TraitSubject): boolean =>
  isLike(pattern, model) || isLike(pattern, name);

const listOf = (rules: TraitRule | readonly TraitRule[]): readonly TraitRule[] =>
  Array.isArray(rules) ? (rules as readonly TraitRule[]) : [rules as TraitRule];

/** What holds for a model: the table, of which later lines take the place of earlier ones of the same field, then the entry, names before patterns. */
export function mediaTraitsOf(
  table: readonly MediaTrait[],
  subject: TraitSubject,
  settings: TraitSettings = {},
): readonly HeldTrait[] {
  const held = new Map<string, HeldTrait>();
  for (const { protocol, models, field, rules, source, checked } of table)
    if (protocol === subject.protocol && models.some((pattern) => isAbout(pattern, subject)))
      held.set(field, { field, rules, by: 'table', source, checked });
  for (const [pattern, fields] of patternsFirst(settings))
    if (isAbout(pattern, subject))
      for (const [field, rules] of Object.entries(fields))
        held.set(field, { field, rules: listOf(rules), by: 'entry', source: null, checked: null });
  return [...held.values()]
    .map((trait) => ({ ...trait, rules: trait.rules.filter((rule) => isOfRegion(rule, subject)) }))
    .filter(({ rules }) => rules.length > 0);
}

/** So that what is said of a name takes the place of what is said of a pattern. */
const patternsFirst = (settings: TraitSettings) =>
  Object.entries(settings).toSorted(([one], [other]) => Number(other.includes('*')) - Number(one.includes('*')));

const isOfRegion = ({ except_regions: except }: TraitRule, { region }: TraitSubject): boolean =>
  except === undefined || region === undefined || !except.includes(region);

type Ordered = Pick<PlannedOrder, 'parameters' | 'mode'>;

const applies = (rule: TraitRule, { parameters, mode }: Ordered): boolean =>
  (rule.modes === undefined || rule.modes.includes(mode)) &&
  Object.entries(rule.with ?? {}).every(([name, values]) => values.some((value) => value === parameters[name]));

/** Refuses what the model lacks here, by the name of the field. @throws NotMakeable */
export function refuseBeyond(traits: readonly HeldTrait[], order: Ordered): void {
  for (const { field, rules } of traits)
    for (const rule of rules)
      if (applies(rule, order) && breaks(rule, order.parameters[field]))
        throw new NotMakeable(field, sentenceOf(field, rule, unitOf(order.parameters[field])));
}

function breaks(rule: TraitRule, value: JsonValue | undefined): boolean {
  if (value === undefined) return rule.required === true;
  if (rule.one_of !== undefined && !rule.one_of.some((allowed) => allowed === value)) return true;
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = rule;
  if (typeof value === 'string')
    return !hasAtMostCharacters(value, most) || (least > 0 && hasAtMostCharacters(value, least - 1));
  const size = Array.isArray(value) ? value.length : value;
  return typeof size === 'number' && (size < least || size > most);
}

const anyOf = (values: readonly Scalar[]): string => {
  const shown = values.map(String);
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
};

/** Of what the bounds of a field are; empty: of its number. */
type Unit = '' | 'characters' | 'entries';

function unitOf(value: JsonValue | undefined): Unit {
  if (typeof value === 'string') return 'characters';
  return Array.isArray(value) ? 'entries' : '';
}

const UNITS: Readonly<Partial<Record<Field['kind'], Unit>>> = {
  text: 'characters',
  files: 'entries',
  objects: 'entries',
};

/** The traits of a model as callers and operators read them. */
export function traitsInWords(traits: readonly HeldTrait[], model: string): ModelTrait[] {
  const fields: readonly Field[] = familyOf(model)?.fields ?? [];
  return traits.map((trait) => {
    const kind = fields.find(({ name }) => name === trait.field)?.kind;
    const unit = (kind && UNITS[kind]) ?? '';
    return { ...trait, rules: trait.rules.map((rule) => sentenceOf(trait.field, rule, unit)) };
  });
}

function sentenceOf(field: string, rule: TraitRule, unit: Unit): string {
  const { one_of: values, least, most } = rule;
  const of = unit === '' ? '' : ` ${unit}`;
  const verb = unit === '' ? 'is' : 'has';
  const parts = [
    ...(values?.length === 0 ? ['is not taken'] : []),
    ...(values !== undefined && values.length > 0 ? [`must be ${anyOf(values)}`] : []),
    ...(least === undefined ? [] : [`${verb} at least ${least}${of}`]),
    ...(most === undefined ? [] : [`${verb} at most ${most}${of}`]),
    ...(rule.required === true ? ['is required'] : []),
  ];
  const others = Object.entries(rule.with ?? {}).map(([name, allowed]) => `${name} ${anyOf(allowed)}`);
  const when = [
    ...(others.length === 0 ? [] : [` with ${others.join(' and ')}`]),
    ...(rule.modes === undefined ? [] : [` for ${anyOf(rule.modes)}`]),
  ];
  return `${field} ${parts.join(' and ')}${when.join('')} here.`;
}

type Mistake = readonly [path: readonly string[], rule: string];

const PATTERN = /^[\w.*:/-]{1,256}$/;

/** What is wrong with `model_traits` of an entry. @param served the models of the entry with their names at the vendor. */
export function traitMistakes(
  settings: JsonObject,
  served: readonly (readonly [model: string, name: string, family: ModelFamily])[],
): Mistake[] {
  return Object.entries(settings).flatMap(([pattern, fields]): Mistake[] => {
    const families = served
      .filter(([model, name]) => isLike(pattern, model) || isLike(pattern, name))
      .map(([, , family]) => family);
    if (!PATTERN.test(pattern) || families.length === 0)
      return [[[pattern], 'is no model of this entry: send its name, or a pattern with *']];
    if (!isJsonObject(fields)) return [[[pattern], 'must name fields']];
    return Object.entries(fields).flatMap(([field, rules]) =>
      fieldMistakes(field, rules, families).map(([path, rule]): Mistake => [[pattern, field, ...path], rule]),
    );
  });
}

function fieldMistakes(field: string, rules: JsonValue, families: readonly ModelFamily[]): Mistake[] {
  const known = families.flatMap(({ fields }) => fields).filter(({ name }) => name !== 'model');
  const found = known.find(({ name }) => name === field);
  if (!found) {
    const near = nearestName(field, [...new Set(known.map(({ name }) => name))]);
    return [[[], near === null ? 'is no field of these models' : `is no field of these models; did you mean ${near}?`]];
  }
  const list: readonly JsonValue[] = Array.isArray(rules) ? rules : [rules];
  return list.flatMap((rule, index) =>
    ruleMistakes(rule, found, { known, modes: families.flatMap(({ modes }) => modes) }).map(
      ([path, words]): Mistake => [Array.isArray(rules) ? [String(index), ...path] : path, words],
    ),
  );
}

const KEYS = ['one_of', 'least', 'most', 'required', 'with', 'modes', 'except_regions'] as const;

interface Known {
  readonly known: readonly Field[];
  readonly modes: readonly string[];
}

function ruleMistakes(rule: JsonValue, field: Field, { known, modes }: Known): Mistake[] {
  if (!isJsonObject(rule)) return [[[], `must be an object with any of ${KEYS.join(', ')}`]];
  const { one_of: values, least, most, required, with: others, modes: only, except_regions: except } = rule;
  const unknown = Object.keys(rule).filter((key) => !KEYS.some((name) => name === key));
  const isBounded = ['whole', 'text', 'files', 'objects'].includes(field.kind);
  return [
    ...unknown.map((key): Mistake => [[key], `is no rule; rules are ${KEYS.join(', ')}`]),
    ...(values === undefined ? [] : valueMistakes(values, field, ['one_of'])),
    ...(['least', 'most'] as const).flatMap((key): Mistake[] => {
      const bound = rule[key];
      if (bound === undefined) return [];
      if (!isBounded) return [[[key], `is for numbers, texts and lists; ${field.name} is none: send one_of`]];
      const isWhole = typeof bound === 'number' && Number.isSafeInteger(bound) && Math.abs(bound) <= 2 ** 32;
      return isWhole ? [] : [[[key], 'must be a whole number']];
    }),
    ...(typeof least === 'number' && typeof most === 'number' && least > most
      ? [[['least'], 'must not be above most'] as Mistake]
      : []),
    ...(required === undefined || required === true ? [] : [[['required'], 'must be true, or left out'] as Mistake]),
    ...(others === undefined ? [] : conditionMistakes(others, known)),
    ...(only === undefined ? [] : nameMistakes(only, ['modes'], modes)),
    ...(except === undefined ? [] : nameMistakes(except, ['except_regions'])),
  ];
}

function conditionMistakes(others: JsonValue, known: readonly Field[]): Mistake[] {
  if (!isJsonObject(others)) return [[['with'], 'must name fields, each with a list of values']];
  return Object.entries(others).flatMap(([name, values]): Mistake[] => {
    const field = known.find((each) => each.name === name);
    if (!field) return [[['with', name], 'is no field of these models']];
    if (Array.isArray(values) && values.length === 0) return [[['with', name], 'must list at least one value']];
    return valueMistakes(values, field, ['with', name]);
  });
}

function valueMistakes(values: JsonValue, field: Field, path: readonly string[]): Mistake[] {
  if (!Array.isArray(values)) return [[path, 'must be a list of values']];
  const wrong = values.find((value) => !isValueOf(field, value as JsonValue)) as JsonValue | undefined;
  if (wrong === undefined) return [];
  const allowed = field.kind === 'choice' ? `; it takes ${anyOf(field.values)}` : '';
  return [[path, `has ${JSON.stringify(wrong).slice(0, 64)}, which is no value of ${field.name}${allowed}`]];
}

function isValueOf(field: Field, value: JsonValue): boolean {
  if (field.kind === 'choice') return field.values.some((known) => known === value);
  if (field.kind === 'flag') return typeof value === 'boolean';
  if (field.kind === 'whole') return typeof value === 'number' && value >= field.min && value <= field.max;
  return field.kind === 'text' && typeof value === 'string';
}

function nameMistakes(names: JsonValue, path: readonly string[], known?: readonly string[]): Mistake[] {
  const isList = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string');
  if (!isList) return [[path, 'must be a list of names']];
  const unknown = names.find((name) => known !== undefined && !known.includes(name));
  return unknown === undefined ? [] : [[path, `has ${unknown.slice(0, 64)}; it may have ${anyOf(known ?? [])}`]];
}

const ALL = ['*'];
/** The largest seed of the Wan models. */
const WAN_SEED: readonly TraitRule[] = [{ most: 2_147_483_647 }];
const UNMARKED: readonly TraitRule[] = [{ one_of: [false] }];

interface Read {
  readonly source: string;
  readonly checked: string;
}

const from = (
  protocol: string,
  read: Read,
  rows: readonly (readonly [models: readonly string[], field: string, ...rules: TraitRule[]])[],
): MediaTrait[] => rows.map(([models, field, ...rules]) => ({ protocol, models, field, rules, ...read }));

const MODEL_STUDIO: Read = {
  source: 'Alibaba Cloud Model Studio: pages of Wan 2.5, 2.6 and 2.7, Qwen-Image 2.0',
  checked: '2026-11-26',
};
const WAN_2 = ['beta-2.5-preview', 'beta-2.6'];

/** Where each model differs from the catalogue at each vendor. Of one model and field the last row counts. */
export const MEDIA_TRAITS: readonly MediaTrait[] = [
  ...from('dashscope-video', MODEL_STUDIO, [
    [ALL, 'seed', ...WAN_SEED],
    // The vendor cuts a longer text off in silence.
    [WAN_2, 'prompt', { most: 1_500 }],
    [WAN_2, 'negative_prompt', { most: 500 }],
    [['beta-2.6'], 'template', { one_of: [], except_regions: ['cn-beijing'] }],
    [['beta-2.6'], 'shot_type', { one_of: ['single'], with: { prompt_extend: [false] } }],
    // Its flash model alone makes videos without sound, and only from images.
    [['beta-2.6'], 'audio', { one_of: [true] }],
    [['*-flash*'], 'audio', { one_of: [true], modes: ['text-to-video'] }],
  ]),
  ...from('dashscope-image', MODEL_STUDIO, [[['eta-*'], 'image_urls', { most: 3 }]]),

  ...from('vertex-veo', { source: 'Vertex AI: model reference of Veo 3.1', checked: '2026-07-26' }, [
    [ALL, 'duration', { one_of: [4, 6, 8] }, { one_of: [8], with: { resolution: ['1080p', '4K'] } }],
  ]),

  ...from('kling', { source: 'copies of the API reference of Kling v2.6', checked: '2026-11-26' }, [
    [ALL, 'negative_prompt', { most: 2_500 }],
  ]),

  ...from('minimax', { source: 'MiniMax API reference: video generation', checked: '2026-11-26' }, [
    [ALL, 'prompt', { most: 2_000 }],
    [ALL, 'resolution', { one_of: ['768p', '1080p'], modes: ['text-to-video', 'first-last-frame'] }],
    [ALL, 'fast_pretreatment', { one_of: [false], modes: ['first-last-frame'] }],
  ]),

  ...from('vidu', { source: 'Vidu API reference', checked: '2026-11-26' }, [[ALL, 'seed', { most: 2_147_483_647 }]]),

  ...from(
    'fal',
    { source: 'types of fal-js (commit 381105e, August 2026) and pages of fal.ai', checked: '2026-11-26' },
    [
      [['beta-2.6'], 'template', { one_of: [] }],
      [['alpha-*'], 'prompt', { required: true }],
      [['alpha-*'], 'return_last_frame', { one_of: [false] }],
      [['alpha-*'], 'tools', { most: 0 }],
      [['beta-*'], 'watermark', ...UNMARKED],
      [['beta-*'], 'seed', ...WAN_SEED],
      [['beta-*'], 'negative_prompt', { most: 500 }],
      [WAN_2, 'prompt', { required: true, most: 1_500 }],
      [['beta-2.5-preview'], 'size', { one_of: ['16:9', '9:16', '1:1'], modes: ['text-to-video'] }],
      [['beta-2.6'], 'audio', { one_of: [true] }],
      [['beta-2.7-r2v'], 'duration', { most: 10 }],
      [['beta-2.7-r2v'], 'prompt_extend', { one_of: [true] }],
      [['gamma-*'], 'sample_count', { one_of: [1] }],
      [['gamma-*'], 'duration', { one_of: [4, 6, 8] }],
      [['gamma-*'], 'person_generation', { one_of: ['allow_adult'] }],
      // The catalogue's default is pad.
      [['gamma-*'], 'resize_mode', { one_of: ['crop'], modes: ['image-to-video', 'first-last-frame'] }],
      [['delta-*'], 'mode', { one_of: ['pro'] }],
      [['delta-*'], 'watermark', ...UNMARKED],
      [['epsilon-*'], 'watermark', ...UNMARKED],
      [['epsilon-*'], 'fast_pretreatment', { one_of: [false] }],
      [['epsilon-*'], 'resolution', { one_of: ['768p', '1080p'], modes: ['text-to-video'] }],
      [['eta-*'], 'image_urls', { most: 3 }],
      [['kappa-*', 'Kappa-*'], 'watermark', ...UNMARKED],
      [['kappa-*', 'Kappa-*'], 'resolution', { one_of: ['2K', '4K'], with: { size: ['auto'] } }],
      [['iota-*'], 'n', { most: 4 }],
    ],
  ),
];
