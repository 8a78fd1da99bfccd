import { type FilePrice, readPricesFile } from '#features';
import { loadConfig } from '#platform';
import { SalesConfig } from '#runtime';

/**
 * The entries of PRICES_FILE; empty without one.
 *
 * @throws ConfigError with file, line, field and rule for each mistake.
 */
export function readPrices(): readonly FilePrice[] {
  const { PRICES_FILE: file } = loadConfig(SalesConfig);
  return file === undefined ? [] : readPricesFile(file);
}
