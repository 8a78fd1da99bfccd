import { CATALOG, EXAMPLE_PRICES, type Micros, type ModelFamily } from '#contracts';
import type { Database } from '#platform';
import { EXAMPLE_TEXT_PRICES, TEXT_PRICE_TOKENS } from './example-text-prices.js';

/** How the ids of example prices begin. */
const EXAMPLE_PRICE = 'price_example_';

/** Whether a price is an example price that no operator set. */
export const isExamplePrice = (id: string): boolean => id.startsWith(EXAMPLE_PRICE);

const ADD_PRICES = `
insert into price (id, model, unit, variant, amount_micros, per_quantity, effective_from, created_by)
select '${EXAMPLE_PRICE}' || model || '_' || case when unit like '%token' then unit else variant end, model, unit, variant,
  amount_micros, per_quantity, timestamptz '2026-01-01', 'example price book'
from jsonb_to_recordset($1::jsonb) as p(model text, unit text, variant text, amount_micros bigint, per_quantity bigint)
on conflict do nothing`;

/**
 * Puts the example price book into force where an operator has set nothing. Safe to run at every start.
 *
 * @param except models that get none: those that a vendor makes.
 */
export async function seedExamplePrices(database: Database, except: ReadonlySet<string> = new Set()): Promise<void> {
  const media = CATALOG.flatMap((family: ModelFamily) => family.models.flatMap((model) => mediaPrices(family, model)));
  await database.query({ text: ADD_PRICES, values: [JSON.stringify([...media, ...textPrices(except)])] });
}

const BOOK: Readonly<Record<string, Readonly<Record<string, Micros>>>> = EXAMPLE_PRICES;

const mediaPrices = ({ unit }: ModelFamily, model: string): object[] =>
  Object.entries(BOOK[model] ?? {}).map(([variant, amount]) => priceRow(model, unit, variant, amount, 1n));

const textPrices = (except: ReadonlySet<string>): object[] =>
  Object.entries(EXAMPLE_TEXT_PRICES)
    .filter(([model]) => !except.has(model))
    .flatMap(([model, { input, cachedInput, cacheWrite, output }]) => [
      priceRow(model, 'input_token', 'default', input, TEXT_PRICE_TOKENS),
      priceRow(model, 'cached_input_token', 'default', cachedInput, TEXT_PRICE_TOKENS),
      ...(cacheWrite === undefined
        ? []
        : [priceRow(model, 'cache_write_token', 'default', cacheWrite, TEXT_PRICE_TOKENS)]),
      priceRow(model, 'output_token', 'default', output, TEXT_PRICE_TOKENS),
    ]);

const priceRow = (model: string, unit: string, variant: string, amount: Micros, perQuantity: bigint): object => ({
  model,
  unit,
  variant,
  amount_micros: amount.toString(),
  per_quantity: perQuantity.toString(),
});
