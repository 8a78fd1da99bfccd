import { ConfigError, type Database, logger } from '#platform';
import type { FilePrice } from './read-prices-file.js';
import { AuditedChanges } from '../../audit/audit.js';
import { PriceImport } from './price-import.js';

const log = logger('prices');

/**
 * Puts the prices of PRICES_FILE into the book at a start. Safe to repeat, and at many starts at once.
 *
 * @throws ConfigError when the file says another amount for a price that has been in force: nothing is applied then.
 */
export async function applyPricesFile(database: Database, prices: readonly FilePrice[]): Promise<void> {
  const operator = { actor: 'PRICES_FILE', requestId: 'start', address: null };
  const { added, changed, conflicts } = await new PriceImport(database, new AuditedChanges(database)).run(
    operator,
    prices,
  );
  if (conflicts.length > 0) throw new ConfigError(conflicts.map((conflict) => explain(conflict, prices)));
  if (added.length + changed.length > 0)
    log.info('prices.applied', { source: 'PRICES_FILE', added: added.length, changed: changed.length });
}

type Conflict = Awaited<ReturnType<PriceImport['run']>>['conflicts'][number];

function explain(
  { model, unit, variant, effective_from: from, amount, was }: Conflict,
  prices: readonly FilePrice[],
): string {
  const written = prices.find(
    (price) =>
      price.model === model &&
      price.unit === unit &&
      price.variant === variant &&
      price.effectiveFrom.toISOString() === from,
  );
  return `${written?.place ?? 'PRICES_FILE'}: ${model} ${unit} ${variant} has cost ${was?.amount ?? '?'} since ${from} and cannot cost ${amount} from then on; give the new price a later effective_from`;
}
