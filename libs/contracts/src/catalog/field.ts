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
  /** The model that this line is of, where its family takes more. */
  readonly narrowedTo?: string;
}

/** One of a fixed list of values. */
export interface ChoiceField extends FieldBase {
  readonly kind: 'choice';
  /** The documented spellings. */
  readonly values: readonly Scalar[];
  /** Accepted spelling -> documented spelling: `720P` -> `720p` where the letter case is forgiven. */
  readonly spellings: ReadonlyMap<Scalar, Scalar>;
  /** What single models take, where that is less. */
  readonly only?: Readonly<Record<string, Pick<ChoiceField, 'values' | 'spellings'>>>;
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
  /** The bounds of single models, where they are narrower. */
  readonly only?: Readonly<Record<string, Partial<Pick<WholeField, 'min' | 'max'>>>>;
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
 * The field table of a class, or as one model of its family has it.
 *
 * @throws RangeError when the class has no decorated property.
 */
export function fieldsOf(table: FieldTableClass, model?: string): readonly Field[] {
  const fields = TABLES.get(table);
  if (!fields) throw new RangeError(`${table.name} has no fields`);
  return model === undefined ? fields : fields.map((field) => narrowed(field, model));
}

function narrowed(field: Field, model: string): Field {
  if (field.kind === 'choice' && field.only?.[model]) return { ...field, ...field.only[model], narrowedTo: model };
  if (field.kind === 'whole' && field.only?.[model]) return { ...field, ...field.only[model], narrowedTo: model };
  return field;
}
