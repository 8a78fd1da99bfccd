import { readFileSync } from 'node:fs';
import { ConfigError, parseYamlFile } from '#platform';
import { checkPrices, type DatedPrice, type FileList, type PriceMistake } from './check-prices.js';

/** A price of a file, and where it stands there, for messages. */
interface FilePrice extends DatedPrice {
  /** `prices.yaml:12` */
  readonly place: string;
}

/** Dated prices and price lists. */
export interface PricesOfFile {
  readonly prices: readonly FilePrice[];
  readonly lists: readonly FileList[];
}

/**
 * Reads a file of dated prices.
 *
 * @throws ConfigError with file, line, field and rule for each mistake.
 */
export function readPricesFile(file: string): PricesOfFile {
  const { value, lineOf } = parseYamlFile(readText(file), file);
  const { prices, lists, mistakes } = checkPrices(value);
  if (mistakes.length > 0)
    throw new ConfigError(mistakes.map(({ path, rule }) => `${file}:${lineOf(path)}: ${fieldName(path)} ${rule}`));
  return { lists, prices: prices.map((price, index) => ({ ...price, place: `${file}:${lineOf(['prices', index])}` })) };
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
