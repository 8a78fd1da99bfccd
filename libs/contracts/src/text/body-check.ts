import { getMetadataStorage, ValidateBy } from 'class-validator';
import type { ErrorCode, FieldError } from '../errors.js';
import { isJsonObject } from '../json.js';
import { KnownNames } from './use-names.js';

/** A rule for each character of a long text, to be checked a piece at a time. */
export interface LongTextRule {
  readonly param: string;
  readonly text: string;
  /** Finds a character that breaks it. */
  readonly wrong: RegExp;
  readonly message: string;
}

/** Takes note of what a check found. */
export interface Report {
  (param: string, code: ErrorCode, message: string): void;
  /** A rule that would take long to check; absent where everything is to be checked at once. */
  readonly later?: (rule: LongTextRule) => void;
}

/** Checks one value and reports every rule it breaks. `param` is the full path in the caller's spelling, `input[0].role`. */
export type FieldCheck = (value: unknown, param: string, report: Report) => void;

type BodyClass<T> = abstract new () => T;

interface CheckedField {
  readonly name: string;
  readonly check: FieldCheck;
  readonly required: boolean;
}

const CHECK_NAME = 'field-check';

function firstBrokenRule(check: FieldCheck, value: unknown, param: string): string | undefined {
  let first: string | undefined;
  check(value, param, (_param, _code, message) => {
    first ??= message;
  });
  return first;
}

function field(check: FieldCheck, required: boolean): PropertyDecorator {
  const absent = (value: unknown): boolean => value === undefined || value === null;
  return ValidateBy({
    name: CHECK_NAME,
    constraints: [check, required],
    validator: {
      validate: (value) => (absent(value) ? !required : firstBrokenRule(check, value, '') === undefined),
      defaultMessage: (sent) =>
        absent(sent?.value)
          ? missing(sent?.property ?? 'field')
          : (firstBrokenRule(check, sent?.value, sent?.property ?? 'field') ?? ''),
    },
  });
}

const missing = (param: string): string => `${param} is required.`;

/** A field that must be there; null counts as missing. A class-validator decorator like any other. */
export const Required = (check: FieldCheck): PropertyDecorator => field(check, true);

/** A field that may be missing; null counts as missing. */
export const Optional = (check: FieldCheck): PropertyDecorator => field(check, false);

interface CompiledClass {
  readonly fields: readonly CheckedField[];
  readonly names: KnownNames;
}

const compiled = new WeakMap<object, CompiledClass>();

/** Reads a class's decorators once: class-validator itself searches them on every call, which costs ten times the check. */
function compiledOf(type: BodyClass<unknown>): CompiledClass {
  const known = compiled.get(type);
  if (known) return known;
  const fields = getMetadataStorage()
    .getTargetValidationMetadatas(type, '', false, false)
    .filter((metadata) => metadata.name === CHECK_NAME)
    .map((metadata) => ({
      name: metadata.propertyName,
      check: metadata.constraints[0] as FieldCheck,
      required: metadata.constraints[1] as boolean,
    }));
  // Objects of several classes say by their type of which they are.
  const made = { fields, names: new KnownNames([...fields.map(({ name }) => name), 'type']) };
  compiled.set(type, made);
  return made;
}

/**
 * Checks the decorated fields of `type` on a plain JSON object. Fields the class does not know are left alone, unless they
 * differ from another only in letter case: an upstream may take them for that one.
 */
export function checkFields(type: BodyClass<unknown>, value: object, path: string, report: Report): void {
  const body = value as Record<string, unknown>;
  const { fields, names } = compiledOf(type);
  names.expectOneSpelling(body, path, report);
  for (const { name, check, required } of fields) {
    const sent = body[name];
    const isAbsent = sent === undefined || sent === null;
    // Most fields are left out, in each of many messages: no path is written for them.
    if (isAbsent && !required) continue;
    const param = path === '' ? name : `${path}.${name}`;
    if (isAbsent) report(param, 'missing_parameter', `${missing(param)}${whatToSend(param, body)}`);
    else check(sent, param, report);
  }
}

/** A body can break a rule in each of a hundred thousand places; only some of them are listed. */
const ERRORS_MAX = 100;

/**
 * The broken rules of a body, at most 100, in the order of the class's fields; empty when the body is of the class's shape.
 *
 * @param later receives the rules of long texts, which are then not checked here.
 */
export function checkBody(
  type: BodyClass<unknown>,
  body: unknown,
  later?: (rule: LongTextRule) => void,
): readonly FieldError[] {
  if (!isJsonObject(body))
    return [{ param: 'body', code: 'invalid_json', message: 'The request body must be a JSON object.' }];
  const errors: FieldError[] = [];
  const report = (param: string, code: ErrorCode, message: string): void => {
    if (errors.length < ERRORS_MAX) errors.push({ param, code, message });
  };
  checkFields(type, body, '', later ? Object.assign(report, { later }) : report);
  return errors;
}

/** Accepts anything: for fields that only pass through. */
export const anything: FieldCheck = () => {};

/** The field that a conversation is in, and where it is taken. */
const CONVERSATION_FIELDS = {
  input: 'POST /v1/responses',
  messages: 'POST /v1/chat/completions and POST /v1/messages',
  contents: 'POST /v1beta/models/{model}:generateContent',
} as const;

const whatToSend = (param: string, body: Readonly<Record<string, unknown>>): string =>
  param === 'model' ? ' GET /v1/models lists all.' : otherConversation(param, body);

/** Where another style's field was sent in place of this one: which paths take it. Empty in all other cases. */
export function otherConversation(param: string, body: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(CONVERSATION_FIELDS, param)) return '';
  const sent = Object.entries(CONVERSATION_FIELDS).find(([field]) => field !== param && body[field] != null);
  return sent ? ` ${sent[0]} is the field of ${sent[1]}.` : '';
}
