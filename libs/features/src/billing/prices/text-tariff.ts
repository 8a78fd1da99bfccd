import { type Micros, type TextUsage, TOOL_UNITS, type ToolUnit, type ToolUses, type UsageSource } from '#contracts';
import type { PriceLine } from '../ledger/request-usage.js';
import type { PriceInForce } from './price-book.js';

/** The kinds of token that can have a price of their own. */
export const TOKEN_UNITS = [
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'image_token',
  'output_token',
  'reasoning_token',
] as const;
export type TokenUnit = (typeof TOKEN_UNITS)[number];

/**
 * The prices of one model; where a kind of token has none, it is sold as input or as output, and where the work of a tool
 * that the gateway runs has none, it is free.
 */
export type TokenPrices = Readonly<Partial<Record<TokenUnit | ToolUnit, PriceInForce>>> &
  Readonly<Record<'input_token' | 'output_token', PriceInForce>>;

/** What a text request costs, line by line. The lines add up to `chargeMicros`. */
export interface TextBill {
  readonly chargeMicros: Micros;
  readonly lines: readonly PriceLine[];
}

/** The prices of one text model at one moment. Amounts are exact: each line is rounded half up to a whole micro. */
export class TextTariff {
  private readonly dearestInput: PriceInForce;
  private readonly dearestOutput: PriceInForce;

  constructor(private readonly prices: TokenPrices) {
    this.dearestInput = this.dearestOf(['input_token', 'cache_write_token', 'image_token']);
    this.dearestOutput = this.dearestOf(['output_token', 'reasoning_token']);
  }

  /**
   * The most a request may cost: its input, and all the output it may ask for, each at its dearest price.
   *
   * @throws RangeError: a count is no whole number from 0 to 2^53.
   */
  estimate(inputTokens: number, outputTokens: number, tools?: ToolUses): Micros {
    const words = amountOf(inputTokens, this.dearestInput) + amountOf(outputTokens, this.dearestOutput);
    return words + this.ofTools(tools);
  }

  /** How many tokens of output an amount covers beside the input, at the dearest prices. */
  outputCovered(inputTokens: number, amountMicros: Micros, tools?: ToolUses): number {
    const left = amountMicros - amountOf(inputTokens, this.dearestInput) - this.ofTools(tools);
    const { amountMicros: price, perQuantity } = this.dearestOutput;
    if (left <= 0n) return 0;
    return price === 0n ? Number.MAX_SAFE_INTEGER : Number((left * perQuantity) / price);
  }

  /**
   * The bill of a finished request. Tokens read from a cache, written to one, and those of images are parts of the input,
   * reasoning tokens of the output: none is counted twice, and a vendor that reports a part larger than its whole never
   * makes a negative line.
   *
   * @throws RangeError: a count is no whole number from 0 to 2^53.
   */
  bill(usage: TextUsage | undefined, tools?: ToolUses): TextBill {
    const lines: PriceLine[] = [];
    for (const [unit, quantity] of usage ? tokensByUnit(usage) : [])
      if (quantity !== 0) lines.push(lineOf(this.priceOf(unit), unit, quantity, usage?.source ?? 'counted'));
    if (tools) lines.push(...this.toolLines(tools));
    return { lines, chargeMicros: lines.reduce((sum, { amountMicros }) => sum + amountMicros, 0n) };
  }

  /** One line for each kind of work that has a price. */
  private toolLines(tools: ToolUses): PriceLine[] {
    return TOOL_UNITS.flatMap((unit) => {
      const [price, quantity = 0] = [this.prices[unit], tools[unit]];
      return price && quantity > 0 ? [lineOf(price, unit, quantity, 'counted')] : [];
    });
  }

  /** The dearest that one of each call may be, times all of them: which of them are made is not known yet. */
  private ofTools(tools: ToolUses | undefined): Micros {
    if (!tools) return 0n;
    const { tool_round: rounds = 0, ...calls } = tools;
    const round = this.prices.tool_round ? amountOf(rounds, this.prices.tool_round) : 0n;
    const amounts = Object.entries(calls).map(([unit, most]) => {
      const price = this.prices[unit as ToolUnit];
      return price ? amountOf(most, price) : 0n;
    });
    return round + amounts.reduce((dearest, amount) => (amount > dearest ? amount : dearest), 0n);
  }

  private dearestOf(units: readonly TokenUnit[]): PriceInForce {
    return units
      .map((unit) => this.priceOf(unit))
      .reduce((dearer, price) => (isDearer(price, dearer) ? price : dearer));
  }

  private priceOf(unit: TokenUnit): PriceInForce {
    const soldAs = unit === 'output_token' || unit === 'reasoning_token' ? 'output_token' : 'input_token';
    return this.prices[unit] ?? this.prices[soldAs];
  }
}

const lineOf = (price: PriceInForce, unit: string, quantity: number, source: UsageSource): PriceLine => ({
  priceId: price.id,
  unit,
  variant: price.variant,
  priceMicros: price.amountMicros,
  perQuantity: price.perQuantity,
  quantity,
  amountMicros: amountOf(quantity, price),
  source,
});

function tokensByUnit(usage: TextUsage): (readonly [TokenUnit, number])[] {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  const written = Math.min(usage.cacheWriteTokens, usage.inputTokens - cached);
  const image = Math.min(usage.imageInputTokens, usage.inputTokens - cached - written);
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens);
  return [
    ['input_token', usage.inputTokens - cached - written - image],
    ['cached_input_token', cached],
    ['cache_write_token', written],
    ['image_token', image],
    ['output_token', usage.outputTokens - reasoning],
    ['reasoning_token', reasoning],
  ];
}

const isDearer = (one: PriceInForce, other: PriceInForce): boolean =>
  one.amountMicros * other.perQuantity > other.amountMicros * one.perQuantity;

function amountOf(tokens: number, { amountMicros, perQuantity }: PriceInForce): Micros {
  if (!Number.isSafeInteger(tokens) || tokens < 0) throw new RangeError(`${tokens} tokens cannot be billed`);
  return roundHalfUp(BigInt(tokens) * amountMicros, perQuantity);
}

const roundHalfUp = (numerator: bigint, denominator: bigint): bigint =>
  (2n * numerator + denominator) / (2n * denominator);
