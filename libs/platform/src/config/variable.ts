import 'reflect-metadata';
import { Transform } from 'class-transformer';
import { IsBoolean } from 'class-validator';

/** What the documentation says about one environment variable; its default is the initialiser of the field. */
export interface VariableOptions {
  /** One or two full sentences for operators. */
  readonly description: string;
  /** Unit of a number, for example `seconds`. */
  readonly unit?: string;
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
 * are written from the code. Checks are class-validator decorators on the same field.
 */
export function Variable(options: VariableOptions): PropertyDecorator {
  return (prototype, name) => {
    const configClass = prototype.constructor as ConfigClass;
    const variables = registry.get(configClass) ?? new Map<string, VariableOptions>();
    registry.set(configClass, variables.set(String(name), options));
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

/** The documented variables of a class, in the order of its fields. */
export const variablesOf = (configClass: ConfigClass): ReadonlyMap<string, VariableOptions> =>
  registry.get(configClass) ?? new Map();

/** Every class with documented variables that has been imported so far, in order of import. */
export const configClasses = (): readonly ConfigClass[] => [...registry.keys()];
