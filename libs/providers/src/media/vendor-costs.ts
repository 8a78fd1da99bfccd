import {
  type BalanceUnit,
  dividedHalfUp,
  familyOf,
  isJsonObject,
  type JsonObject,
  type PlannedOrder,
  type VendorCost,
} from '#contracts';
import { PARTS_PER_MICRO, PARTS_PER_UNIT, partsOf, VendorRates } from '../vendor-amounts.js';

/** What an upstream costs by its entry, and what its vendor's units are worth. Whole numbers throughout; halves round up. */
export class VendorCosts {
  private readonly rates: VendorRates;

  constructor(
    /** `costs` of an entry without mistakes. */
    private readonly costs: JsonObject,
    balanceUnit: BalanceUnit,
  ) {
    this.rates = new VendorRates(costs['rates'], balanceUnit);
  }

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
    return this.rates.valued(cost, Date.now());
  }

  private of(model: string, variant: string, quantity: bigint): VendorCost | undefined {
    const { unit, [model]: said } = this.costs;
    const parts = partsOf(isJsonObject(said) ? said[variant] : said);
    if (parts === undefined || typeof unit !== 'string') return undefined;
    const rate = this.rates.at(unit, Date.now());
    return {
      micros: dividedHalfUp(parts * quantity, PARTS_PER_MICRO),
      unit,
      ...(rate !== undefined && {
        worthMicros: dividedHalfUp(parts * quantity * rate, PARTS_PER_MICRO * PARTS_PER_UNIT),
      }),
    };
  }
}
