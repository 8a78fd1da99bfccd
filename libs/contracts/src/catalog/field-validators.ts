import 'reflect-metadata';
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
import type { Field, FileSource } from './field.js';
import { allowedSource, wrongSource } from './file-source.js';
import { hasAtMostCharacters, isStorable, VISIBLE } from '../unicode-text.js';

/** The class-validator decorators that say the same as a line of a field table. */
export function validatorsOf(field: Field): PropertyDecorator[] {
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
