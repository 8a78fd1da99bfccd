import {
  callsOf,
  dividedHalfUp,
  type FeeUnit,
  type Micros,
  type OpenedUnit,
  type ReportedUnit,
  type TextUsage,
  type TokenUnit,
  TOOL_UNITS,
  type ToolUnit,
  type ToolUses,
} from '#contracts';
import type { PriceLine } from '../ledger/request-usage.js';
import type { PriceInForce } from './price-rules.js';

type TextUnit = TokenUnit | FeeUnit | ToolUnit;
type UnitPrices = Readonly<Partial<Record<TextUnit, PriceInForce>>>;
/** Where a kind of token has no price, it is sold as input or as output, and what is counted by calls is free. */
type BandPrices = UnitPrices & Readonly<Record<'input_token' | 'output_token', PriceInForce>>;

/** The prices of a model from so many input tokens on. */
interface Band {
  readonly from: number;
  readonly prices: BandPrices;
  /** What requests are held at that ask for nothing beside text, which are most. */
  readonly held: HeldPrices;
}

/** The dearest prices of what a request may use. */
interface HeldPrices {
  readonly input: PriceInForce;
  readonly output: PriceInForce;
  readonly request: PriceInForce | undefined;
  readonly search: PriceInForce | undefined;
}

/** What a text request costs, line by line. The lines add up to `chargeMicros`. */
export interface TextBill {
  readonly chargeMicros: Micros;
  readonly lines: readonly PriceLine[];
}

/** What decides the prices that a request is held at, beside its input. */
export interface HeldAt {
  /** The service tier that it asks for; absent: that of everyone. */
  readonly tier?: string | undefined;
  /** The most that its model reads; absent: unknown. */
  readonly contextTokens?: number | undefined;
  /** The most calls of tools that the gateway may run for it. */
  readonly tools?: ToolUses | undefined;
  /** What it asks for beside text. */
  readonly opens?: readonly OpenedUnit[] | undefined;
  readonly searches?: number | undefined;
  /** How many requests to its vendor it may take, each with fees of its own; one, unless it is set. */
  readonly requests?: number | undefined;
}

const NOTHING_ASKED: HeldAt = {};

/** Newer tokenizers count up to so many times the tokens that are held for. */
const REACH_PERCENT = 135;

/** A list that lowers only the input leaves what is read from a cache the dearest. */
const HELD_INPUT: readonly TokenUnit[] = ['input_token', 'cached_input_token', 'cache_write_token', 'image_token'];
/** What a model may make without being asked for it belongs here too. */
const HELD_OUTPUT: readonly TokenUnit[] = ['output_token', 'reasoning_token', 'image_output_token'];

/**
 * The prices of one text model at one moment: by service tier, and in each by the bands of its input, of which the whole call takes one.
 * Amounts are exact: each line is rounded half up to a whole micro.
 */
export class TextTariff {
  /** Of each tier the prices below all bands first, then its bands by their beginnings. */
  private readonly tiers = new Map<string, readonly Band[]>();
  private readonly standard: readonly Band[];
  private readonly ofCalls: UnitPrices;

  /**
   * @param prices all of the model that are in force.
   * @param isInputOnly true for a model that writes nothing: it needs no price for output.
   */
  constructor(prices: readonly PriceInForce[], isInputOnly = false) {
    for (const tier of new Set(prices.map(({ variant }) => variant))) {
      const bands = bandsOf(
        prices.filter(({ variant }) => variant === tier),
        isInputOnly,
      );
      if (bands[0]?.from === 0) this.tiers.set(tier, bands);
    }
    this.standard = this.tiers.get('default') ?? [];
    this.ofCalls = Object.fromEntries(
      prices
        .filter((price) => price.variant === 'default' && price.fromInputTokens === 0)
        .map((price) => [price.unit, price]),
    );
  }

  /** Whether the model has the prices that it cannot be sold without. */
  get isSold(): boolean {
    return this.standard.length > 0;
  }

  /** Whether a service tier has prices of its own. */
  sellsTier(tier: string): boolean {
    return this.tiers.has(tier);
  }

  /** Whether a unit that requests can do without has a price in the tier. */
  sells(unit: OpenedUnit, tier = 'default'): boolean {
    const price = this.priceIn(this.bandsOf(tier)[0]!, unit);
    return price !== undefined;
  }

  /**
   * The most a request may cost: its input, and all the output it may ask for, each at the dearest price of the bands that the input can
   * reach, in the tier that it asks for or the one of everyone.
   *
   * @throws RangeError: a count is no whole number from 0 to 2^53.
   */
  estimate(inputTokens: number, outputTokens: number, asked: HeldAt = NOTHING_ASKED): Micros {
    const held = this.heldAt(inputTokens, asked);
    return amountOf(inputTokens, held.input) + amountOf(outputTokens, held.output) + this.ofUses(held, asked);
  }

  /** How many tokens of output an amount covers beside the input, at the prices that it is held at. */
  outputCovered(inputTokens: number, amountMicros: Micros, asked: HeldAt = NOTHING_ASKED): number {
    const held = this.heldAt(inputTokens, asked);
    const left = amountMicros - amountOf(inputTokens, held.input) - this.ofUses(held, asked);
    const { amountMicros: price, perQuantity } = held.output;
    if (left <= 0n) return 0;
    return price === 0n ? Number.MAX_SAFE_INTEGER : Number((left * perQuantity) / price);
  }

  /**
   * The bill of a finished request. Tokens read from a cache, written to one, and those of images and sound are parts of the input,
   * reasoning tokens of the output: none is counted twice, and a vendor that reports a part larger than its whole never
   * makes a negative line.
   *
   * @param tier the one that served it; one without prices is that of everyone.
   * @throws RangeError: a count is no whole number from 0 to 2^53.
   */
  bill(usage: TextUsage | undefined, tools?: ToolUses, tier = 'default'): TextBill {
    const lines: PriceLine[] = [];
    if (usage) for (const call of callsOf(usage)) this.addUsage(lines, call, this.bandsOf(tier));
    if (tools) lines.push(...this.toolLines(tools));
    return { lines, chargeMicros: lines.reduce((sum, { amountMicros }) => sum + amountMicros, 0n) };
  }

  /** What was reported and has no price of its own; undefined: nothing. */
  unpricedOf({ units }: TextUsage, tier = 'default'): Readonly<Partial<Record<ReportedUnit, number>>> | undefined {
    if (!units) return undefined;
    const [base] = this.bandsOf(tier);
    const found = Object.entries(units).filter(([unit]) => !base || !this.priceIn(base, unit as TextUnit));
    return found.length === 0 ? undefined : Object.fromEntries(found);
  }

  private bandsOf(tier: string): readonly Band[] {
    return this.tiers.get(tier) ?? this.standard;
  }

  /** What is counted by calls costs the same in every band and tier that says nothing else. */
  private priceIn({ prices }: Band, unit: TextUnit): PriceInForce | undefined {
    return prices[unit] ?? (unit.endsWith('token') ? undefined : this.ofCalls[unit]);
  }

  private addUsage(lines: PriceLine[], usage: TextUsage, bands: readonly Band[]): void {
    const band = bandAt(bands, usage.inputTokens);
    if (!band) return;
    const decided = bands.length > 1 ? usage.inputTokens : undefined;
    for (const [unit, quantity] of tokensByUnit(usage, band.prices))
      if (quantity !== 0) lines.push(lineOf(priceOf(band.prices, unit), unit, quantity, usage, decided));
    this.addFee(lines, band, 'request', 1, usage);
    this.addFee(lines, band, 'vendor_web_search_call', usage.units?.vendor_web_search_call ?? 0, usage);
  }

  private addFee(lines: PriceLine[], band: Band, unit: FeeUnit, quantity: number, usage: TextUsage): void {
    const price = this.priceIn(band, unit);
    if (price && quantity > 0) lines.push(lineOf(price, unit, quantity, usage));
  }

  /** One line for each kind of work that has a price. */
  private toolLines(tools: ToolUses): PriceLine[] {
    return TOOL_UNITS.flatMap((unit) => {
      const [price, quantity = 0] = [this.ofCalls[unit], tools[unit]];
      return price && quantity > 0 ? [lineOf(price, unit, quantity, COUNTED)] : [];
    });
  }

  /** The dearest prices of the bands that can be reached, whichever tier answers. */
  private heldAt(inputTokens: number, { tier = 'default', contextTokens, opens }: HeldAt): HeldPrices {
    const reach = Math.min(contextTokens ?? Number.MAX_SAFE_INTEGER, Math.ceil((inputTokens * REACH_PERCENT) / 100));
    const held = this.dearestWithin(this.standard, reach, opens);
    const asked = tier === 'default' ? undefined : this.tiers.get(tier);
    return asked ? dearerOf(held, this.dearestWithin(asked, reach, opens)) : held;
  }

  private dearestWithin(bands: readonly Band[], reach: number, opens: HeldAt['opens']): HeldPrices {
    let held: HeldPrices | undefined;
    for (let at = 0; at < bands.length && (at === 0 || bands[at]!.from <= reach); at += 1) {
      const band = bands[at]!;
      const ofBand = opens && opens.length > 0 ? heldIn(band.prices, opens) : band.held;
      held = held ? dearerOf(held, ofBand) : ofBand;
    }
    if (!held) throw new Error('a model without prices was to be held for');
    return held;
  }

  /** What is counted by calls; a fee that only the base names holds in all bands. */
  private ofUses({ request, search }: HeldPrices, { tools, opens, searches = 0, requests = 1 }: HeldAt): Micros {
    const fees = request ? amountOf(requests, request) : 0n;
    const ofSearches = search && opens?.includes('vendor_web_search_call') ? amountOf(requests * searches, search) : 0n;
    return fees + ofSearches + this.ofTools(tools);
  }

  /** The dearest that one of each call may be, times all of them: which of them are made is not known yet. */
  private ofTools(tools: ToolUses | undefined): Micros {
    if (!tools) return 0n;
    const { tool_round: rounds = 0, ...calls } = tools;
    const round = this.ofCalls.tool_round ? amountOf(rounds, this.ofCalls.tool_round) : 0n;
    const amounts = Object.entries(calls).map(([unit, most]) => {
      const price = this.ofCalls[unit as ToolUnit];
      return price ? amountOf(most, price) : 0n;
    });
    return round + amounts.reduce((dearest, amount) => (amount > dearest ? amount : dearest), 0n);
  }
}

/** A band without a price for input or output is none: its tokens are sold as those of the band before it. */
function bandsOf(prices: readonly PriceInForce[], isInputOnly: boolean): readonly Band[] {
  const starts = [...new Set(prices.map(({ fromInputTokens }) => fromInputTokens))].sort((one, other) => one - other);
  return starts.flatMap((from) => {
    const ofBand: UnitPrices = Object.fromEntries(
      prices.filter(({ fromInputTokens }) => fromInputTokens === from).map((price) => [price.unit, price]),
    );
    const { input_token: input, output_token: output = isInputOnly ? input : undefined } = ofBand;
    if (!input || !output) return [];
    const band: BandPrices = { ...ofBand, input_token: input, output_token: output };
    return [{ from, prices: band, held: heldIn(band) }];
  });
}

/** The last band that has begun; of a model without prices none. */
function bandAt(bands: readonly Band[], inputTokens: number): Band | undefined {
  let at = bands.length - 1;
  while (at > 0 && bands[at]!.from > inputTokens) at -= 1;
  return bands[at];
}

function heldIn(prices: BandPrices, opens: readonly OpenedUnit[] = []): HeldPrices {
  return {
    input: dearestOf(prices, [...HELD_INPUT, ...opens.filter(isOpenedInput)]),
    output: dearestOf(prices, [...HELD_OUTPUT, ...opens.filter(isOpenedOutput)]),
    request: prices.request,
    search: prices.vendor_web_search_call,
  };
}

const isOpenedInput = (unit: OpenedUnit): unit is OpenedUnit & TokenUnit =>
  unit === 'cache_write_long_token' || unit === 'audio_input_token';
const isOpenedOutput = (unit: OpenedUnit): unit is OpenedUnit & TokenUnit => unit === 'audio_output_token';

const dearestOf = (prices: BandPrices, units: readonly TokenUnit[]): PriceInForce =>
  units.map((unit) => priceOf(prices, unit)).reduce((dearest, price) => dearer(dearest, price));

const dearerOf = (one: HeldPrices, other: HeldPrices): HeldPrices => ({
  input: dearer(one.input, other.input),
  output: dearer(one.output, other.output),
  request: one.request && other.request ? dearer(one.request, other.request) : (one.request ?? other.request),
  search: one.search && other.search ? dearer(one.search, other.search) : (one.search ?? other.search),
});

const dearer = (one: PriceInForce, other: PriceInForce): PriceInForce =>
  other.amountMicros * one.perQuantity > one.amountMicros * other.perQuantity ? other : one;

/** A kind of token without a price is sold as input or as output. */
function priceOf(prices: BandPrices, unit: TokenUnit): PriceInForce {
  return prices[unit] ?? (OF_OUTPUT.has(unit) ? prices.output_token : prices.input_token);
}

const OF_OUTPUT: ReadonlySet<string> = new Set<TokenUnit>([
  'output_token',
  'reasoning_token',
  'audio_output_token',
  'image_output_token',
]);

/** How many tokens a usage has of each unit. Those of units that vendors seldom report count as what they are a part of, unless they have a price. */
function tokensByUnit(usage: TextUsage, prices: BandPrices): (readonly [TokenUnit, number])[] {
  const { inputTokens, outputTokens, units } = usage;
  const cached = Math.min(usage.cachedInputTokens, inputTokens);
  const written = Math.min(usage.cacheWriteTokens, inputTokens - cached);
  const image = Math.min(usage.imageInputTokens, inputTokens - cached - written);
  const reasoning = Math.min(usage.reasoningTokens, outputTokens);
  const counts: [TokenUnit, number][] = [
    ['input_token', inputTokens - cached - written - image],
    ['cached_input_token', cached],
    ['cache_write_token', written],
    ['image_token', image],
    ['output_token', outputTokens - reasoning],
    ['reasoning_token', reasoning],
  ];
  if (!units) return counts;
  for (const [unit, of] of PARTS) {
    const whole = counts.find(([each]) => each === of)!;
    const part = prices[unit] ? Math.min(units[unit] ?? 0, whole[1]) : 0;
    whole[1] -= part;
    counts.push([unit, part]);
  }
  return counts;
}

/** What is taken out of which count; sound and pictures in the order in which they are. */
const PARTS = [
  ['cache_write_long_token', 'cache_write_token'],
  ['audio_input_token', 'input_token'],
  ['audio_output_token', 'output_token'],
  ['image_output_token', 'output_token'],
] as const;

const COUNTED: Pick<TextUsage, 'source'> = { source: 'counted' };

function lineOf(
  price: PriceInForce,
  unit: string,
  quantity: number,
  { source }: Pick<TextUsage, 'source'>,
  bandTokens?: number,
): PriceLine {
  const line = {
    ...(price.rule !== undefined && { list: price.list, rule: price.rule }),
    priceId: price.id,
    unit,
    variant: price.variant,
    priceMicros: price.amountMicros,
    perQuantity: price.perQuantity,
    quantity,
    amountMicros: amountOf(quantity, price),
    source,
  };
  return bandTokens === undefined ? line : { ...line, fromInputTokens: price.fromInputTokens, bandTokens };
}

function amountOf(tokens: number, { amountMicros, perQuantity }: PriceInForce): Micros {
  if (!Number.isSafeInteger(tokens) || tokens < 0) throw new RangeError(`${tokens} tokens cannot be billed`);
  return dividedHalfUp(BigInt(tokens) * amountMicros, perQuantity);
}
