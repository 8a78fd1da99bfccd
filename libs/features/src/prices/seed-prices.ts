import { CATALOG, EXAMPLE_PRICES, type Micros, type ModelFamily } from '#contracts';
import type { Database } from '#platform';

const ADD_PRICES = `
insert into price (id, model, unit, variant, amount_micros, effective_from, created_by)
select 'price_example_' || model || '_' || variant, model, unit, variant, amount_micros, timestamptz '2026-01-01', 'example price book'
from jsonb_to_recordset($1::jsonb) as p(model text, unit text, variant text, amount_micros bigint)
on conflict (model, unit, variant, effective_from) do nothing`;

/** Puts the example price book into force where an operator has set nothing. Safe to run at every start. */
export async function seedExamplePrices(database: Database): Promise<void> {
  const rows = CATALOG.flatMap((family: ModelFamily) => family.models.flatMap((model) => pricesOf(family, model)));
  await database.query({ text: ADD_PRICES, values: [JSON.stringify(rows)] });
}

const BOOK: Readonly<Record<string, Readonly<Record<string, Micros>>>> = EXAMPLE_PRICES;

const pricesOf = ({ unit }: ModelFamily, model: string): object[] =>
  Object.entries(BOOK[model] ?? {}).map(([variant, amount]) => ({
    model,
    unit,
    variant,
    amount_micros: amount.toString(),
  }));
