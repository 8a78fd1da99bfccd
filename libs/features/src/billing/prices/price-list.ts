import { Injectable } from '@nestjs/common';
import type { Micros } from '#contracts';
import { Database } from '#platform';

/** A price in force. */
export interface ListedPrice {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amountMicros: Micros;
  /** How many units the amount is for. */
  readonly perQuantity: bigint;
}

const IN_FORCE = `
select distinct on (model, unit, variant) model, unit, variant, amount_micros as "amountMicros", per_quantity as "perQuantity"
from price where effective_from <= now() and ($1::text is null or model = $1)
order by model, unit, variant, effective_from desc`;

const NEXT_CHANGE = `
select min(effective_from) as at from price where model = $1 and unit = $2 and variant = $3 and effective_from > now()`;

/** The prices as people look them up. */
@Injectable()
export class PriceList {
  constructor(private readonly database: Database) {}

  /** All prices in force now, of one model or of every model, by model. */
  async inForce(model: string | null = null): Promise<ReadonlyMap<string, readonly ListedPrice[]>> {
    const { rows } = await this.database.query<ListedPrice>({ name: 'list_prices', text: IN_FORCE, values: [model] });
    const byModel = new Map<string, ListedPrice[]>();
    for (const row of rows) byModel.set(row.model, [...(byModel.get(row.model) ?? []), row]);
    return byModel;
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
