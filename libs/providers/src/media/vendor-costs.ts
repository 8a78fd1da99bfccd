import {
  type BalanceUnit,
  familyOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_MICROS,
  type PlannedOrder,
  type VendorCost,
} from '#contracts';

/** Amounts of operators are read in trillionths, so that what a token costs is a whole number of them. */
const PLACES = 12;
const PARTS_PER_UNIT = 1_000_000_000_000n;
const PARTS_PER_MICRO = 1_000_000n;
const DECIMAL = new RegExp(`^(\\d{1,7})(?:\\.(\\d{1,${PLACES}}))?$`);
const MOST = 1_000_000n * PARTS_PER_UNIT;

/** What an amount must be, to be read after the name of its field. */
export const AMOUNT_RULE = `must be a number from 0 to 1000000 with at most ${PLACES} decimal places`;

/** An amount as a file or the admin API says it, in trillionths. Undefined: it is none, or has too many places. */
export function partsOf(said: JsonValue | undefined): bigint | undefined {
  const text = typeof said === 'number' ? decimalOf(said) : said;
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null;
  if (!match) return undefined;
  const parts = BigInt(match[1] ?? '') * PARTS_PER_UNIT + BigInt((match[2] ?? '').padEnd(PLACES, '0'));
  return parts <= MOST ? parts : undefined;
}

/** An amount in whole micros, what is left of one cut off. */
export function microsOf(said: JsonValue | undefined): bigint | undefined {
  const parts = partsOf(said);
  return parts === undefined ? undefined : parts / PARTS_PER_MICRO;
}

/** The decimal that was written: very small numbers come with an exponent. */
function decimalOf(said: number): string {
  const shortest = String(said);
  if (!shortest.includes('e-')) return shortest;
  const decimal = said.toFixed(PLACES);
  return Number(decimal) === said ? decimal : shortest;
}

/** What an upstream costs by its entry, and what its vendor's units are worth. Whole numbers throughout; halves round up. */
export class VendorCosts {
  constructor(
    /** `costs` of an entry without mistakes. */
    private readonly costs: JsonObject,
    private readonly balanceUnit: BalanceUnit,
  ) {}

  /** What an order costs by the entry; undefined when nothing is configured for it. */
  ofOrder(order: Pick<PlannedOrder, 'model' | 'parameters'>): VendorCost | undefined {
    const billing = familyOf(order.model)?.billing(order.parameters);
    return billing && this.of(order.model, billing.variant, BigInt(billing.quantity));
  }

  /** What one second or image of a price variant costs by the entry. */
  ofUnit(model: string, variant: string): VendorCost | undefined {
    return this.of(model, variant, 1n);
  }

  /** An amount that the vendor reported, with what it is worth where that is known and can be kept. */
  valued(cost: VendorCost): VendorCost {
    const rate = this.rateOf(cost.unit);
    const worthMicros = rate === undefined ? undefined : rounded(cost.micros * rate, PARTS_PER_UNIT);
    return worthMicros === undefined || worthMicros > MAX_MICROS ? cost : { ...cost, worthMicros };
  }

  private of(model: string, variant: string, quantity: bigint): VendorCost | undefined {
    const { unit, [model]: said } = this.costs;
    const parts = partsOf(isJsonObject(said) ? said[variant] : said);
    if (parts === undefined || typeof unit !== 'string') return undefined;
    const rate = this.rateOf(unit);
    return {
      micros: rounded(parts * quantity, PARTS_PER_MICRO),
      unit,
      ...(rate !== undefined && { worthMicros: rounded(parts * quantity * rate, PARTS_PER_MICRO * PARTS_PER_UNIT) }),
    };
  }

  /** What one of a unit is worth in the unit of balances, in trillionths. Never guessed: one currency has no rate to another. */
  private rateOf(unit: string): bigint | undefined {
    const { rates } = this.costs;
    const said = isJsonObject(rates) ? partsOf(rates[unit]) : undefined;
    return said ?? (unit === this.balanceUnit ? PARTS_PER_UNIT : undefined);
  }
}

const rounded = (amount: bigint, by: bigint): bigint => (amount + by / 2n) / by;
