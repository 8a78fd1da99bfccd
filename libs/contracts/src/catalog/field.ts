import type { JsonValue } from '../json.js';

/** Values a list of choices may hold. */
export type Scalar = string | number | boolean;

/** File types a data URI may carry. */
export type InlineFormat = 'png' | 'jpeg' | 'webp' | 'gif';

/** A class whose decorated properties are a field table. */
export type FieldTableClass<Shape extends object = object> = new () => Shape;

interface FieldBase {
  /** The wire name. */
  readonly name: string;
  readonly required: boolean;
  /** Filled in after the rules have looked at what was sent. */
  readonly default?: JsonValue;
  /** The modes in which the default is filled in; absent means every mode. */
  readonly defaultModes?: readonly string[];
  /** One or two sentences for readers of the schema and the field table. */
  readonly note?: string;
}

/** One of a fixed list of values. */
export interface ChoiceField extends FieldBase {
  readonly kind: 'choice';
  /** The documented spellings. */
  readonly values: readonly Scalar[];
  /** Accepted spelling -> documented spelling: `720P` -> `720p` where the letter case is forgiven. */
  readonly spellings: ReadonlyMap<Scalar, Scalar>;
}

/** Free text. `max` counts Unicode characters, not bytes and not UTF-16 units. */
export interface TextField extends FieldBase {
  readonly kind: 'text';
  readonly max: number;
}

/** A whole number, bounds inclusive. */
export interface WholeField extends FieldBase {
  readonly kind: 'whole';
  readonly min: number;
  readonly max: number;
}

/** True or false. */
export interface FlagField extends FieldBase {
  readonly kind: 'flag';
}

/** What may stand where a file is pointed at. */
export interface FileSource {
  readonly medium: 'image' | 'video' | 'audio';
  /** Image types accepted as a data URI; empty where only URLs are. */
  readonly inline: readonly InlineFormat[];
  /** Largest decoded size of a data URI, in bytes. */
  readonly maxInlineBytes: number;
  /** Whether plain http is refused. */
  readonly httpsOnly: boolean;
}

export interface FileField extends FieldBase {
  readonly kind: 'file';
  readonly source: FileSource;
}

/** Several files, in order. */
export interface FilesField extends FieldBase {
  readonly kind: 'files';
  readonly source: FileSource;
  readonly min: number;
  readonly max: number;
}

/** One object with a field table of its own. */
export interface ObjectField extends FieldBase {
  readonly kind: 'object';
  readonly item: FieldTableClass;
}

/** Several such objects, in order. */
export interface ObjectsField extends FieldBase {
  readonly kind: 'objects';
  readonly item: FieldTableClass;
  readonly min: number;
  readonly max: number;
}

/** One line of a field table. */
export type Field =
  ChoiceField | TextField | WholeField | FlagField | FileField | FilesField | ObjectField | ObjectsField;

const TABLES = new WeakMap<object, Field[]>();

/** Adds a line to the table of a class; lines keep the order of the properties. */
export function addField(table: object, field: Field): void {
  const fields = TABLES.get(table);
  if (fields) fields.push(field);
  else TABLES.set(table, [field]);
}

/**
 * The field table of a class.
 *
 * @throws RangeError when the class has no decorated property.
 */
export function fieldsOf(table: FieldTableClass): readonly Field[] {
  const fields = TABLES.get(table);
  if (!fields) throw new RangeError(`${table.name} has no fields`);
  return fields;
}
