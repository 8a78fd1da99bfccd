import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { dividedHalfUp, GatewayError, type Billing, MAX_MICROS, type Micros } from '#contracts';
import { Database } from '#platform';
import { VARIANT } from './bands.js';
import { grouped, type ListedPrice, pricedBy, type PriceInForce, type PriceRule } from './price-rules.js';

/** How old a price list may get before it is read again, in milliseconds. */
const FRESH_MS = 5_000;
/** How old it may be where a price is missing, which an operator may just have set, in milliseconds. */
const FRESH_FOR_MISSING_MS = 20;

/** No request moves more, so that the books of an account never run over. */
export const MOST_HELD_MICROS = MAX_MICROS / 1_000_000n;

/** What a request costs, and by which price. */
export interface Quote {
  readonly priceId: string;
  /** The rule of a price list that made it; null: the book. */
  readonly ruleId: string | null;
  readonly unitMicros: Micros;
  /** Unit price times quantity: what submission holds, and the most that is ever charged. */
  readonly holdMicros: Micros;
}

/** The price in force now, for each variant, band and unit. */
const CURRENT_PRICES = `
select distinct on (p.model, p.unit, p.variant) id, model, unit, ${VARIANT}, from_input_tokens::int as "fromInputTokens",
  amount_micros as "amountMicros", per_quantity as "perQuantity"
from price p where effective_from <= now() and withdrawn_at is null order by p.model, p.unit, p.variant, effective_from desc`;

/** $1 one list, or null for all. Of each scope the rule that began last. */
export const RULES_IN_FORCE = `
select distinct on (list_id, model, scope)
  id, list_id as "listId", model, unit, variant, from_input_tokens::int as "fromInputTokens",
  factor_millionths as "factorMillionths", amount_micros as "amountMicros", per_quantity as "perQuantity"
from price_list_rule where effective_from <= now() and ($1::text is null or list_id = $1)
order by list_id, model, scope, effective_from desc`;

/** The price list that an account has now: the one that began last. `account`: an expression of SQL. */
export const priceListNow = (account: string): string =>
  `select list_id from account_price_list where account_id = ${account} and effective_from <= now() order by effective_from desc limit 1`;

/** What a model is sold as has no price. Trying again does not help. */
export function notPriced(model: string, variant: string, unit: string): GatewayError {
  const sort = variant === 'default' ? '' : ` for ${variant}`;
  const message = `The model "${model}" has no price${sort} here, so it cannot be sold.`;
  const log = `no price in force for ${model} ${unit} ${variant}`;
  return new GatewayError('model_not_priced', message, { param: 'model', log });
}

/** What rules name that are of all models. */
const EVERY_MODEL = '*';

/** The id of prices that are looked at as if they were in the book. */
export const ADDED_PRICE = 'added';

export class PricesInForce {
  /** Of the models that were asked for by a list: the rules are applied once. */
  private readonly byRules = new Map<string, readonly PriceInForce[]>();
  /** Of the lists that were asked for, their rules by model. */
  private readonly byModel = new Map<string, ReadonlyMap<string, readonly PriceRule[]>>();
  private readonly rules: ReadonlyMap<string, readonly PriceRule[]>;

  constructor(
    private readonly prices: ReadonlyMap<string, readonly PriceInForce[]>,
    rules: readonly PriceRule[] = [],
  ) {
    this.rules = grouped(rules, ({ listId }) => listId);
  }

  /** The same with other prices in place of those of the book. */
  with(changed: readonly Omit<ListedPrice, 'id'>[]): PricesInForce {
    const prices = new Map(this.prices);
    for (const [model, ofModel] of grouped(changed, (price) => price.model)) {
      const isReplaced = (price: PriceInForce): boolean => ofModel.some((other) => isSameSort(price, other));
      const kept = (prices.get(model) ?? []).filter((price) => !isReplaced(price));
      prices.set(model, [...kept, ...ofModel.map((price) => ({ ...price, id: ADDED_PRICE }))]);
    }
    return new PricesInForce(prices, [...this.rules.values()].flat());
  }

  get lists(): readonly string[] {
    return [...this.rules.keys()];
  }

  /** Whether a list makes a price out of that of the book. */
  isByFactor({ list, rule }: PriceInForce): boolean {
    const rules = list === undefined ? undefined : this.rules.get(list);
    return rules?.some(({ id, factorMillionths }) => id === rule && factorMillionths !== null) ?? false;
  }

  /** Of the lists of these rules alone: the same with them, each in place of those of its list, model, unit, variant and band. */
  withRules(added: readonly PriceRule[]): PricesInForce {
    const replaced = new Set(added.map(scopeOf));
    const lists = [...new Set(added.map(({ listId }) => listId))];
    const kept = lists.flatMap((list) => this.rules.get(list) ?? []).filter((rule) => !replaced.has(scopeOf(rule)));
    return new PricesInForce(this.prices, [...kept, ...added]);
  }

  /** All prices of a model, those of its bands too, as a list has them; without one as the book says. */
  ofModel(model: string, list?: string): readonly PriceInForce[] {
    const ofBook = this.prices.get(model) ?? [];
    const rules = list === undefined ? undefined : this.rules.get(list);
    if (!rules) return ofBook;
    const key = JSON.stringify([list, model]);
    const known = this.byRules.get(key);
    if (known) return known;
    const found = this.lookUp(model, list);
    // Names that nobody sells are not kept.
    if (found.length > 0) this.byRules.set(key, found);
    return found;
  }

  /** The same for one who goes through all lists: nothing is kept of it. */
  lookUp(model: string, list?: string): readonly PriceInForce[] {
    const ofBook = this.prices.get(model) ?? [];
    const rules = list === undefined ? undefined : this.rules.get(list);
    if (list === undefined || !rules) return ofBook;
    const ofModels = this.byModel.get(list) ?? grouped(rules, (rule) => rule.model);
    this.byModel.set(list, ofModels);
    const ofAll = model === EVERY_MODEL ? [] : (ofModels.get(EVERY_MODEL) ?? []);
    return pricedBy([...(ofModels.get(model) ?? []), ...ofAll], ofBook);
  }

  /**
   * The price in force.
   *
   * @throws GatewayError `model_not_priced`: there is none, so the model cannot be sold. Trying again does not help.
   */
  get(model: string, unit: string, variant: string, list?: string): PriceInForce {
    const price = this.find(model, unit, variant, list);
    if (price) return price;
    throw notPriced(model, variant, unit);
  }

  /** The price in force below all bands, or undefined when there is none. */
  find(model: string, unit: string, variant: string, list?: string): PriceInForce | undefined {
    return this.ofModel(model, list).find(
      (price) => price.unit === unit && price.variant === variant && price.fromInputTokens === 0,
    );
  }
}

/** The prices in force. Read from the database, kept for seconds, so that a new price needs no restart. */
@Injectable()
export class PriceBook {
  private prices = new PricesInForce(new Map());
  private readAt = Number.NEGATIVE_INFINITY;
  /** Tells whether what is read again says anything else. */
  private written = '';
  private reading: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /** The current prices; the same object as long as they stay the same. */
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
  async quote(model: string, { unit, variant, ...billing }: Billing, list?: string): Promise<Quote> {
    const price =
      (await this.inForce()).find(model, unit, variant, list) ?? (await this.reread()).get(model, unit, variant, list);
    // A factor may make fractions of a micro, of which a whole number is held and charged for each unit.
    const unitMicros = dividedHalfUp(price.amountMicros, price.perQuantity);
    const holdMicros = unitMicros * BigInt(billing.quantity);
    if (holdMicros > MOST_HELD_MICROS)
      throw new GatewayError('invalid_parameter', 'This request could cost more than any balance holds; ask for less.');
    return { priceId: price.id, ruleId: price.rule ?? null, unitMicros, holdMicros };
  }

  /** The price list that an account has now, for work that no request of it waits for; undefined: the book. */
  async listOf(accountId: string): Promise<string | undefined> {
    const { rows } = await this.database.query<{ list_id: string | null }>({
      name: 'price_list_now',
      text: priceListNow('$1'),
      values: [accountId],
    });
    return rows[0]?.list_id ?? undefined;
  }

  private async notOlderThan(ms: number): Promise<PricesInForce> {
    if (performance.now() - this.readAt > ms)
      await (this.reading ??= this.read().finally(() => (this.reading = undefined)));
    return this.prices;
  }

  private async read(): Promise<void> {
    const { rows } = await this.database.query<ListedPrice>({ name: 'current_prices', text: CURRENT_PRICES });
    const rules = await this.database.query<PriceRule>({
      name: 'current_price_rules',
      text: RULES_IN_FORCE,
      values: [null],
    });
    const written = digestOf(rows, rules.rows);
    this.readAt = performance.now();
    if (written === this.written) return;
    this.written = written;
    this.prices = new PricesInForce(
      grouped(rows, ({ model }) => model),
      rules.rows,
    );
  }
}

function digestOf(...tables: readonly (readonly object[])[]): string {
  const hash = createHash('sha256');
  for (const rows of tables) {
    for (const row of rows) hash.update(`${Object.values(row).join('\t')}\n`);
    hash.update('\n');
  }
  return hash.digest('base64');
}

type Sort = Pick<PriceInForce, 'unit' | 'variant' | 'fromInputTokens'>;
const isSameSort = (one: Sort, other: Sort): boolean =>
  one.unit === other.unit && one.variant === other.variant && one.fromInputTokens === other.fromInputTokens;

const scopeOf = ({ listId, model, unit, variant, fromInputTokens }: PriceRule): string =>
  JSON.stringify([listId, model, unit, variant, fromInputTokens]);
