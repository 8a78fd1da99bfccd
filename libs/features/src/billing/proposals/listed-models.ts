import { type Decimal, type FeeUnit, isJsonObject, readDecimal, serviceTierOf, type TokenUnit } from '#contracts';
import { jsonValues, nextTurn, Turns } from '#platform';
import { BAND_MAX } from '../prices/check-prices.js';

/** The forms in which public lists and vendors say their prices. */
export const LIST_SOURCES = ['litellm', 'models.dev', 'openrouter', 'upstream'] as const;
export type ListSource = (typeof LIST_SOURCES)[number];

/** A price of a list, in USD for one. */
export interface ListedPrice {
  readonly unit: TokenUnit | FeeUnit;
  readonly tier: string;
  /** The first count of input tokens at which it holds. */
  readonly fromInputTokens: number;
  readonly amount: Decimal;
}

export interface ListedModel {
  /** Its id there. */
  readonly id: string;
  /** Who sells it, in the words of the list. */
  readonly vendor: string | undefined;
  readonly prices: readonly ListedPrice[];
  /** What the list says and prices cannot: each field that was left out. */
  readonly unread: readonly string[];
  /** Whether all that it says of its bands has a known beginning. */
  readonly isUnsure: boolean;
  /** What the list calls the beginnings of bands, where they begin one token later here. */
  readonly movedBands: readonly number[];
  /** Whether another entry of the same id says other prices. */
  readonly isTwice?: boolean;
}

/** A list whose form is not the one that was named. */
export class UnreadList extends Error {}

/** No list is longer, with every vendor of every model. */
const MODELS_MAX = 50_000;
/** An entry takes some thousand characters. */
const ENTRY_CHARACTERS_MAX = 1024 * 1024;

/** How deep the models stand, and what leads to them. */
const PLACES: Readonly<Record<ListSource, { readonly depth: number; readonly holds: (path: Path) => boolean }>> = {
  // The first key explains the others.
  litellm: { depth: 1, holds: ([key]) => key !== 'sample_spec' },
  'models.dev': { depth: 3, holds: ([, list]) => list === 'models' },
  openrouter: { depth: 2, holds: ([list]) => list === 'data' },
  upstream: { depth: 2, holds: ([list]) => list === 'data' || list === 'models' },
};
type Path = readonly (string | number)[];

/**
 * Reads the models of a list that are sold by tokens; those of an upstream's own list also without a price. Gives way to other work.
 *
 * @throws UnreadList
 */
export async function listedModels(source: ListSource, text: string): Promise<readonly ListedModel[]> {
  const { depth, holds } = PLACES[source];
  const models: ListedModel[] = [];
  const turns = new Turns();
  try {
    for (const { path, json } of jsonValues(text, depth)) {
      if (turns.isOver) await nextTurn(turns);
      if (!holds(path)) continue;
      if (json.length > ENTRY_CHARACTERS_MAX) throw new UnreadList('one of its entries is too long');
      const entry: unknown = JSON.parse(json);
      const model = isJsonObject(entry) ? READERS[source](path, entry) : undefined;
      if (model && model.id !== '' && (model.prices.length > 0 || source === 'upstream')) models.push(model);
      if (models.length > MODELS_MAX) throw new UnreadList(`it has more than ${MODELS_MAX} models`);
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw new UnreadList(`it is no JSON: ${error.message}`);
    throw error;
  }
  return told(models);
}

/** Each under an id of its own: those that several vendors sell under one are told by the vendor too. */
function told(models: readonly ListedModel[]): readonly ListedModel[] {
  const vendors = new Map<string, Set<string | undefined>>();
  for (const { id, vendor } of models) vendors.set(id, (vendors.get(id) ?? new Set()).add(vendor));
  const found = new Map<string, ListedModel>();
  for (const model of models) {
    const isShared = (vendors.get(model.id)?.size ?? 0) > 1 && model.vendor !== undefined;
    const id = isShared ? `${model.vendor}/${model.id}` : model.id;
    const before = found.get(id);
    if (!before) found.set(id, { ...model, id });
    else if (pricesIn(before) !== pricesIn(model)) found.set(id, { ...before, isTwice: true });
  }
  return [...found.values()];
}

const pricesIn = ({ prices }: ListedModel): string =>
  prices
    .map((price) => `${keyOf(price)}=${price.amount.digits}e-${price.amount.places}`)
    .toSorted()
    .join();

type Fields = Readonly<Record<string, unknown>>;
const fieldsIn = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const listIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

class Reading {
  private readonly prices = new Map<string, ListedPrice>();
  private readonly unread = new Set<string>();
  private readonly moved = new Set<number>();
  isUnsure = false;

  constructor(
    private readonly id: string,
    private readonly vendor: string | undefined,
  ) {}

  /** @param places how many places the list moves the point, as amounts for a million tokens do. */
  take(field: string, value: unknown, { unit, tier = 'default', from = 0, places = 0 }: Taken): void {
    const amount = readDecimal(value);
    if (amount) {
      const price = { unit, tier, fromInputTokens: from, amount: { ...amount, places: amount.places + places } };
      this.prices.set(JSON.stringify([unit, tier, from]), price);
    } else if (value !== undefined && value !== null) this.unread.add(field);
  }

  /** What is left out, unless it is nothing. */
  leave(field: string, value: unknown): void {
    const amount = readDecimal(value);
    if (value !== undefined && value !== null && amount?.digits !== 0n) this.unread.add(field);
  }

  /**
   * The first count of a band whose beginning a list gives; undefined, and left out, where it is none. Lists cannot be trusted on whether they mean it to be within; all vendors begin with
   * the token behind it but xAI.
   */
  beginningOf(field: string, said: unknown): number | undefined {
    const listed = typeof said === 'string' && said.trim() !== '' ? Number(said) : said;
    if (!Number.isSafeInteger(listed) || Number(listed) < 1 || Number(listed) >= BAND_MAX) {
      this.unread.add(field);
      return undefined;
    }
    return this.behind(Number(listed));
  }

  private behind(listed: number): number {
    if (/^x-?ai$/i.test(this.vendor ?? '')) return listed;
    this.moved.add(listed);
    return listed + 1;
  }

  end(): ListedModel {
    const prices = completed(withoutEmpty([...this.prices.values()]));
    return {
      id: this.id,
      vendor: this.vendor,
      prices,
      unread: [...this.unread],
      isUnsure: this.isUnsure,
      movedBands: [...this.moved],
    };
  }
}

interface Taken {
  readonly unit: TokenUnit | FeeUnit;
  readonly tier?: string | undefined;
  readonly from?: number;
  readonly places?: number;
}

/** A list that says 0 for a part of the input or output says that it has no price of its own: free it would be sold at a loss. */
function withoutEmpty(prices: readonly ListedPrice[]): readonly ListedPrice[] {
  const isFree = prices.every(({ unit, amount }) => !isWhole(unit) || amount.digits === 0n);
  return isFree ? prices : prices.filter(({ unit, amount }) => isWhole(unit) || amount.digits > 0n);
}
const isWhole = (unit: string): boolean => unit === 'input_token' || unit === 'output_token';

/**
 * Lists leave out of a band, and of a tier in it, what stays as it was. A band here names every kind of token; of a tier without one, the
 * dearer of its own and everyone's is taken.
 */
function completed(prices: readonly ListedPrice[]): readonly ListedPrice[] {
  const starts = new Set(prices.map(({ fromInputTokens }) => fromInputTokens));
  const found = new Map(prices.map((price) => [keyOf(price), price]));
  const ordered = ['default', ...new Set(prices.flatMap(({ tier }) => (tier === 'default' ? [] : tier)))];
  for (const from of starts) {
    if (from === 0) continue;
    for (const tier of ordered)
      for (const base of prices.filter((price) => price.tier === tier && price.fromInputTokens === 0)) {
        const price = { ...base, fromInputTokens: from };
        if (!base.unit.endsWith('token') || found.has(keyOf(price))) continue;
        const ofEveryone = found.get(keyOf({ ...price, tier: 'default' }));
        found.set(keyOf(price), ofEveryone ? { ...price, amount: dearer(base.amount, ofEveryone.amount) } : price);
      }
  }
  return [...found.values()];
}
const keyOf = ({ unit, tier, fromInputTokens }: Omit<ListedPrice, 'amount'>): string =>
  `${unit}|${tier}|${fromInputTokens}`;

/** The larger of two decimals. */
export const dearer = (one: Decimal, other: Decimal): Decimal => {
  const places = Math.max(one.places, other.places);
  const whole = (each: Decimal): bigint => each.digits * 10n ** BigInt(places - each.places);
  return whole(other) > whole(one) ? other : one;
};

const TOKENS_OF_LITELLM: Readonly<Record<string, TokenUnit>> = {
  input_cost_per_token: 'input_token',
  output_cost_per_token: 'output_token',
  output_cost_per_reasoning_token: 'reasoning_token',
  cache_read_input_token_cost: 'cached_input_token',
  cache_creation_input_token_cost: 'cache_write_token',
  cache_creation_input_token_cost_above_1hr: 'cache_write_long_token',
  input_cost_per_audio_token: 'audio_input_token',
  output_cost_per_audio_token: 'audio_output_token',
  input_cost_per_image_token: 'image_token',
  output_cost_per_image_token: 'image_output_token',
};
const FIELD_OF_LITELLM = /^(.+?)(?:_above_(\d+)k_tokens)?(?:_(priority|flex|batches))?$/;
const TIER_OF_LITELLM: Readonly<Record<string, string>> = { priority: 'priority', flex: 'flex', batches: 'batch' };

function ofLitellm([key = '']: Path, entry: Fields): ListedModel | undefined {
  const id = String(key);
  const reading = new Reading(id, textIn(entry['litellm_provider']) ?? /^([^/]+)\//.exec(id)?.[1]);
  let isText = false;
  const takeAll = (fields: Fields, start: number, at = ''): void => {
    for (const [field, value] of Object.entries(fields)) {
      const [, name = '', thousands, tier] = FIELD_OF_LITELLM.exec(field) ?? [];
      const unit = Object.hasOwn(TOKENS_OF_LITELLM, name) ? TOKENS_OF_LITELLM[name] : undefined;
      const from = thousands === undefined ? start : reading.beginningOf(at + field, Number(thousands) * 1_000);
      if (from === undefined) continue;
      if (unit) {
        isText ||= unit === 'input_token' && value !== null;
        reading.take(at + field, value, { unit, from, tier: TIER_OF_LITELLM[tier ?? ''] });
      } else if (/_cost(_|$)|_price/.test(field) && !isJsonObject(value)) reading.leave(at + field, value);
    }
  };
  takeAll(entry, 0);
  for (const band of listIn(entry['tiered_pricing'])) {
    const [start = 0] = Array.isArray(band['range']) ? (band['range'] as unknown[]) : [];
    const from = Number(start) === 0 ? 0 : reading.beginningOf('tiered_pricing.range', start);
    if (from !== undefined) takeAll(band, from, 'tiered_pricing.');
  }
  const searches = Object.values(fieldsIn(entry['search_context_cost_per_query'])).flatMap(
    (each) => readDecimal(each) ?? [],
  );
  const [first, ...others] = searches;
  if (first)
    reading.take('search_context_cost_per_query', textOf(others.reduce(dearer, first)), {
      unit: 'vendor_web_search_call',
    });
  return isText ? reading.end() : undefined;
}

/** A decimal as text, which is read as the same one. */
const textOf = ({ digits, places }: Decimal): string => `${digits}e-${places}`;

const OF_MODELS_DEV: Readonly<Record<string, TokenUnit>> = {
  input: 'input_token',
  output: 'output_token',
  reasoning: 'reasoning_token',
  cache_read: 'cached_input_token',
  cache_write: 'cache_write_token',
  input_audio: 'audio_input_token',
  output_audio: 'audio_output_token',
};
/** The list says amounts for a million tokens. */
const MILLION_PLACES = 6;

function ofModelsDev([vendor, , key = '']: Path, entry: Fields): ListedModel | undefined {
  const cost = fieldsIn(entry['cost']);
  const reading = new Reading(textIn(entry['id']) ?? String(key), String(vendor));
  const takeAll = (
    fields: Fields,
    at: string,
    { tier, from = 0 }: { readonly tier?: string; readonly from?: number } = {},
  ): void => {
    for (const [field, value] of Object.entries(fields)) {
      const unit = Object.hasOwn(OF_MODELS_DEV, field) ? OF_MODELS_DEV[field] : undefined;
      if (unit) reading.take(at + field, value, { unit, tier, from, places: MILLION_PLACES });
      else if (!isJsonObject(value) && !Array.isArray(value)) reading.leave(at + field, value);
    }
  };
  takeAll(cost, 'cost.');
  const tiers = listIn(cost['tiers']);
  for (const { tier, ...fields } of tiers) {
    const { type, size } = fieldsIn(tier);
    const from = type === 'context' ? reading.beginningOf('cost.tiers', size) : undefined;
    if (from !== undefined) takeAll(fields, 'cost.tiers.', { from });
    else reading.leave('cost.tiers', 'of another kind');
  }
  if (tiers.length === 0 && isJsonObject(cost['context_over_200k'])) {
    // Made from any band that begins there or later: sold from the earliest.
    reading.isUnsure = true;
    takeAll(fieldsIn(cost['context_over_200k']), 'cost.context_over_200k.', { from: 200_001 });
  }
  for (const [mode, of] of Object.entries(fieldsIn(fieldsIn(entry['experimental'])['modes']))) {
    const tier = serviceTierOf(mode);
    const ofMode = fieldsIn(fieldsIn(of)['cost']);
    if (tier !== undefined && tier !== 'other') takeAll(ofMode, `experimental.modes.${mode}.`, { tier });
    else if (Object.keys(ofMode).length > 0) reading.leave(`experimental.modes.${mode}`, 'of another tier');
  }
  return readDecimal(cost['input']) ? reading.end() : undefined;
}

const OF_OPENROUTER: Readonly<Record<string, TokenUnit | FeeUnit>> = {
  prompt: 'input_token',
  completion: 'output_token',
  internal_reasoning: 'reasoning_token',
  input_cache_read: 'cached_input_token',
  input_cache_write: 'cache_write_token',
  input_cache_write_1h: 'cache_write_long_token',
  audio: 'audio_input_token',
  audio_output: 'audio_output_token',
  image_token: 'image_token',
  image_output: 'image_output_token',
  request: 'request',
  web_search: 'vendor_web_search_call',
};
/** What is no price, and those that hold prices. */
const APART_IN_OPENROUTER = new Set(['overrides', 'discount', 'min_prompt_tokens', 'utc_start', 'utc_end']);

const isNegative = (price: unknown): boolean =>
  typeof price === 'string' ? price.startsWith('-') : typeof price === 'number' && price < 0;

function ofOpenrouter(id: string, pricing: Fields): ListedModel | undefined {
  const reading = new Reading(id, /^([^/]+)\//.exec(id)?.[1]);
  // Those of a router stand for whatever model it picks.
  if (Object.values(pricing).some(isNegative)) return undefined;
  const overrides = listIn(pricing['overrides']);
  const base = atPeak(pricing, overrides.filter(isByTimeAlone));
  const takeAll = (fields: Fields, from: number): void => {
    for (const [field, value] of Object.entries(fields)) {
      const unit = Object.hasOwn(OF_OPENROUTER, field) ? OF_OPENROUTER[field] : undefined;
      if (unit) reading.take(`pricing.${field}`, value, { unit, from });
      else if (!APART_IN_OPENROUTER.has(field)) reading.leave(`pricing.${field}`, value);
    }
  };
  takeAll(base, 0);
  const starts = new Set(overrides.map(startOf).filter((start) => start > 0));
  for (const start of starts) {
    const ofBand = overrides.filter((each) => startOf(each) === start);
    const always = Object.assign({}, ...ofBand.filter((each) => !isByTime(each))) as Fields;
    const from = reading.beginningOf('pricing.overrides', start);
    if (from !== undefined) takeAll(atPeak(always, ofBand.filter(isByTime)), from);
  }
  return readDecimal(pricing['prompt']) ? reading.end() : undefined;
}

const startOf = ({ min_prompt_tokens: start }: Fields): number => (Number.isSafeInteger(start) ? Number(start) : 0);
const isByTime = ({ utc_start: start, utc_end: end }: Fields): boolean => start != null || end != null;
const isByTimeAlone = (each: Fields): boolean => isByTime(each) && startOf(each) === 0;

/** Of prices by the hour the dearest is taken all day. */
function atPeak(fields: Fields, byTime: readonly Fields[]): Fields {
  const peak = new Map(Object.entries(fields));
  for (const [field, value] of byTime.flatMap((each) => Object.entries(each))) {
    const [known, found] = [readDecimal(peak.get(field)), readDecimal(value)];
    if (found) peak.set(field, known ? textOf(dearer(known, found)) : value);
  }
  return Object.fromEntries(peak);
}

const READERS: Readonly<Record<ListSource, (path: Path, entry: Fields) => ListedModel | undefined>> = {
  litellm: ofLitellm,
  'models.dev': ofModelsDev,
  openrouter: (_path, entry) => ofOpenrouter(textIn(entry['id']) ?? '', fieldsIn(entry['pricing'])),
  upstream: (_path, entry) => {
    const id = (textIn(entry['id']) ?? textIn(entry['name']) ?? '').replace(/^models\//, '');
    if (id === '') return undefined;
    const vendor = textIn(entry['owned_by']);
    const none = { id, vendor, prices: [], unread: [], isUnsure: false, movedBands: [] };
    return isJsonObject(entry['pricing']) ? (ofOpenrouter(id, entry['pricing']) ?? none) : none;
  },
};
