import { type Database, nextTurn, randomId, Turns } from '#platform';
import type { CheckedPrices, DatedPrice } from './check-prices.js';
import { VARIANT } from './bands.js';
import { AuditedChanges } from '../../audit/audit.js';
import { type ImportedFile, PriceImport, type WrittenPrice, writtenPrice } from './price-import.js';
import { type ExportedList, exportLists } from './price-list-import.js';

/** Of each price the one in force, and all that are to come. */
const EXPORT = `
select model, unit, ${VARIANT}, from_input_tokens::int as "fromInputTokens", amount_micros as "amountMicros",
  per_quantity as "perQuantity", effective_from as "effectiveFrom" from price p
where withdrawn_at is null and (effective_from > now() or effective_from = (
  select max(effective_from) from price o
  where (o.model, o.unit, o.variant) = (p.model, p.unit, p.variant) and o.effective_from <= now()
    and o.withdrawn_at is null))
order by p.model, p.from_input_tokens, p.unit, p.variant, p.effective_from`;

interface PriceFile {
  readonly prices: readonly WrittenPrice[];
  /** Absent where there are none. */
  readonly lists?: readonly ExportedList[];
}

/** What is in force and what is to come, in the form that an import takes. */
export async function exportPrices(database: Pick<Database, 'query'>): Promise<PriceFile> {
  const { rows } = await database.query<DatedPrice>({ text: EXPORT });
  const prices: WrittenPrice[] = [];
  const turns = new Turns();
  for (const price of rows) {
    prices.push(writtenPrice(price));
    if (turns.isOver) await nextTurn(turns);
  }
  const lists = await exportLists(database);
  return { prices, ...(lists.length > 0 && { lists }) };
}

/** The file as YAML, an entry a line, so that it is read line by line and compared so by `diff`. In pieces, for long ones. */
export function* priceFileYaml({ prices, lists = [] }: PriceFile): Generator<string> {
  let piece = '';
  for (const line of linesOf(prices, lists)) {
    piece += line;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function* linesOf(prices: readonly object[], lists: readonly object[]): Generator<string> {
  yield prices.length === 0 ? 'prices: []\n' : 'prices:\n';
  // JSON is YAML as well.
  for (const price of prices) yield `  - ${JSON.stringify(price)}\n`;
  if (lists.length > 0) yield 'lists:\n';
  for (const list of lists) yield `  - ${JSON.stringify(list)}\n`;
}

const PIECE_CHARACTERS = 64 * 1024;

/** Imports by a command of the operator's. */
export function importPrices(
  database: Database,
  file: Pick<CheckedPrices, 'prices' | 'lists'>,
  isDryRun: boolean,
): Promise<ImportedFile> {
  const prepared = new PriceImport(database, new AuditedChanges(database));
  const operator = { actor: 'prices command', requestId: randomId('req'), address: null };
  return isDryRun ? prepared.compare(file) : prepared.run(operator, file);
}
