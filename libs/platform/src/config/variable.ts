import 'reflect-metadata';
import { Transform, Type } from 'class-transformer';
import { IsBoolean, IsInt, IsNumber, Max, Min } from 'class-validator';

/** What the documentation says about one environment variable; its default is the initialiser of the field. */
export interface VariableOptions {
  /** One or two full sentences for operators. */
  readonly description: string;
  /** Unit of a number, for example `seconds`. */
  readonly unit?: string;
  /** The least and the most that a number may be, which are documented behind its unit. */
  readonly between?: readonly [least: number, most: number];
  /** Whether such a number may have a fraction. */
  readonly fractions?: true;
  /** What the documentation says behind the bounds, for example what 0 means. */
  readonly note?: string;
  /** Its name in the release before, which is read where the name of today is not set. */
  readonly formerly?: string;
  /** Never shown: neither in errors nor in documentation. */
  readonly secret?: true;
  /** A value to show when there is no default. */
  readonly example?: string;
}

/** A class whose fields are environment variables: field names are variable names, initialisers are defaults. */
export type ConfigClass<Config extends object = object> = new () => Config;

const registry = new Map<ConfigClass, Map<string, VariableOptions>>();

/**
 * Documents a field as an environment variable and registers its class, so that `.env.example` and docs/configuration.md
 * are written from the code. A number is read and checked by its bounds; other checks are class-validator decorators on the same field.
 */
export function Variable({ between, fractions, note, unit, ...options }: VariableOptions): PropertyDecorator {
  const bounds = between && `, ${between[0]} to ${between[1]}${note === undefined ? '' : `; ${note}`}`;
  const documented = unit === undefined ? options : { ...options, unit: `${unit}${bounds ?? ''}` };
  const checks = between
    ? [Max(between[1]), Min(between[0]), fractions ? IsNumber() : IsInt(), Type(() => Number)]
    : [];
  return (prototype, name) => {
    for (const check of checks) check(prototype, String(name));
    const configClass = prototype.constructor as ConfigClass;
    const variables = registry.get(configClass) ?? new Map<string, VariableOptions>();
    registry.set(configClass, variables.set(String(name), documented));
  };
}

/** A field that is switched by the words `true` and `false`; every other word is refused. */
export function Switch(): PropertyDecorator {
  const convert = Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : value));
  const check = IsBoolean({ message: '$property must be true or false' });
  return (prototype, name) => {
    convert(prototype, name);
    check(prototype, String(name));
  };
}

export const variablesOf = (configClass: ConfigClass): ReadonlyMap<string, VariableOptions> =>
  registry.get(configClass) ?? new Map();

/** Every class with documented variables that has been imported so far, in order of import. */
export const configClasses = (): readonly ConfigClass[] => [...registry.keys()];
