import { type PricesOfFile, readPricesFile } from '#features';
import { loadConfig } from '#platform';
import { SalesConfig } from '#runtime';

/**
 * What PRICES_FILE holds; undefined without one.
 *
 * @throws ConfigError with file, line, field and rule for each mistake.
 */
export function readPrices(): PricesOfFile | undefined {
  const { PRICES_FILE: file } = loadConfig(SalesConfig);
  return file === undefined ? undefined : readPricesFile(file);
}
