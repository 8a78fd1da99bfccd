import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
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
 * is no error. Call it once, before the first `loadConfig`.
 */
export function loadEnvironmentFile(file = '.env'): void {
  try {
    process.loadEnvFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/**
 * Reads one config class from the environment.
 *
 * @throws ConfigError with one line for each wrong variable: its name, the rules and what was given (never a secret).
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

/** "PORT must be an integer number and must not be less than 0 (given "abc")". */
function describe(error: ValidationError, configClass: ConfigClass, given: Environment): string {
  const name = error.property;
  const rules = Object.values(error.constraints ?? {}).map((rule) => rule.replace(`${name} `, ''));
  const value = given[name];
  const shown = variablesOf(configClass).get(name)?.secret ? 'a secret that is not shown' : JSON.stringify(value);
  return `${name} ${rules.toReversed().join(' and ')} (${value === undefined ? 'it is not set' : `given ${shown}`})`;
}
