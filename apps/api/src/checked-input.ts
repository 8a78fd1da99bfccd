import { type FieldError, GatewayError, isStorable, type Micros, parseMicros } from '#contracts';
import { fieldsOf, ruleOf } from '#platform';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

const SHOWN_CHARACTERS_MAX = 80;

/**
 * Reads a body or a query as a class of checked fields.
 *
 * @throws GatewayError `invalid_parameter` or `unknown_parameter`, with every wrong field.
 */
export function checked<Input extends object>(inputClass: new () => Input, sent: unknown): Input {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
  }
  refuseUnstorable(sent as Readonly<Record<string, unknown>>);
  const input = plainToInstance(inputClass, sent, { exposeDefaultValues: true });
  const errors = validateSync(input, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  const [first, ...rest] = errors.map((error) => toFieldError(error, inputClass));
  if (first) throw GatewayError.fromFields([first, ...rest]);
  return input;
}

/** @throws GatewayError `invalid_parameter` naming the first field in which, or in whose name, a text is none. */
function refuseUnstorable(fields: Readonly<Record<string, unknown>>, within?: string): void {
  for (const [name, value] of Object.entries(fields)) {
    const param = within ?? name;
    if (!isStorable(name) || (typeof value === 'string' && !isStorable(value)))
      throw new GatewayError('invalid_parameter', `${param} must hold no NUL and no half of a character.`, { param });
    if (typeof value === 'object' && value !== null) refuseUnstorable(value as Record<string, unknown>, param);
  }
}

/**
 * A body whose name was given. Where a change may leave the name as it is, the checks of a new thing inherit that.
 *
 * @throws GatewayError `missing_parameter`.
 */
export function named<Body extends { readonly name?: string }>(body: Body): Body & { readonly name: string } {
  const { name } = body;
  if (name !== undefined) return { ...body, name };
  throw new GatewayError('missing_parameter', 'name is missing: it must be a text of 1 to 200 characters.', {
    param: 'name',
  });
}

function toFieldError(error: ValidationError, inputClass: new () => object): FieldError {
  const { property, constraints = {}, value } = error;
  if ('whitelistValidation' in constraints) {
    const message = `${property} is not a field of this request: ${fieldsOf(inputClass).join(', ')}.`;
    return { param: property, code: 'unknown_parameter', message };
  }
  if (value === undefined) {
    return { param: property, code: 'missing_parameter', message: `${property} is missing: it ${ruleOf(error)}.` };
  }
  return { param: property, code: 'invalid_parameter', message: `${property} ${ruleOf(error)}${notGiven(value)}.` };
}

/** What was given, when it is short enough to be read. */
function notGiven(value: unknown): string {
  const shown = JSON.stringify(value);
  return shown === undefined || shown.length > SHOWN_CHARACTERS_MAX ? '' : `, not ${shown}`;
}

/**
 * Reads an amount, written as a decimal text so that no digit is lost.
 *
 * @throws GatewayError `invalid_parameter`.
 */
export function amountOf(text: string, param: string): Micros {
  try {
    return parseMicros(text);
  } catch (error) {
    throw new GatewayError(
      'invalid_parameter',
      `${param} must be a decimal text such as "10.50" with at most six places, and at most 9223372036854.775807.`,
      { param, cause: error },
    );
  }
}

/** As `amountOf`, and not below zero. */
export function positiveAmountOf(text: string, param: string): Micros {
  const amount = amountOf(text, param);
  if (amount < 0n) throw new GatewayError('invalid_parameter', `${param} must not be below 0.`, { param });
  return amount;
}
