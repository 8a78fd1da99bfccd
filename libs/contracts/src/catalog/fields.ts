import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import 'reflect-metadata';
import type { JsonValue } from '../json.js';
import { hasAtMostCharacters, isStorable, VISIBLE } from '../unicode-text.js';
import {
  addField,
  type Field,
  type FieldTableClass,
  type FileSource,
  type InlineFormat,
  type Scalar,
} from './field.js';
import { allowedSource, wrongSource } from './file-source.js';
import { GENERAL_IMAGE_MAX_BYTES } from './references.js';

/** Longest text where the documents state no limit, in characters. */
const UNSTATED_TEXT_MAX = 32_768;

/** Longest list where the documents state no limit, in entries. */
const UNSTATED_LIST_MAX = 32;

interface Options<Value extends JsonValue> {
  readonly required?: boolean;
  readonly default?: Value;
  /** The modes in which the default is filled in; without it, every mode. */
  readonly defaultModes?: readonly string[];
  readonly note?: string;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** What single models of a family take, where that is less than the family takes. */
interface Narrower<Less> {
  readonly only?: Readonly<Record<string, Less>>;
}

interface FileOptions extends Options<string> {
  /** Image types accepted as a data URI. */
  readonly inline?: readonly InlineFormat[];
  /** Largest decoded size of a data URI, in bytes; 20 MB without it. */
  readonly maxInlineBytes?: number;
  readonly httpsOnly?: boolean;
}

interface ListOptions {
  /** Fewest entries; with it, an empty list is refused instead of counting as absent. */
  readonly min?: number;
  readonly max?: number;
}

/** One of the listed values, spelled exactly so. */
export const Choice = <const Value extends Scalar>(values: readonly Value[], options: Options<NoInfer<Value>> = {}) =>
  line({ kind: 'choice', values, spellings: new Map(values.map((value) => [value, value])) }, options);

/**
 * One of the listed resolutions; the letter case of p and K is forgiven and the documented spelling is kept.
 * `only` lists those of models that take fewer.
 */
export const Resolution = <const Value extends `${number}${'p' | 'P' | 'K'}`>(
  values: readonly Value[],
  { only = {}, ...options }: Options<NoInfer<Value>> & Narrower<readonly NoInfer<Value>[]> = {},
) =>
  line(
    {
      kind: 'choice',
      ...resolutions(values),
      only: Object.fromEntries(Object.entries(only).map(([model, fewer]) => [model, resolutions(fewer)] as const)),
    },
    options,
  );

const resolutions = (values: readonly string[]) => ({
  values,
  spellings: new Map(values.flatMap((value) => [value.toLowerCase(), value.toUpperCase()].map((s) => [s, value]))),
});

/** Text. A required text must show something; `max` counts Unicode characters. */
export const Text = ({ max = UNSTATED_TEXT_MAX, ...options }: Options<string> & { readonly max?: number } = {}) =>
  line({ kind: 'text', max }, options);

/** A whole number between two bounds, both allowed. 5.0 is 5; "5" in quotes is refused. `only` narrows the bounds of single models. */
export const Whole = ({ min, max, only = {}, ...options }: Options<number> & Bounds & Narrower<Partial<Bounds>>) =>
  line({ kind: 'whole', min, max, only }, options);

/** True or false; "true" in quotes is refused. */
export const Flag = (options: Options<boolean> = {}) => line({ kind: 'flag' }, options);

/** An image by public URL, or as a data URI where `inline` names image types. */
export const ImageUrl = (options: FileOptions = {}) => file('image', options);

/** Several images, in order. */
export const ImageUrls = (options: FileOptions & ListOptions = {}) => files('image', options);

/** Several videos by public URL, in order. */
export const VideoUrls = (options: FileOptions & ListOptions = {}) => files('video', options);

/** A sound file by public URL. */
export const AudioUrl = (options: FileOptions = {}) => file('audio', options);

/** Several sound files by public URL, in order. */
export const AudioUrls = (options: FileOptions & ListOptions = {}) => files('audio', options);

export const OneObject = (item: FieldTableClass, options: Options<never> = {}) =>
  line({ kind: 'object', item }, options);

export const ObjectList = (
  item: FieldTableClass,
  { min = 0, max = UNSTATED_LIST_MAX, ...options }: Options<never> & ListOptions = {},
) => line({ kind: 'objects', item, min, max }, options);

function file(medium: FileSource['medium'], { inline, maxInlineBytes, httpsOnly, ...options }: FileOptions) {
  return line({ kind: 'file', source: sourceOf(medium, { inline, maxInlineBytes, httpsOnly }) }, options);
}

function files(
  medium: FileSource['medium'],
  { inline, maxInlineBytes, httpsOnly, min = 0, max = UNSTATED_LIST_MAX, ...options }: FileOptions & ListOptions,
) {
  return line({ kind: 'files', source: sourceOf(medium, { inline, maxInlineBytes, httpsOnly }), min, max }, options);
}

const sourceOf = (
  medium: FileSource['medium'],
  given: { [Key in 'inline' | 'maxInlineBytes' | 'httpsOnly']: FileOptions[Key] | undefined },
): FileSource => ({
  medium,
  inline: given.inline ?? [],
  maxInlineBytes: given.maxInlineBytes ?? GENERAL_IMAGE_MAX_BYTES,
  httpsOnly: given.httpsOnly ?? false,
});

type WithoutBase<Line> = Line extends Field
  ? Omit<Line, 'name' | 'required' | 'default' | 'defaultModes' | 'note'>
  : never;

/** The decorator itself: it writes the line into the class's table and puts the matching class-validator checks on the property. */
function line(shape: WithoutBase<Field>, options: Options<JsonValue>): PropertyDecorator {
  return (prototype, property) => {
    const field: Field = { ...shape, ...options, required: options.required ?? false, name: String(property) };
    addField(prototype.constructor, field);
    for (const decorate of validatorsOf(field)) decorate(prototype, property);
  };
}

/** The class-validator decorators that say the same as a line of a field table. */
function validatorsOf(field: Field): PropertyDecorator[] {
  return [field.required ? IsDefined() : IsOptional(), ...valueValidators(field)];
}

function valueValidators(field: Field): PropertyDecorator[] {
  switch (field.kind) {
    case 'choice':
      return [IsIn([...field.spellings.keys()])];
    case 'text':
      return [IsString(), ...(field.required ? [Matches(VISIBLE)] : []), MaxCharacters(field.max), Storable()];
    case 'whole':
      return [IsInt(), Min(field.min), Max(field.max)];
    case 'flag':
      return [IsBoolean()];
    case 'file':
      return [IsString(), IsFileSource(field.source, false)];
    case 'files':
      return [...listValidators(field), IsString({ each: true }), IsFileSource(field.source, true)];
    case 'object':
      return [IsObject(), ValidateNested(), Type(() => field.item)];
    default:
      return [
        ...listValidators(field),
        IsObject({ each: true }),
        ValidateNested({ each: true }),
        Type(() => field.item),
      ];
  }
}

const listValidators = ({ min, max }: { min: number; max: number }) => [
  IsArray(),
  ArrayMinSize(min),
  ArrayMaxSize(max),
];

/** `MaxLength` of class-validator leaves variation selectors out of the count; the limits count every character. */
const MaxCharacters = (max: number) =>
  ValidateBy({
    name: 'maxCharacters',
    constraints: [max],
    validator: {
      validate: (value: unknown) => typeof value === 'string' && hasAtMostCharacters(value, max),
      defaultMessage: () => `$property must be at most ${max} characters long`,
    },
  });

const Storable = () =>
  ValidateBy({
    name: 'storable',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isStorable(value),
      defaultMessage: () => '$property must hold neither NUL nor unpaired surrogates',
    },
  });

const IsFileSource = (source: FileSource, each: boolean) =>
  ValidateBy(
    {
      name: 'isFileSource',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && wrongSource(value, source) === null,
        defaultMessage: () => `$property must be ${allowedSource(source)}`,
      },
    },
    { each },
  );
