import type { ErrorCode, FieldError } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { nearestName } from '../nearest-name.js';
import { excerpt, hasAtMostCharacters, isStorable, VISIBLE } from '../unicode-text.js';
import {
  type ChoiceField,
  type Field,
  fieldsOf,
  type FieldTableClass,
  type FileSource,
  type TextField,
  type WholeField,
} from './field.js';
import { wrongSource } from './file-source.js';

/** An object as JSON.parse makes them: nothing is known yet about its members. */
export type UncheckedObject = Readonly<Record<string, unknown>>;

/**
 * Checks one value. Returns the value to pass on (documented spelling), or undefined when it counts as absent.
 * What is wrong goes to `errors` under `param`; the answer then means nothing.
 */
type Check = (value: unknown, param: string, errors: FieldErrors) => JsonValue | undefined;

/** A field table compiled once, at startup, so that checking a request only compares. */
interface TableCheck {
  /**
   * Checks an object against the table; `prefix` is before field names in errors.
   * `broken` names the fields whose value was wrong: rules that read them would judge invalid values.
   */
  readonly check: (
    given: UncheckedObject,
    prefix: string,
    errors: FieldErrors,
  ) => { readonly sent: JsonObject; readonly broken: ReadonlySet<string> };
  /** The same values with the defaults of the mode filled in, nested objects included. */
  readonly fill: (sent: JsonObject, mode: string) => JsonObject;
}

/** @param model compiles the table as this model of the family has it. */
export function compileTable(table: FieldTableClass, model?: string): TableCheck {
  const lines = fieldsOf(table, model).map(compileLine);
  const names = lines.map(({ field }) => field.name);
  const known = new Set(names);

  return {
    check(given, prefix, errors) {
      for (const name of Object.keys(given)) {
        if (errors.isFull) break;
        if (!known.has(name)) refuseUnknown(name, prefix, { names, given }, errors);
      }
      const broken = new Set<string>();
      const sent: Record<string, JsonValue> = {};
      const missing: string[] = [];
      for (const { field, check } of lines) {
        const value = given[field.name];
        if (value === undefined || value === null) {
          if (field.required) missing.push(prefix + field.name);
          continue;
        }
        const before = errors.count;
        const checked = check(value, prefix + field.name, errors);
        if (errors.count > before) broken.add(field.name);
        else if (checked !== undefined) sent[field.name] = checked;
      }
      for (const param of missing) errors.add(param, `${param} is required.`, 'missing_parameter');
      return { sent, broken };
    },
    fill(sent, mode) {
      const filled: Record<string, JsonValue> = {};
      for (const { field, nested } of lines) {
        const value = sent[field.name] ?? defaultOf(field, mode);
        if (value !== undefined) filled[field.name] = nested ? fillNested(nested, value, mode) : value;
      }
      return filled;
    },
  };
}

const defaultOf = (field: Field, mode: string) =>
  field.defaultModes === undefined || field.defaultModes.includes(mode) ? field.default : undefined;

const fillNested = (table: TableCheck, value: JsonValue, mode: string): JsonValue =>
  Array.isArray(value)
    ? value.map((item: JsonObject) => table.fill(item, mode))
    : table.fill(value as JsonObject, mode);

/** Longest field name repeated in a refusal, in UTF-16 units. */
const LONGEST_NAME = 64;

/** Where a task is announced, which is read before the fields of its model. */
const OF_EVERY_MODEL = 'webhook_url';

function refuseUnknown(
  name: string,
  prefix: string,
  { names, given }: { readonly names: readonly string[]; readonly given: UncheckedObject },
  errors: FieldErrors,
): void {
  const param = prefix + excerpt(name, LONGEST_NAME);
  const taken = prefix === '' ? [...names, OF_EVERY_MODEL] : names;
  const nearest = nearestName(
    name,
    taken.filter((known) => given[known] === undefined),
  );
  const advice = nearest ? ` Did you mean ${prefix}${nearest}?` : ` Known fields: ${taken.join(', ')}.`;
  errors.add(param, `${param} is not a field of this model.${advice}`, 'unknown_parameter');
}

interface Line {
  readonly field: Field;
  readonly check: Check;
  /** The table of the objects the field holds. */
  readonly nested?: TableCheck;
}

function compileLine(field: Field): Line {
  if (field.kind !== 'object' && field.kind !== 'objects') return { field, check: plainCheck(field) };
  const nested = compileTable(field.item);
  const check = objectCheck(nested);
  return { field, nested, check: field.kind === 'object' ? check : listCheck(field, check) };
}

function plainCheck(field: Exclude<Field, { kind: 'object' | 'objects' }>): Check {
  switch (field.kind) {
    case 'choice':
      return choiceCheck(field);
    case 'text':
      return textCheck(field);
    case 'whole':
      return wholeCheck(field);
    case 'flag':
      return flagCheck;
    case 'file':
      return fileCheck(field.source);
    default:
      return listCheck(field, fileCheck(field.source));
  }
}

/** What to do about a number or a truth value in quotes, the most common mistake of all. */
const UNQUOTE = ' Send it without quotes.';

export const unquote = (value: unknown, looksRight: RegExp): string =>
  typeof value === 'string' && looksRight.test(value.slice(0, 40)) ? UNQUOTE : '';

export const NUMBER_IN_QUOTES = /^\s*-?\d+(\.\d+)?\s*$/;
export const FLAG_IN_QUOTES = /^\s*(true|false)\s*$/i;

/** A field in a sentence; one that other models of the family take more in is named with its model. */
const subject = (param: string, narrowedTo: string | undefined): string =>
  narrowedTo === undefined ? param : `${param} of ${narrowedTo}`;

const choiceCheck = ({ values, spellings, narrowedTo }: ChoiceField): Check => {
  const inQuotes = new Set<unknown>(values.filter((value) => typeof value !== 'string').map(String));
  return (value, param, errors) => {
    const spelled = spellings.get(value as string);
    if (spelled === undefined) {
      const advice = inQuotes.has(value) ? UNQUOTE : '';
      const field = subject(param, narrowedTo);
      errors.add(param, `${field} must be ${alternatives(values)}, not ${quote(value)}.${advice}`);
    }
    return spelled;
  };
};

const textCheck = ({ max, required }: TextField): Check => {
  return (value, param, errors) => {
    if (typeof value !== 'string') {
      errors.add(param, `${param} must be a string, not ${quote(value)}.`);
    } else if (required && !VISIBLE.test(value)) {
      errors.add(param, `${param} must not be empty.`);
    } else if (!hasAtMostCharacters(value, max)) {
      errors.add(param, `${param} must be at most ${max} characters long.`);
    } else if (!isStorable(value)) {
      errors.add(param, `${param} must be well-formed Unicode without NUL characters.`);
    } else {
      return value;
    }
    return undefined;
  };
};

const wholeCheck = ({ min, max, narrowedTo }: WholeField): Check => {
  return (value, param, errors) => {
    // What is stored and sent on is JSON, which has no -0.
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value || 0;
    const rule = `${subject(param, narrowedTo)} must be a whole number from ${min} to ${max}`;
    errors.add(param, `${rule}, not ${quote(value)}.${unquote(value, NUMBER_IN_QUOTES)}`);
    return undefined;
  };
};

const flagCheck: Check = (value, param, errors) => {
  if (typeof value === 'boolean') return value;
  errors.add(param, `${param} must be true or false, not ${quote(value)}.${unquote(value, FLAG_IN_QUOTES)}`);
  return undefined;
};

const fileCheck = (source: FileSource): Check => {
  return (value, param, errors) => {
    if (typeof value !== 'string') {
      errors.add(param, `${param} must be a string, not ${quote(value)}.`);
      return undefined;
    }
    const wrong = wrongSource(value, source);
    if (wrong === null) return value;
    errors.add(param, `${param} ${wrong}.`);
    return undefined;
  };
};

const objectCheck = (table: TableCheck): Check => {
  return (value, param, errors) => {
    if (isJsonObject(value)) return table.check(value, `${param}.`, errors).sent;
    errors.add(param, `${param} must be an object, not ${quote(value)}.`);
    return undefined;
  };
};

const listCheck = ({ min, max }: { min: number; max: number }, checkItem: Check): Check => {
  const allowed = min === max ? `exactly ${min}` : min > 0 ? `${min} to ${max}` : `at most ${max}`;
  return (value, param, errors) => {
    if (!Array.isArray(value)) {
      errors.add(param, `${param} must be an array, not ${quote(value)}.`);
      return undefined;
    }
    if (value.length < min || value.length > max) {
      errors.add(param, `${param} must hold ${allowed} ${max === 1 ? 'entry' : 'entries'}, not ${value.length}.`);
      return undefined;
    }
    if (value.length === 0) return undefined;
    const items: JsonValue[] = [];
    value.forEach((item: unknown, index) => {
      const checked = checkItem(item, `${param}[${index}]`, errors);
      if (checked !== undefined) items.push(checked);
    });
    return items;
  };
};

/** Most errors listed for one request; the rest shows once these are fixed. */
const MAX_LISTED_ERRORS = 50;

const LONGEST_QUOTE = 60;

/** Collects what is wrong with a request, in the order in which it was found. */
export class FieldErrors {
  readonly list: FieldError[] = [];
  /** All errors found, those beyond the list included. */
  count = 0;

  /** True when further errors are only counted, so that no message is built for them. */
  get isFull(): boolean {
    return this.list.length >= MAX_LISTED_ERRORS;
  }

  add(param: string, message: string, code: ErrorCode = 'invalid_parameter'): void {
    this.count += 1;
    if (!this.isFull) this.list.push({ param, code, message });
  }
}

/** Writes a caller's value for a message: JSON, cut after 60 characters. */
export function quote(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  // Cut before JSON.stringify, so that a megabyte of text costs nothing.
  const text = JSON.stringify(typeof value === 'string' ? excerpt(value, LONGEST_QUOTE) : value);
  return typeof value === 'string' && value.length > LONGEST_QUOTE ? `${text.slice(0, -1)}…"` : text;
}

/** Joins values as a sentence does: "5, 10 or 15". */
export function alternatives(values: readonly unknown[]): string {
  const texts = values.map(String);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}
