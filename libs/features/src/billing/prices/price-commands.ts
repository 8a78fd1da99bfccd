import { formatMicros } from '#contracts';
import { type Database, nextTurn, randomId, Turns } from '#platform';
import type { DatedPrice } from './check-prices.js';
import { AuditedChanges } from '../../audit/audit.js';
import { type ImportedPrices, PriceImport } from './price-import.js';

/** A price in the form of PRICES_FILE. */
export interface ExportedPrice {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amount: string;
  readonly per_quantity: number;
  readonly effective_from: string;
}

interface ExportRow {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amount_micros: bigint;
  readonly per_quantity: bigint;
  readonly effective_from: Date;
}

/** Of each price the one in force, and all that are to come. */
const EXPORT = `
select model, unit, variant, amount_micros, per_quantity, effective_from from price p
where effective_from > now() or effective_from = (
  select max(effective_from) from price o
  where (o.model, o.unit, o.variant) = (p.model, p.unit, p.variant) and o.effective_from <= now())
order by model, unit, variant, effective_from`;

/** A list of prices in the form of PRICES_FILE. */
interface PriceFile {
  readonly prices: readonly ExportedPrice[];
}

/** What is in force and what is to come, in the form that an import takes. */
export async function exportPrices(database: Pick<Database, 'query'>): Promise<PriceFile> {
  const { rows } = await database.query<ExportRow>({ text: EXPORT, values: [] });
  const prices: ExportedPrice[] = [];
  const turns = new Turns();
  for (const { amount_micros: amount, per_quantity: perQuantity, effective_from: from, ...price } of rows) {
    prices.push({
      ...price,
      amount: formatMicros(amount),
      per_quantity: Number(perQuantity),
      effective_from: from.toISOString(),
    });
    if (turns.isOver) await nextTurn(turns);
  }
  return { prices };
}

/** The list as YAML, a price a line, so that it is read line by line and compared so by `diff`. In pieces, for long ones. */
export function* priceFileYaml({ prices }: PriceFile): Generator<string> {
  let piece = prices.length === 0 ? 'prices: []\n' : 'prices:\n';
  for (const price of prices) {
    // JSON is YAML as well.
    piece += `  - ${JSON.stringify(price)}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

const PIECE_CHARACTERS = 64 * 1024;

/** Imports by a command of the operator's. */
export function importPrices(
  database: Database,
  prices: readonly DatedPrice[],
  isDryRun: boolean,
): Promise<ImportedPrices> {
  const prepared = new PriceImport(database, new AuditedChanges(database));
  const operator = { actor: 'prices command', requestId: randomId('req'), address: null };
  return isDryRun ? prepared.compare(prices) : prepared.run(operator, prices);
}
