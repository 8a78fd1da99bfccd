import { ConfigError, type Database, logger } from '#platform';
import type { PricesOfFile } from './read-prices-file.js';
import { AuditedChanges } from '../../audit/audit.js';
import { missingText, PriceImport } from './price-import.js';
import { ruleConflictText } from './price-list-import.js';

const log = logger('prices');

/**
 * Puts the prices and price lists of PRICES_FILE into force at a start. Safe to repeat, and at many starts at once.
 *
 * @throws ConfigError when the file says another amount for what has been in force, or with something new leaves gaps
 * in a band: nothing is applied then.
 */
export async function applyPricesFile(database: Database, file: PricesOfFile): Promise<void> {
  const operator = { actor: 'PRICES_FILE', requestId: 'start', address: null };
  const imported = await new PriceImport(database, new AuditedChanges(database)).run(operator, file);
  const { added, changed, conflicts, missing, lists } = imported;
  if (conflicts.length > 0) throw new ConfigError(conflicts.map((conflict) => explain(conflict, file.prices)));
  const [rule] = lists?.conflicts ?? [];
  if (rule) throw new ConfigError([`PRICES_FILE: ${ruleConflictText(rule)}`]);
  const rules = (lists?.added.length ?? 0) + (lists?.changed.length ?? 0);
  if (missing.length > 0) {
    const problem = `PRICES_FILE: ${missingText(missing)}`;
    // What started before starts again: the gap came from elsewhere, and stays whether or not this process runs.
    if (added.length + changed.length + rules > 0) throw new ConfigError([problem]);
    log.warn('prices.incomplete', { problem });
  }
  if (added.length + changed.length + rules > 0)
    log.info('prices.applied', { source: 'PRICES_FILE', added: added.length, changed: changed.length, rules });
}

type Conflict = Awaited<ReturnType<PriceImport['run']>>['conflicts'][number];

function explain(
  { model, unit, variant, effective_from: from, amount, was }: Conflict,
  prices: PricesOfFile['prices'],
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
