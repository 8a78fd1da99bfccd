import { Injectable } from '@nestjs/common';
import { GatewayError, type Billing, MAX_MICROS, type Micros } from '#contracts';
import { Database } from '#platform';

/** How old a price list may get before it is read again, in milliseconds. */
const FRESH_MS = 5_000;
/** How old it may be where a price is missing, which an operator may just have set, in milliseconds. */
const FRESH_FOR_MISSING_MS = 20;

/** No request moves more, so that the books of an account never run over. */
export const MOST_HELD_MICROS = MAX_MICROS / 1_000_000n;

interface PriceRow {
  readonly id: string;
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amount_micros: bigint;
  readonly per_quantity: bigint;
}

/** A price that is in force: `amountMicros` for each `perQuantity` units. */
export interface PriceInForce {
  readonly id: string;
  readonly variant: string;
  readonly amountMicros: Micros;
  readonly perQuantity: bigint;
}

/** What a request costs, and by which price. */
export interface Quote {
  readonly priceId: string;
  /** Price of one unit. */
  readonly unitMicros: Micros;
  /** Unit price times quantity: what submission holds, and the most that is ever charged. */
  readonly holdMicros: Micros;
}

/** The price in force now, for each variant and unit. */
const CURRENT_PRICES = `
select distinct on (model, unit, variant) id, model, unit, variant, amount_micros, per_quantity
from price where effective_from <= now() order by model, unit, variant, effective_from desc`;

/** All prices in force at one moment. */
export class PricesInForce {
  constructor(private readonly prices: ReadonlyMap<string, PriceInForce>) {}

  /**
   * The price in force.
   *
   * @throws GatewayError `model_not_priced`: there is none, so the model cannot be sold. Trying again does not help.
   */
  get(model: string, unit: string, variant: string): PriceInForce {
    const price = this.find(model, unit, variant);
    if (price) return price;
    const sort = variant === 'default' ? '' : ` for ${variant}`;
    throw new GatewayError('model_not_priced', `The model "${model}" has no price${sort} here, so it cannot be sold.`, {
      param: 'model',
      log: `no price in force for ${model} ${unit} ${variant}`,
    });
  }

  /** The price in force, or undefined when there is none. */
  find(model: string, unit: string, variant: string): PriceInForce | undefined {
    return this.prices.get(keyOf({ model, unit, variant }));
  }
}

/** The prices in force. Read from the database, kept for seconds, so that a new price needs no restart. */
@Injectable()
export class PriceBook {
  private prices = new PricesInForce(new Map());
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /** The current prices; the same object until they are read again. */
  inForce(): Promise<PricesInForce> {
    return this.notOlderThan(FRESH_MS);
  }

  /** What `inForce` would answer, where nothing has to be read for it. */
  get known(): PricesInForce | undefined {
    return performance.now() - this.readAt > FRESH_MS ? undefined : this.prices;
  }

  /** The prices read again, for a caller that missed one in those of `inForce`. */
  reread(): Promise<PricesInForce> {
    return this.notOlderThan(FRESH_FOR_MISSING_MS);
  }

  /**
   * The price of a media request in its account's unit.
   *
   * @throws GatewayError `model_not_priced`: no price is in force for the model, so it cannot be sold;
   * `invalid_parameter`: no balance could cover so much.
   */
  async quote(model: string, billing: Billing): Promise<Quote> {
    const price =
      (await this.inForce()).find(model, billing.unit, billing.variant) ??
      (await this.reread()).get(model, billing.unit, billing.variant);
    const unitMicros = price.amountMicros / price.perQuantity;
    const holdMicros = unitMicros * BigInt(billing.quantity);
    if (holdMicros > MOST_HELD_MICROS)
      throw new GatewayError('invalid_parameter', 'This request could cost more than any balance holds; ask for less.');
    return { priceId: price.id, unitMicros, holdMicros };
  }

  private async notOlderThan(ms: number): Promise<PricesInForce> {
    if (performance.now() - this.readAt > ms)
      await (this.reading ??= this.read().finally(() => (this.reading = undefined)));
    return this.prices;
  }

  private async read(): Promise<void> {
    const { rows } = await this.database.query<PriceRow>({ name: 'current_prices', text: CURRENT_PRICES, values: [] });
    this.prices = new PricesInForce(new Map(rows.map((row) => [keyOf(row), toPrice(row)])));
    this.readAt = performance.now();
  }
}

const keyOf = ({ model, unit, variant }: Pick<PriceRow, 'model' | 'unit' | 'variant'>): string =>
  `${model}|${unit}|${variant}`;

const toPrice = (row: PriceRow): PriceInForce => ({
  id: row.id,
  variant: row.variant,
  amountMicros: row.amount_micros,
  perQuantity: row.per_quantity,
});
