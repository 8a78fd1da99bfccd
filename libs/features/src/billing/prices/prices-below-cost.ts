import { Injectable } from '@nestjs/common';
import { CATALOG, formatMicros, type ModelFamily } from '#contracts';
import { nextTurn, Turns } from '#platform';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { TextUpstreams } from '../../upstreams/text-upstreams.js';
import type { DatedPrice } from './check-prices.js';
import { ADDED_PRICE, PriceBook, type PricesInForce } from './price-book.js';
import { grouped, type PriceInForce, type PriceRule } from './price-rules.js';
import { type PriceBelowCost, textPricesBelowCost } from './text-below-cost.js';

/** What a price is for, and how much it is: `amountMicros` for each `perQuantity` units. */
interface AskedPrice extends Omit<DatedPrice, 'effectiveFrom'> {
  /** The price list whose rule makes it; absent: the book. */
  readonly list?: string;
}

/** The most warnings of rules that are told at once. */
const WARNINGS_MAX = 1_000;

const FAMILIES: readonly ModelFamily[] = CATALOG;
const SOLD = FAMILIES.flatMap(({ models, unit, variants }) =>
  models.flatMap((model) => (variants[model] ?? []).map((variant) => ({ model, unit: unit as string, variant }))),
);
const SOLD_BY_MODEL = grouped(SOLD, ({ model }) => model);

/** Finds prices that are lower than what the work costs, as far as `costs` of the upstreams say. */
@Injectable()
export class PricesBelowCost {
  constructor(
    private readonly prices: PriceBook,
    private readonly upstreams: MediaUpstreams,
    private readonly texts: TextUpstreams,
  ) {}

  /** Of the prices in force: those of the book, and those that a list changes. */
  async all(): Promise<PriceBelowCost[]> {
    const inForce = await this.prices.inForce();
    const turns = new Turns();
    const found = await this.at(inForce, undefined, turns);
    for (const list of inForce.lists)
      found.push(...(await this.at(inForce, list, turns)).filter((each) => each.price_list));
    return found;
  }

  /** What the rules of a list would sell below cost once they are in force, at most a thousand of it. */
  async ofRules(
    list: string,
    rules: readonly Omit<PriceRule, 'id' | 'listId'>[],
    turns = new Turns(),
  ): Promise<PriceBelowCost[]> {
    const added = rules.map((rule) => ({ ...rule, id: 'added', listId: list }));
    const found = await this.at((await this.prices.inForce()).withRules(added), list, turns);
    const named = new Set(rules.map(({ model }) => model));
    return found.filter((each) => each.price_list && (named.has('*') || named.has(each.model))).slice(0, WARNINGS_MAX);
  }

  private async at(
    inForce: PricesInForce,
    list: string | undefined,
    turns: Turns,
    isAsked: (price: PriceInForce) => boolean = () => true,
  ): Promise<PriceBelowCost[]> {
    const media: PriceBelowCost[] = [];
    for (const [model, sold] of SOLD_BY_MODEL) {
      if (turns.isOver) await nextTurn(turns);
      const base = inForce.lookUp(model, list).filter(({ fromInputTokens }) => fromInputTokens === 0);
      for (const { unit, variant } of sold) {
        const asked = base.filter((each) => each.unit === unit && each.variant === variant && isAsked(each));
        for (const price of asked) media.push(...this.ofMedia({ ...price, model }));
      }
    }
    return [...media, ...(await textPricesBelowCost(inForce, this.texts.all, list, turns, isAsked))];
  }

  /**
   * What these prices of the book would sell below cost, beside its others and by the factor of each list, whether or not they are in
   * force; of lists at most a thousand.
   */
  async ofPrices(asked: readonly AskedPrice[], turns = new Turns()): Promise<PriceBelowCost[]> {
    const inForce = (await this.prices.inForce()).with(asked);
    const isAsked = ({ id }: PriceInForce): boolean => id === ADDED_PRICE;
    const ofBook = await this.at(inForce, undefined, turns, isAsked);
    const ofLists: PriceBelowCost[] = [];
    for (const list of inForce.lists) {
      const isMoved = (price: PriceInForce): boolean => isAsked(price) && inForce.isByFactor(price);
      if (ofLists.length < WARNINGS_MAX) ofLists.push(...(await this.at(inForce, list, turns, isMoved)));
    }
    return [...ofBook, ...ofLists.slice(0, WARNINGS_MAX)];
  }

  private ofMedia({ model, unit, variant, amountMicros, perQuantity, list }: AskedPrice): PriceBelowCost[] {
    if (!SOLD_BY_MODEL.get(model)?.some((sold) => sold.unit === unit && sold.variant === variant)) return [];
    return this.upstreams.serving(model).flatMap(({ upstream, costOfUnit }) => {
      const cost = costOfUnit?.(model, variant)?.worthMicros;
      if (cost === undefined || cost * perQuantity <= amountMicros) return [];
      const facts = { model, unit, variant, ...(list !== undefined && { price_list: list }), upstream: upstream.id };
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
    const texts = this.texts.all.flatMap(({ provider: { id }, models, costs }) =>
      [...(models?.keys() ?? [])].flatMap((model) => {
        const unit = costs?.of(model)?.unvalued(Date.now());
        return unit === undefined ? [] : [[id, unit] as const];
      }),
    );
    return [...new Map([...units, ...texts])].map(([upstream, unit]) => ({ upstream, unit }));
  }
}

export const belowCostText = ({
  model,
  unit,
  variant,
  upstream,
  price_list: list,
  from_input_tokens: from,
  ...amounts
}: PriceBelowCost): string =>
  `${model} (${amounts.per_quantity === undefined ? variant : `${unit}${from === undefined ? '' : ` from ${from} tokens of input`}, ${variant}`}${list === undefined ? '' : `, list ${list}`}) sells at ${formatMicros(amounts.price_micros)} and costs ${formatMicros(amounts.cost_micros)} at ${upstream}`;
