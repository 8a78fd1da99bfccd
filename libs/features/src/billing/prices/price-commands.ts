import { formatMicros } from '#contracts';
import { type Database, nextTurn, randomId, Turns } from '#platform';
import type { CheckedPrices } from './check-prices.js';
import { VARIANT } from './bands.js';
import { AuditedChanges } from '../../audit/audit.js';
import { type ImportedFile, PriceImport } from './price-import.js';
import { type ExportedList, exportLists } from './price-list-import.js';

/** A price in the form of PRICES_FILE. */
export interface ExportedPrice {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  /** Of a band alone. */
  readonly from_input_tokens?: number;
  readonly amount: string;
  readonly per_quantity: number;
  readonly effective_from: string;
}

interface ExportRow {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly from_input_tokens: bigint;
  readonly amount_micros: bigint;
  readonly per_quantity: bigint;
  readonly effective_from: Date;
}

/** Of each price the one in force, and all that are to come. */
const EXPORT = `
select model, unit, ${VARIANT}, from_input_tokens, amount_micros, per_quantity, effective_from from price p
where withdrawn_at is null and (effective_from > now() or effective_from = (
  select max(effective_from) from price o
  where (o.model, o.unit, o.variant) = (p.model, p.unit, p.variant) and o.effective_from <= now()
    and o.withdrawn_at is null))
order by p.model, p.from_input_tokens, p.unit, p.variant, p.effective_from`;

interface PriceFile {
  readonly prices: readonly ExportedPrice[];
  /** Absent where there are none. */
  readonly lists?: readonly ExportedList[];
}

/** What is in force and what is to come, in the form that an import takes. */
export async function exportPrices(database: Pick<Database, 'query'>): Promise<PriceFile> {
  const { rows } = await database.query<ExportRow>({ text: EXPORT });
  const prices: ExportedPrice[] = [];
  const turns = new Turns();
  for (const { model, unit, variant, from_input_tokens: band, ...price } of rows) {
    prices.push({
      model,
      unit,
      variant,
      ...(band > 0n && { from_input_tokens: Number(band) }),
      amount: formatMicros(price.amount_micros),
      per_quantity: Number(price.per_quantity),
      effective_from: price.effective_from.toISOString(),
    });
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
