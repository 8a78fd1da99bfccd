import { Injectable } from '@nestjs/common';
import { CATALOG, formatMicros, type Micros, type ModelFamily } from '#contracts';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { PriceBook } from './price-book.js';

/** A price that does not cover what an upstream is configured to cost, both for one unit. */
export interface PriceBelowCost {
  readonly code: 'price-below-cost';
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly upstream: string;
  readonly price_micros: Micros;
  readonly cost_micros: Micros;
}

/** What a price is for, and how much it is: `amountMicros` for each `perQuantity` units. */
interface AskedPrice {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amountMicros: Micros;
  readonly perQuantity: bigint;
}

const FAMILIES: readonly ModelFamily[] = CATALOG;
const SOLD = FAMILIES.flatMap(({ models, unit, variants }) =>
  models.flatMap((model) => (variants[model] ?? []).map((variant) => ({ model, unit: unit as string, variant }))),
);

/** Finds prices of media models that are lower than what making them costs, as far as `costs` of the upstreams say. */
@Injectable()
export class PricesBelowCost {
  constructor(
    private readonly prices: PriceBook,
    private readonly upstreams: MediaUpstreams,
  ) {}

  /** Of the prices in force. */
  async all(): Promise<PriceBelowCost[]> {
    const inForce = await this.prices.inForce();
    return SOLD.flatMap((sold) => {
      const price = inForce.find(sold.model, sold.unit, sold.variant);
      return price ? this.of({ ...sold, ...price }) : [];
    });
  }

  /** What stands against one price, whether or not it is in force. */
  of({ model, unit, variant, amountMicros, perQuantity }: AskedPrice): PriceBelowCost[] {
    if (!SOLD.some((sold) => sold.model === model && sold.unit === unit && sold.variant === variant)) return [];
    return this.upstreams.serving(model).flatMap(({ upstream, costOfUnit }) => {
      const cost = costOfUnit?.(model, variant)?.worthMicros;
      if (cost === undefined || cost * perQuantity <= amountMicros) return [];
      const facts = { model, unit, variant, upstream: upstream.id };
      return [{ code: 'price-below-cost', ...facts, price_micros: amountMicros / perQuantity, cost_micros: cost }];
    });
  }

  /** Upstreams whose margin is unknown: their `costs` are in a unit without a rate. */
  unvalued(): { readonly upstream: string; readonly unit: string }[] {
    const units = SOLD.flatMap(({ model, variant }) =>
      this.upstreams.serving(model).flatMap(({ upstream, costOfUnit }) => {
        const cost = costOfUnit?.(model, variant);
        return cost && cost.worthMicros === undefined ? [[upstream.id, cost.unit] as const] : [];
      }),
    );
    return [...new Map(units)].map(([upstream, unit]) => ({ upstream, unit }));
  }
}

/** In words, for logs. */
export const belowCostText = ({ model, variant, upstream, ...amounts }: PriceBelowCost): string =>
  `${model} (${variant}) sells at ${formatMicros(amounts.price_micros)} and costs ${formatMicros(amounts.cost_micros)} at ${upstream}`;
