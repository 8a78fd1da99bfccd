import type { DatedPrice, DatedRule } from './check-prices.js';

/** A price that is in force: `amountMicros` for each `perQuantity` units. */
export interface PriceInForce extends Omit<DatedPrice, 'model' | 'effectiveFrom'> {
  readonly id: string;
  /** The list and the rule that it is of, where the book alone does not say it. */
  readonly list?: string;
  readonly rule?: string;
}

export interface ListedPrice extends PriceInForce {
  readonly model: string;
}

/** A rule of a price list that is in force: a factor of what the book says, or an amount of its own. */
export interface PriceRule extends Omit<DatedRule, 'effectiveFrom'> {
  readonly id: string;
  readonly listId: string;
}

const MILLION = 1_000_000n;

/**
 * The prices of a model by the rules of one list: for each unit, tier and band its own amount, else the factor of the model, else the one of
 * every model, else the book. One rule applies: factors never multiply. Of several that fit, the one that says most holds.
 *
 * @param rules of the model and of `*`.
 */
export function pricedBy(rules: readonly PriceRule[], prices: readonly PriceInForce[]): readonly PriceInForce[] {
  const amounts = rules.filter(({ amountMicros }) => amountMicros !== null);
  const listed = prices.map((price) => applied(price, rules));
  const beside = amounts.filter((rule) => !prices.some((price) => isAmountOf(rule, price))).map(ofItsOwn);
  return [...listed, ...beside];
}

function applied(price: PriceInForce, rules: readonly PriceRule[]): PriceInForce {
  const own = rules.find((rule) => rule.amountMicros !== null && isAmountOf(rule, price));
  if (own) return { ...ofItsOwn(own), id: price.id };
  const factors = rules.filter((rule) => rule.factorMillionths !== null && fits(rule, price));
  const [first, ...others] = factors;
  if (!first) return price;
  const { listId: list, id: rule, factorMillionths } = others.reduce(narrower, first);
  return { ...price, ...fraction(price.amountMicros * (factorMillionths ?? MILLION), price.perQuantity), list, rule };
}

/** An amount is of one price, as an entry of the book is. */
const isAmountOf = ({ unit, variant, fromInputTokens }: PriceRule, price: PriceInForce): boolean =>
  unit === price.unit && (variant ?? 'default') === price.variant && (fromInputTokens ?? 0) === price.fromInputTokens;

const fits = ({ unit, variant, fromInputTokens }: PriceRule, price: PriceInForce): boolean =>
  (unit ?? price.unit) === price.unit &&
  (variant ?? price.variant) === price.variant &&
  (fromInputTokens ?? price.fromInputTokens) === price.fromInputTokens;

const saidBy = ({ model, unit, variant, fromInputTokens }: PriceRule): number =>
  (model === '*' ? 0 : 4) + [unit, variant, fromInputTokens].filter((each) => each !== null).length;

const narrower = (one: PriceRule, other: PriceRule): PriceRule => (saidBy(other) > saidBy(one) ? other : one);

const ofItsOwn = (rule: PriceRule): PriceInForce => ({
  id: rule.id,
  unit: rule.unit ?? '',
  variant: rule.variant ?? 'default',
  fromInputTokens: rule.fromInputTokens ?? 0,
  amountMicros: rule.amountMicros ?? 0n,
  perQuantity: rule.perQuantity ?? 1n,
  list: rule.listId,
  rule: rule.id,
});

/** An amount of millionths of micros for so many units, exactly, for as few units as that takes: a line is rounded once. */
function fraction(millionths: bigint, perQuantity: bigint): Pick<PriceInForce, 'amountMicros' | 'perQuantity'> {
  const common = greatestCommon(millionths, MILLION);
  return { amountMicros: millionths / common, perQuantity: perQuantity * (MILLION / common) };
}

const greatestCommon = (one: bigint, other: bigint): bigint =>
  other === 0n ? one : greatestCommon(other, one % other);

/** The rules of a list that are about a model. */
export const rulesOf = (rules: readonly PriceRule[], model: string): readonly PriceRule[] =>
  rules.filter((rule) => rule.model === model || rule.model === '*');

export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const found = new Map<string, Item[]>();
  for (const item of items) {
    const known = found.get(keyOf(item));
    if (known) known.push(item);
    else found.set(keyOf(item), [item]);
  }
  return found;
}
