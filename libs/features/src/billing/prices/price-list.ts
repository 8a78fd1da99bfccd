import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import { VARIANT } from './bands.js';
import { RULES_IN_FORCE } from './price-book.js';
import { grouped, type ListedPrice, pricedBy, type PriceRule, rulesOf } from './price-rules.js';

const IN_FORCE = `
select id, model, unit, ${VARIANT}, from_input_tokens::int as "fromInputTokens", amount_micros as "amountMicros",
  per_quantity as "perQuantity"
from (select distinct on (model, unit, variant) * from price where effective_from <= now()
  and withdrawn_at is null and ($1::text is null or model = $1)
  order by model, unit, variant, effective_from desc) p
order by p.model, p.from_input_tokens, p.unit, p.variant`;

const NEXT_CHANGE = `
select min(effective_from) as at from price where model = $1 and unit = $2 and variant = $3 and effective_from > now()`;

@Injectable()
export class PriceList {
  constructor(private readonly database: Database) {}

  /**
   * All prices in force now, of one model or of every model, by model.
   *
   * @param list the price list of the account; undefined: the book.
   */
  async inForce(model: string | null = null, list?: string): Promise<ReadonlyMap<string, readonly ListedPrice[]>> {
    const { rows } = await this.database.query<ListedPrice>({ name: 'list_prices', text: IN_FORCE, values: [model] });
    const book = grouped(rows, (row) => row.model);
    if (list === undefined) return book;
    const rules = await this.database.query<PriceRule>({ text: RULES_IN_FORCE, values: [list] });
    const named = rules.rows.flatMap((rule) =>
      rule.model === '*' || (model !== null && rule.model !== model) ? [] : rule.model,
    );
    return new Map(
      [...new Set([...book.keys(), ...named])].map((id) => [
        id,
        pricedBy(rulesOf(rules.rows, id), book.get(id) ?? []).map((price) => ({ ...price, model: id })),
      ]),
    );
  }

  /** When a price that is already written down replaces the one in force; null when none does. */
  async nextChange(model: string, unit: string, variant: string): Promise<Date | null> {
    const { rows } = await this.database.query<{ at: Date | null }>({
      name: 'next_price_change',
      text: NEXT_CHANGE,
      values: [model, unit, variant],
    });
    return rows[0]?.at ?? null;
  }
}
