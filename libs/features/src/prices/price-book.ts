import { GatewayError, type Billing, type Micros } from '#contracts';
import { Database } from '#platform';

/** How old a price list may get before it is read again, in milliseconds. */
const FRESH_MS = 5_000;

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

/** Of each price the one that is in force now. */
const CURRENT_PRICES = `
select distinct on (model, unit, variant) id, model, unit, variant, amount_micros, per_quantity
from price where effective_from <= now() order by model, unit, variant, effective_from desc`;

/** All prices in force at one moment. */
export class PricesInForce {
  constructor(private readonly prices: ReadonlyMap<string, PriceInForce>) {}

  /**
   * The price in force.
   *
   * @throws GatewayError `unavailable`: there is none, so the model cannot be sold.
   */
  get(model: string, unit: string, variant: string): PriceInForce {
    const price = this.find(model, unit, variant);
    if (price) return price;
    throw new GatewayError('unavailable', `The model "${model}" has no price for ${variant} at the moment.`, {
      log: `no price in force for ${model} ${unit} ${variant}`,
    });
  }

  /** The price in force, or undefined when there is none. */
  find(model: string, unit: string, variant: string): PriceInForce | undefined {
    return this.prices.get(keyOf({ model, unit, variant }));
  }
}

/** The prices in force. Read from the database, kept for seconds, so that a new price needs no restart. */
export class PriceBook {
  private prices = new PricesInForce(new Map());
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /** The prices as they stand; the same object until they are read again. */
  async inForce(): Promise<PricesInForce> {
    if (Date.now() - this.readAt > FRESH_MS)
      await (this.reading ??= this.read().finally(() => (this.reading = undefined)));
    return this.prices;
  }

  /**
   * The price of a media request in its account's unit.
   *
   * @throws GatewayError `unavailable`: no price is in force for the model, so it cannot be sold.
   */
  async quote(model: string, billing: Billing): Promise<Quote> {
    const price = (await this.inForce()).get(model, billing.unit, billing.variant);
    const unitMicros = price.amountMicros / price.perQuantity;
    return { priceId: price.id, unitMicros, holdMicros: unitMicros * BigInt(billing.quantity) };
  }

  private async read(): Promise<void> {
    const { rows } = await this.database.query<PriceRow>({ name: 'current_prices', text: CURRENT_PRICES, values: [] });
    this.prices = new PricesInForce(new Map(rows.map((row) => [keyOf(row), toPrice(row)])));
    this.readAt = Date.now();
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
