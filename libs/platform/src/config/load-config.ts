import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { ruleOf } from './field-rule.js';
import { type ConfigClass, variablesOf } from './variable.js';

/** Environment variables by name; an empty text counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration is wrong: `problems` holds one line for each wrong variable. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

/**
 * Adds the variables of a `.env` file to the environment of this process; what is already set wins and a missing file
 * is not an error. Call it once, before the first `loadConfig`.
 *
 * @throws ConfigError when it is there and cannot be read.
 */
export function loadEnvironmentFile(file = '.env'): void {
  try {
    process.loadEnvFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new ConfigError([`${file} cannot be read (${(error as Error).message})`]);
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
  const names = Object.keys(new configClass());
  const given = Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
  const config = plainToInstance(configClass, given, { exposeDefaultValues: true });
  const errors = validateSync(config, { forbidUnknownValues: false });
  if (errors.length > 0) throw new ConfigError(errors.map((error) => describe(error, configClass, given)));
  return config;
}

/** `PORT must be a whole number from 0 to 65535, not "abc"` */
function describe(error: ValidationError, configClass: ConfigClass, given: Environment): string {
  const name = error.property;
  const value = given[name];
  const problem = `${name} ${ruleOf(error)}`;
  if (value === undefined) return `${problem} (it is not set)`;
  const isSecret = variablesOf(configClass).get(name)?.secret;
  return isSecret ? `${problem} (its value is secret and is not shown)` : `${problem}, not ${JSON.stringify(value)}`;
}
