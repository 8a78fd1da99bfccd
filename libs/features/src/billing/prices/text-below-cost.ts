import type { Micros } from '#contracts';
import { nextTurn, Turns } from '#platform';
import type { TextUpstream } from '../../upstreams/text-upstreams.js';
import type { PricesInForce } from './price-book.js';
import type { PriceInForce } from './price-rules.js';

/** A price that does not cover what an upstream is configured to cost, both for one unit, or for `per_quantity` of them. */
export interface PriceBelowCost {
  readonly code: 'price-below-cost';
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  /** The price list whose rule makes the price; absent: the book. */
  readonly price_list?: string;
  /** The first count of input tokens of the band of the costs; absent: the base. */
  readonly from_input_tokens?: number;
  readonly upstream: string;
  readonly price_micros: Micros;
  readonly cost_micros: Micros;
  readonly per_quantity?: bigint;
}

/** Kinds of token that are sold as another where they have no price. */
const SOLD_AS: Readonly<Record<string, string>> = {
  cached_input_token: 'input_token',
  cache_write_token: 'input_token',
  image_token: 'input_token',
  reasoning_token: 'output_token',
};

type AskedPrice = Pick<PriceInForce, 'unit' | 'variant' | 'fromInputTokens' | 'amountMicros' | 'perQuantity' | 'list'>;

const modelsOf = ({ models, embeddings }: TextUpstream): string[] => [
  ...(models?.keys() ?? []),
  ...(embeddings?.models.keys() ?? []),
];

/**
 * What stands against one price of a text model, at its own beginning and wherever a band of the costs begins while it holds.
 *
 * @param end the input tokens from which another price holds; undefined: none does.
 */
function textPriceBelowCost(
  upstream: TextUpstream,
  model: string,
  { unit, variant, fromInputTokens, amountMicros, perQuantity, list }: AskedPrice,
  end: number | undefined,
): PriceBelowCost[] {
  const costs = upstream.costs?.of(model);
  if (!costs) return [];
  const later = costs
    .firstTokens(variant)
    .filter((start) => start > fromInputTokens && start < (end ?? Number.POSITIVE_INFINITY));
  return [...later, fromInputTokens].flatMap((from): PriceBelowCost[] => {
    const worth = costs.worthOf(unit, variant, from, Date.now());
    if (!worth) return [];
    const [numerator, denominator] = worth;
    if (numerator * perQuantity <= amountMicros * denominator) return [];
    return [
      {
        code: 'price-below-cost',
        model,
        unit,
        variant,
        ...(list !== undefined && { price_list: list }),
        ...(from > 0 && { from_input_tokens: from }),
        upstream: upstream.provider.id,
        price_micros: amountMicros,
        // Up, so that a loss of a part of a micro is not shown as none.
        cost_micros: (numerator * perQuantity + denominator - 1n) / denominator,
        per_quantity: perQuantity,
      },
    ];
  });
}

/**
 * Of the prices in force: each unit that a model costs anything in, in each band and tier.
 *
 * @param turns of one who asks for many lists, so that others run between them.
 * @param list at whose prices; undefined: those of the book. What the list leaves to the book is among them, without `price_list`.
 * @param isAsked of which prices; the others only say where bands end.
 */
export async function textPricesBelowCost(
  prices: PricesInForce,
  upstreams: readonly TextUpstream[],
  list?: string,
  turns = new Turns(),
  isAsked: (price: PriceInForce) => boolean = () => true,
): Promise<PriceBelowCost[]> {
  const found: PriceBelowCost[] = [];
  for (const upstream of upstreams)
    for (const model of modelsOf(upstream)) {
      const costed = upstream.costs?.of(model)?.units() ?? [];
      if (costed.length === 0) continue;
      if (turns.isOver) await nextTurn(turns);
      const ofModel = prices.lookUp(model, list);
      for (const { tier: variant, unit } of costed) {
        const bands = bandsOf(ofModel, unit, variant);
        for (const [place, price] of bands.entries())
          if (isAsked(price))
            found.push(...textPriceBelowCost(upstream, model, { ...price, unit }, bands[place + 1]?.fromInputTokens));
      }
    }
  return found;
}

/** The prices of a unit by the size of the input, the base first; of the kind that it is sold as where it has none. */
function bandsOf(prices: readonly PriceInForce[], unit: string, variant: string): readonly PriceInForce[] {
  const [own, stand] = [unit, SOLD_AS[unit]].map((sold) =>
    prices.filter((price) => price.unit === sold && price.variant === variant),
  );
  const found = own && own.length > 0 ? own : (stand ?? []);
  return found.toSorted((one, other) => one.fromInputTokens - other.fromInputTokens);
}
