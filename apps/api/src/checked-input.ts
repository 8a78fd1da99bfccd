import { Body, type PipeTransform, Query } from '@nestjs/common';
import { type FieldError, GatewayError, type Micros, parseMicros, STORABLE_RULE, unstorableField } from '#contracts';
import { fieldsOf, inheritedNameIn, optionalFieldsOf, ruleOf } from '#platform';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

const SHOWN_CHARACTERS_MAX = 80;

/**
 * Reads a body or a query as a class of checked fields. An optional field that is null is one that was left out.
 *
 * @throws GatewayError `invalid_parameter` or `unknown_parameter`, with every wrong field.
 */
export function checked<Input extends object>(inputClass: new () => Input, sent: unknown): Input {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
  }
  refuseUnstorable(sent);
  refuseInheritedNames(sent, inputClass);
  const input = plainToInstance(inputClass, sent, { exposeDefaultValues: true });
  const errors = validateSync(input, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  const [first, ...rest] = errors.map((error) => toFieldError(error, inputClass, sent));
  if (first) throw GatewayError.fromFields([first, ...rest]);
  return withoutNulls(input, inputClass);
}

function withoutNulls<Input extends object>(input: Input, inputClass: new () => Input): Input {
  const nulls = Object.entries(input).filter(([, value]) => value === null);
  if (nulls.length === 0) return input;
  const optional = optionalFieldsOf(inputClass);
  const leftOut = nulls.filter(([name]) => optional.has(name)).map(([name]) => [name, undefined]);
  return Object.assign(input, Object.fromEntries(leftOut));
}

export const CheckedBody = (inputClass: new () => object): ParameterDecorator => Body(checking(inputClass));
export const CheckedQuery = (inputClass: new () => object): ParameterDecorator => Query(checking(inputClass));

const checking = (inputClass: new () => object): PipeTransform => ({ transform: (sent) => checked(inputClass, sent) });

/** @throws GatewayError `unknown_parameter`. */
function refuseInheritedNames(sent: object, inputClass: new () => object): void {
  const path = inheritedNameIn(sent);
  if (!path) return;
  const [param = ''] = path;
  throw GatewayError.fromFields([
    path.length === 1
      ? unknownField(param, inputClass)
      : { param, code: 'unknown_parameter', message: `${param} must not hold a field named ${path.at(-1)}.` },
  ]);
}

/** @throws GatewayError `invalid_parameter` naming the first field in which, or in whose name, a text is none. */
function refuseUnstorable(fields: object): void {
  const param = unstorableField(fields);
  if (param !== undefined) throw GatewayError.ofField(param, STORABLE_RULE);
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

function toFieldError(error: ValidationError, inputClass: new () => object, sent: object): FieldError {
  const { property, constraints = {}, value } = error;
  if ('whitelistValidation' in constraints) return unknownField(property, inputClass);
  if (value === undefined) {
    return { param: property, code: 'missing_parameter', message: `${property} is missing: it ${ruleOf(error)}.` };
  }
  // A number in a query was read from a text, which is what the caller knows.
  const given = (sent as Readonly<Record<string, unknown>>)[property] ?? value;
  const rule = ruleOf(error);
  const advice = typeof given === 'number' && rule.startsWith('must be a text') ? ' Send it in quotes.' : '';
  return { param: property, code: 'invalid_parameter', message: `${property} ${rule}${notGiven(given)}.${advice}` };
}

const unknownField = (param: string, inputClass: new () => object): FieldError => ({
  param,
  code: 'unknown_parameter',
  message: `${param} is not a field of this request. Known fields: ${fieldsOf(inputClass).join(', ')}.`,
});

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
  if (amount < 0n) throw GatewayError.ofField(param, 'must not be below 0');
  return amount;
}
