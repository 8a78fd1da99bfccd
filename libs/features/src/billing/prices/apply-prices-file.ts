import { readFileSync } from 'node:fs';
import { ConfigError, type Database, logger, parseYamlFile } from '#platform';
import { fieldName } from '#providers';
import { AuditedChanges } from '../../audit/audit.js';
import { checkPrices, type DatedPrice, type FileList } from './check-prices.js';
import { missingText, PriceImport } from './price-import.js';
import { ruleConflictText } from './price-list-import.js';

/** A price of a file, and where it stands there, for messages. */
interface FilePrice extends DatedPrice {
  /** `prices.yaml:12` */
  readonly place: string;
}

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

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`PRICES_FILE names "${file}", which cannot be read (${(error as Error).message})`]);
  }
}

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
