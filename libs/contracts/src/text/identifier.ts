import { isStorable } from '../unicode-text.js';
import type { FieldCheck } from './body-check.js';
import { all, text } from './field-checks.js';

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
