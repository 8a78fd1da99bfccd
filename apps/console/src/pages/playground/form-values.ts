import type { ConsoleModel, JsonObject, JsonValue, ModelField } from '../../api/types';

/** The chosen values; untouched fields are absent and get the default of the model. */
export type FormValues = Readonly<Record<string, JsonValue>>;

/** Fields of the request itself, in the order of a form; fields inside of objects belong to their object. */
export const topFields = (model: ConsoleModel): ModelField[] =>
  model.fields
    .filter(({ name }) => name !== 'model' && !/[.[]/.test(name))
    .sort((one, other) => one.order - other.order);

/** The fields of the objects that a field lists or is. */
export const innerFields = (model: ConsoleModel, { name }: ModelField): ModelField[] =>
  model.fields.filter((field) => field.name.startsWith(`${name}[].`) || field.name.startsWith(`${name}.`));

export const choicesOf = ({ schema }: Pick<ModelField, 'schema'>): readonly JsonValue[] | null =>
  Array.isArray(schema['enum']) ? schema['enum'] : null;

/** Whether there is anything to decide: a single choice that may be left out is none. */
export const isDecision = (field: ModelField): boolean => field.required || choicesOf(field)?.length !== 1;

/** A value as text: words as they are, anything else as JSON. */
export const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Whether a number lies within bounds; a bound that is not a number is none. */
const within = (value: number, least: JsonValue | undefined, most: JsonValue | undefined): boolean =>
  !(typeof least === 'number' && value < least) && !(typeof most === 'number' && value > most);

/** Whether a value may be given for a field, as far as its type and choices tell; the server decides on the rest. */
export function fits(field: ModelField, value: JsonValue): boolean {
  const choices = choicesOf(field);
  if (choices) return choices.includes(value);
  const { type, minimum, maximum, maxItems, maxLength } = field.schema;
  if (type === 'boolean') return typeof value === 'boolean';
  if (type === 'integer') return Number.isInteger(value) && within(value as number, minimum, maximum);
  if (type === 'array') return Array.isArray(value) && within(value.length, 0, maxItems);
  if (type === 'string') return typeof value === 'string' && within(value.length, 0, maxLength);
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The values that a model takes, and the names of those that it does not.
 *
 * @param typed the fields that were changed since the model was chosen: a number that does not fit stays there as it was typed.
 */
export function valuesFor(
  model: ConsoleModel,
  values: FormValues,
  typed: ReadonlySet<string>,
): { readonly kept: FormValues; readonly dropped: string[] } {
  const fields = new Map(topFields(model).map((field) => [field.name, field]));
  const entries = Object.entries(values);
  const isTaken = ([name, value]: [string, JsonValue]) => {
    const field = fields.get(name);
    return field !== undefined && (fits(field, value) || (typed.has(name) && typeof value === 'number'));
  };
  return {
    kept: Object.fromEntries(entries.filter(isTaken)),
    dropped: entries.filter((entry) => !isTaken(entry)).map(([name]) => name),
  };
}

const isEmpty = (value: JsonValue): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

export const bodyOf = (model: ConsoleModel, values: FormValues): JsonObject => ({
  model: model.id,
  ...Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value))),
});

/** Fields whose values are the user's text or files: kept out of the URL, which ends up in histories and logs. */
const isPrivate = (field: ModelField): boolean =>
  field.schema['type'] !== 'boolean' && field.schema['type'] !== 'integer' && choicesOf(field) === null;

export function toAddress(model: ConsoleModel, values: FormValues): Record<string, string> {
  const shared = topFields(model).filter((field) => !isPrivate(field) && values[field.name] !== undefined);
  return { model: model.id, ...Object.fromEntries(shared.map(({ name }) => [name, textOf(values[name] ?? null)])) };
}

export function fromAddress(model: ConsoleModel, address: Readonly<Record<string, string>>): FormValues {
  return Object.fromEntries(
    topFields(model).flatMap((field) => {
      const text = address[field.name];
      if (text === undefined) return [];
      const value = [text, readJson(text)].find((each) => each !== undefined && fits(field, each));
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
