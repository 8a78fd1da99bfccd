import { CATALOG, EXAMPLE_PRICES, type Micros, type ModelFamily } from '#contracts';
import type { Database } from '#platform';

/** Prices of one text model, in micros for each 1,000,000 tokens. Image tokens are sold as input. */
interface TextPrice {
  readonly input: Micros;
  readonly cachedInput: Micros;
  /** Where the vendor charges for filling its cache; elsewhere it is sold as input. */
  readonly cacheWrite?: Micros;
  readonly output: Micros;
}

const SMALL: TextPrice = { input: 300_000n, cachedInput: 75_000n, output: 2_500_000n };
const MIDDLE: TextPrice = { input: 1_250_000n, cachedInput: 125_000n, output: 10_000_000n };
const HAIKU: TextPrice = { input: 1_000_000n, cachedInput: 100_000n, cacheWrite: 1_250_000n, output: 5_000_000n };
const SONNET: TextPrice = { input: 3_000_000n, cachedInput: 300_000n, cacheWrite: 3_750_000n, output: 15_000_000n };
const OPUS: TextPrice = { input: 15_000_000n, cachedInput: 1_500_000n, cacheWrite: 18_750_000n, output: 75_000_000n };

const TEXT_PRICE_TOKENS = 1_000_000n;

/** An example, so that a fresh installation can charge at all: these are not real prices. */
const EXAMPLE_TEXT_PRICES: Readonly<Record<string, TextPrice>> = {
  'vendor-5': MIDDLE,
  'vendor-4o-image': { input: 2_500_000n, cachedInput: 1_250_000n, output: 10_000_000n },
  'vendor-4-vision': { input: 2_500_000n, cachedInput: 1_250_000n, output: 10_000_000n },
  'vendor-2.5-flash': SMALL,
  'vendor-2.5-flash-lite': { input: 100_000n, cachedInput: 25_000n, output: 400_000n },
  'vendor-2.5-pro': MIDDLE,
  'vendor-2.5-pro-thinking': MIDDLE,
  'vendor-haiku-4-5-20251001': HAIKU,
  'vendor-sonnet-4-5-20250929': SONNET,
  'vendor-sonnet-4-5-20250929-thinking': SONNET,
  'vendor-opus-4-1-20250805': OPUS,
  'vendor-opus-4-1-20250805-thinking': OPUS,
};

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
