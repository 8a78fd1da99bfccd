import { readFileSync } from 'node:fs';
import { ConfigError, parseYamlFile } from '#platform';
import { checkPrices, type DatedPrice, type PriceMistake } from './check-prices.js';

/** A price of a file, and where it stands there, for messages. */
export interface FilePrice extends DatedPrice {
  /** `prices.yaml:12` */
  readonly place: string;
}

/**
 * Reads a file of dated prices.
 *
 * @throws ConfigError with file, line, field and rule for each mistake.
 */
export function readPricesFile(file: string): readonly FilePrice[] {
  const { value, lineOf } = parseYamlFile(readText(file), file);
  const { prices, mistakes } = checkPrices(value);
  if (mistakes.length > 0)
    throw new ConfigError(mistakes.map(({ path, rule }) => `${file}:${lineOf(path)}: ${fieldName(path)} ${rule}`));
  return prices.map((price, index) => ({ ...price, place: `${file}:${lineOf(['prices', index])}` }));
}

/** `prices[3].amount` */
export const fieldName = (path: PriceMistake['path']): string =>
  path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name ? `${name}.${step}` : step),
    '',
  );

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`PRICES_FILE names "${file}", which cannot be read (${(error as Error).message})`]);
  }
}
