import { FLAG_IN_QUOTES, NUMBER_IN_QUOTES, quote, unquote } from '../catalog/field-check.js';
import { isJsonObject } from '../json.js';
import { isStorable } from '../unicode-text.js';
import { checkFields, type FieldCheck, Required } from './body-check.js';
import { base64Data } from './image-checks.js';

type BodyClass = abstract new () => unknown;

const list = (words: readonly string[]): string => words.map((word) => JSON.stringify(word)).join(', ');
const oneOf = (words: readonly string[]): string => (words.length === 1 ? list(words) : `one of ${list(words)}`);

/**
 * Text of at least `min` and at most `max` UTF-16 units. It may hold NUL and halves of surrogate pairs, as the output of
 * tools does: those are replaced where the text is translated or stored, and left alone where it passes through.
 */
export function text({ min = 0, max = Number.POSITIVE_INFINITY }: { min?: number; max?: number } = {}): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'string') report(param, 'invalid_parameter', `${param} must be a string.`);
    else if (value.length < min) report(param, 'invalid_parameter', `${param} must not be empty.`);
    else if (value.length > max)
      report(param, 'invalid_parameter', `${param} may have at most ${max} characters; it has ${value.length}.`);
  };
}

/** A number between two bounds, both allowed; a number in quotes is refused. */
export function number(min: number, max: number): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'number' || value < min || value > max)
      report(
        param,
        'invalid_parameter',
        `${param} must be a number from ${min} to ${max}.${unquote(value, NUMBER_IN_QUOTES)}`,
      );
  };
}

/** A whole number between two bounds, both allowed; 5.0 counts as 5. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER): FieldCheck {
  const allowed = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value, param, report) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
      report(
        param,
        'invalid_parameter',
        `${param} must be a whole number ${allowed}.${unquote(value, NUMBER_IN_QUOTES)}`,
      );
  };
}

/** The most tokens a request may name: beyond every model, and far below what no balance could hold. */
const MOST_TOKENS = 2_147_483_647;

/** A number of tokens that may be charged. */
export const tokens = (min = 1): FieldCheck => whole(min, MOST_TOKENS);

/** true or false, not in quotes. */
export function flag(): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'boolean')
      report(param, 'invalid_parameter', `${param} must be true or false.${unquote(value, FLAG_IN_QUOTES)}`);
  };
}

/** One of these words, letter for letter. */
export function choice(words: readonly string[]): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'string' || !words.includes(value))
      report(param, 'invalid_parameter', `${param} must be ${oneOf(words)}.`);
  };
}

/** A JSON object whose inside is not ours to judge. */
export function jsonObject(): FieldCheck {
  return (value, param, report) => {
    if (!isJsonObject(value)) report(param, 'invalid_parameter', `${param} must be a JSON object.`);
  };
}

export function object(type: BodyClass): FieldCheck {
  return (value, param, report) => {
    if (isJsonObject(value)) checkFields(type, value, param, report);
    else report(param, 'invalid_parameter', `${param} must be a JSON object.`);
  };
}

/** An array whose every item passes `item`. */
export function listOf(item: FieldCheck, { min = 0, max }: { min?: number; max?: number } = {}): FieldCheck {
  return (value, param, report) => {
    if (!Array.isArray(value)) return report(param, 'invalid_parameter', `${param} must be an array.`);
    if (value.length < min)
      report(param, 'invalid_parameter', `${param} must hold at least ${min} ${min === 1 ? 'item' : 'items'}.`);
    if (max !== undefined && value.length > max)
      report(param, 'invalid_parameter', `${param} must hold at most ${max} items; it holds ${value.length}.`);
    value.forEach((entry: unknown, index) => item(entry, `${param}[${index}]`, report));
  };
}

/** Any text, or else an array that `otherwise` accepts. */
export function stringOr(otherwise: FieldCheck, expected: string): FieldCheck {
  const string = text();
  return (value, param, report) => {
    if (typeof value === 'string') return string(value, param, report);
    if (!Array.isArray(value)) return report(param, 'invalid_parameter', `${param} must be a string or ${expected}.`);
    otherwise(value, param, report);
  };
}

/**
 * An object whose `type` says of which class it is. A type that is not listed passes through when `others` is
 * `pass-through` (an upstream of the same protocol may know it) and is refused otherwise.
 */
export function variants(
  types: Readonly<Record<string, BodyClass>>,
  { absent, others = 'refuse' }: { absent?: string; others?: 'refuse' | 'pass-through' } = {},
): FieldCheck {
  const names = Object.keys(types);
  const allowed = others === 'refuse' ? `be ${oneOf(names)}` : `be a string, for example ${list(names)}`;
  return (value, param, report) => {
    if (!isJsonObject(value)) return report(param, 'invalid_parameter', `${param} must be a JSON object.`);
    const type = value['type'] ?? absent;
    if (type === undefined || type === null)
      return report(`${param}.type`, 'missing_parameter', `${param}.type is required and must ${allowed}.`);
    const known = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
    if (known) checkFields(known, value, param, report);
    else if (others === 'refuse' || typeof type !== 'string')
      report(`${param}.type`, 'invalid_parameter', `${param}.type must ${allowed}; it is ${quote(type)}.`);
  };
}

/** A field this gateway cannot honour whatever the upstream; `allowed` is the one value that changes nothing. */
export function unsupported(reason: string, allowed?: unknown): FieldCheck {
  return (value, param, report) => {
    if (value !== allowed) report(param, 'unsupported_parameter', `${param} is not supported: ${reason}`);
  };
}

export function all(...checks: readonly FieldCheck[]): FieldCheck {
  return (value, param, report) => {
    for (const check of checks) check(value, param, report);
  };
}

/** The longest identifier of a stored response or item, in characters. */
const MAX_CHARACTERS = 256;

/** A field that names a stored response or item. */
export const identifier = (): FieldCheck => all(text({ min: 1, max: MAX_CHARACTERS }), storable);

const storable: FieldCheck = (value, param, report) => {
  if (typeof value === 'string' && !isStorable(value))
    report(param, 'invalid_parameter', `${param} must not contain NUL characters or lone halves of surrogate pairs.`);
};

/** True for what can be the identifier of a stored response or item. */
export const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_CHARACTERS && isStorable(value);

class InputAudio {
  @Required(base64Data()) data!: string;
  /** `wav` and `mp3` at every vendor that listens. */
  @Required(text({ min: 1, max: 32 })) format!: string;
}

/** A sound inside the request, as chat completions and responses both write it. */
export class AudioPart {
  @Required(object(InputAudio)) input_audio!: InputAudio;
}
