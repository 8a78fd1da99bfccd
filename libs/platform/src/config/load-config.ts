import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { type ConfigClass, variablesOf } from './variable.js';
import { NamedError } from '../named-error.js';

/** Environment variables by name; an empty text counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration is wrong: `problems` holds one line for each wrong variable. */
export class ConfigError extends NamedError {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/**
 * Adds the variables of a `.env` file to the environment of this process; what is already set wins and a missing file
 * is not an error. Call it once, before the first `loadConfig`.
 *
 * @throws ConfigError when it is there and cannot be read.
 */
export function loadEnvironmentFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new ConfigError([`.env cannot be read (${(error as Error).message})`]);
  }
}

/**
 * Reads one config class from the environment.
 *
 * @throws ConfigError with one line for each wrong variable: its name, what it must be and what was given (never a secret).
 */
export function loadConfig<Config extends object>(
  configClass: ConfigClass<Config>,
  environment: Environment = process.env,
): Config {
  const variables = variablesOf(configClass);
  const given: Record<string, string> = {};
  for (const name of Object.keys(new configClass())) {
    const value = environment[name] || environment[variables.get(name)?.formerly ?? ''];
    if (value) given[name] = value;
  }
  const config = plainToInstance(configClass, given, { exposeDefaultValues: true });
  const errors = validateSync(config, { forbidUnknownValues: false });
  if (errors.length > 0) throw new ConfigError(errors.map((error) => describeProblem(error, configClass, given)));
  return config;
}

/** `PORT must be a whole number from 0 to 65535, not "abc"` */
function describeProblem(error: ValidationError, configClass: ConfigClass, given: Environment): string {
  const name = error.property;
  const value = given[name];
  const problem = `${name} ${ruleOf(error)}`;
  if (value === undefined) return `${problem} (it is not set)`;
  const isSecret = variablesOf(configClass).get(name)?.secret;
  return isSecret ? `${problem} (its value is secret and is not shown)` : `${problem}, not ${JSON.stringify(value)}`;
}

/** Reads one part of the settings of a process. @throws ConfigError with one line for each mistake. */
export type SettingsReaders = Readonly<Record<string, () => unknown>>;

export type SettingsOf<Readers extends SettingsReaders> = {
  readonly [Name in keyof Readers]: ReturnType<Readers[Name]>;
};

/**
 * Runs every reader, so that the mistakes of all of them are reported at once.
 *
 * @throws ConfigError with one line for each mistake.
 */
export function readTogether<Readers extends SettingsReaders>(readers: Readers): SettingsOf<Readers> {
  const problems: string[] = [];
  const read = Object.entries(readers).map(([name, reader]) => {
    try {
      return [name, reader()];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return [name, undefined];
    }
  });
  // Two readers may read the same variable.
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return Object.fromEntries(read) as SettingsOf<Readers>;
}

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

function numberOf(check: FieldCheck | undefined): number | undefined {
  const bound = check?.constraints?.[0];
  return typeof bound === 'number' ? bound : undefined;
}
