import type { Micros, TextUsage } from '#contracts';
import type { PriceLine } from '../ledger/request-usage.js';
import type { PriceInForce } from './price-book.js';

/** The kinds of token that can have a price of their own. */
export const TOKEN_UNITS = [
  'input_token',
  'cached_input_token',
  'image_token',
  'output_token',
  'reasoning_token',
] as const;
export type TokenUnit = (typeof TOKEN_UNITS)[number];

/** The prices of one model; where a kind of token has none, it is sold as input or as output. */
export type TokenPrices = Readonly<Partial<Record<TokenUnit, PriceInForce>>> &
  Readonly<Record<'input_token' | 'output_token', PriceInForce>>;

/** What a text request costs, line by line. The lines add up to `chargeMicros`. */
export interface TextBill {
  readonly chargeMicros: Micros;
  readonly lines: readonly PriceLine[];
}

/** The prices of one text model at one moment. Amounts are exact: each line is rounded half up to a whole micro. */
export class TextTariff {
  constructor(private readonly prices: TokenPrices) {}

  /** The most a request may cost: its input, and all the output it may ask for at the dearest output price. */
  estimate(inputTokens: number, outputTokens: number): Micros {
    const input = this.line('input_token', inputTokens, 'counted');
    const output = this.line('output_token', outputTokens, 'counted');
    const reasoning = this.line('reasoning_token', outputTokens, 'counted');
    const dearer = output.amountMicros > reasoning.amountMicros ? output : reasoning;
    return input.amountMicros + dearer.amountMicros;
  }

  /**
   * The bill of a finished request. Cached and image tokens are parts of the input, reasoning tokens of the output:
   * none is counted twice, and a vendor that reports a part larger than its whole never makes a negative line.
   *
   * @throws RangeError: a count is no whole number from 0 to 2^53.
   */
  bill(usage: TextUsage): TextBill {
    const lines = tokensByUnit(usage)
      .filter(([, quantity]) => quantity !== 0)
      .map(([unit, quantity]) => this.line(unit, quantity, usage.source));
    return { lines, chargeMicros: lines.reduce((sum, line) => sum + line.amountMicros, 0n) };
  }

  private line(unit: TokenUnit, quantity: number, source: TextUsage['source']): PriceLine {
    if (!Number.isSafeInteger(quantity) || quantity < 0) throw new RangeError(`${quantity} ${unit}s cannot be billed`);
    const price = this.priceOf(unit);
    return {
      priceId: price.id,
      unit,
      variant: price.variant,
      priceMicros: price.amountMicros,
      perQuantity: price.perQuantity,
      quantity,
      amountMicros: roundHalfUp(BigInt(quantity) * price.amountMicros, price.perQuantity),
      source,
    };
  }

  private priceOf(unit: TokenUnit): PriceInForce {
    const soldAs = unit === 'output_token' || unit === 'reasoning_token' ? 'output_token' : 'input_token';
    return this.prices[unit] ?? this.prices[soldAs];
  }
}

function tokensByUnit(usage: TextUsage): (readonly [TokenUnit, number])[] {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  const image = Math.min(usage.imageInputTokens, usage.inputTokens - cached);
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens);
  return [
    ['input_token', usage.inputTokens - cached - image],
    ['cached_input_token', cached],
    ['image_token', image],
    ['output_token', usage.outputTokens - reasoning],
    ['reasoning_token', reasoning],
  ];
}

const roundHalfUp = (numerator: bigint, denominator: bigint): bigint =>
  (2n * numerator + denominator) / (2n * denominator);
