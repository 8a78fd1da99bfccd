import { getMetadataStorage, type ValidationError } from 'class-validator';

/** A check on a field, as class-validator remembers it. */
interface FieldCheck {
  readonly name?: string | undefined;
  readonly constraints?: readonly unknown[] | undefined;
  readonly message?: unknown;
  readonly each?: boolean | undefined;
}

type CheckFinder = (name: string) => FieldCheck | undefined;

/**
 * What a wrong field must be, to be read after its name: `must be a whole number from 0 to 65535`. Said once for all
 * checks of the field together, not one sentence for each; a check with words of its own keeps them.
 */
export function ruleOf({ target, property, constraints = {} }: ValidationError): string {
  const broken = Object.entries(constraints).map(([name, message]) => ({
    name,
    message: withoutName(message, property),
  }));
  const checks = target === undefined ? [] : checksOf(target, property);
  const worded = broken.find(({ name }) => checks.some((check) => check.name === name && check.message !== undefined));
  if (worded) return worded.message;
  const whole = describe((name) => checks.find((check) => check.name === name && !check.each));
  if (whole === 'a list') return `must be ${listOf(checks)}`;
  return whole === undefined
    ? broken.map(({ message }) => message).join(' and ') || 'is not valid'
    : `must be ${whole}`;
}

const checksOf = (target: object, property: string): readonly FieldCheck[] =>
  getMetadataStorage()
    .getTargetValidationMetadatas(target.constructor, '', false, false)
    .filter((check) => check.propertyName === property);

const withoutName = (message: string, property: string): string =>
  message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;

function describe(find: CheckFinder): string | undefined {
  const choices = find('isIn')?.constraints?.[0];
  if (Array.isArray(choices)) return `one of ${choices.filter((choice) => choice !== null).join(', ')}`;
  if (find('isArray')) return 'a list';
  if (find('isBoolean')) return 'true or false';
  if (find('isObject')) return 'an object';
  if (find('isUrl')) return 'a full address that begins with http:// or https://';
  if (find('isIso8601')) return 'a date and time such as 2026-11-20T12:00:00Z';
  if (find('isInt')) return `a whole number${boundsOf(find)}`;
  if (find('isNumber')) return `a number${boundsOf(find)}`;
  return textOf(find);
}

function boundsOf(find: CheckFinder): string {
  const [min, max] = [numberOf(find('min')), numberOf(find('max'))];
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

function textOf(find: CheckFinder): string | undefined {
  const min = numberOf(find('minLength')) ?? (find('isNotEmpty') ? 1 : undefined);
  const max = numberOf(find('maxLength'));
  if (min !== undefined) return textFrom(min, max);
  if (max !== undefined) return `a text of at most ${max} characters`;
  return find('isString') ? 'a text' : undefined;
}

function textFrom(min: number, max: number | undefined): string {
  if (max !== undefined) return `a text of ${min} to ${max} characters`;
  return min === 1 ? 'a text that is not empty' : `a text of at least ${min} characters`;
}

function listOf(checks: readonly FieldCheck[]): string {
  const entry = describe((name) => checks.find((check) => check.name === name && check.each));
  const max = numberOf(checks.find(({ name }) => name === 'arrayMaxSize'));
  const most = max === undefined ? '' : ` of at most ${max} entries`;
  return `a list${most}${entry === undefined ? '' : `, each ${entry}`}`;
}

/** The bound of a check that has one. */
function numberOf(check: FieldCheck | undefined): number | undefined {
  const bound = check?.constraints?.[0];
  return typeof bound === 'number' ? bound : undefined;
}
