import type { Micros, TextUsage } from '#contracts';
import type { PriceLine } from '../ledger/request-usage.js';
import type { PriceBook, PriceInForce } from './price-book.js';

/** What a text request costs, line by line. The lines add up to `chargeMicros`. */
export interface TextBill {
  readonly chargeMicros: Micros;
  readonly lines: readonly PriceLine[];
}

/** The most a request may use, as far as it is known before it runs. */
export interface TextEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Where no price is set for a kind of token, it is sold as this kind. */
const SOLD_AS = {
  input_token: null,
  cached_input_token: 'input_token',
  image_token: 'input_token',
  output_token: null,
  reasoning_token: 'output_token',
} as const;

type TokenUnit = keyof typeof SOLD_AS;

/** Prices text by its tokens. Amounts are exact: token count times price, rounded half up to a whole micro on each line. */
export class TextPrices {
  constructor(private readonly prices: PriceBook) {}

  /**
   * What is held before a request runs: its input and all the output it may ask for.
   *
   * @throws GatewayError `unavailable`: the model has no price in force, so it cannot be sold.
   */
  async estimate(model: string, { inputTokens, outputTokens }: TextEstimate): Promise<Micros> {
    const lines = [
      await this.line(model, 'input_token', inputTokens, 'counted'),
      await this.line(model, dearer(await this.outputPrices(model)), outputTokens, 'counted'),
    ];
    return lines.reduce((sum, line) => sum + line.amountMicros, 0n);
  }

  /**
   * The bill of a finished request. Cached and image tokens are parts of the input, reasoning tokens of the output:
   * none is counted twice, and a vendor that reports a part larger than its whole never makes a negative line.
   *
   * @throws GatewayError `unavailable`: the model lost its price. RangeError: a count is no whole number from 0 to 2^53.
   */
  async bill(model: string, usage: TextUsage): Promise<TextBill> {
    const counts = tokensByUnit(usage);
    const lines: PriceLine[] = [];
    for (const [unit, quantity] of counts) {
      if (quantity !== 0) lines.push(await this.line(model, unit, quantity, usage.source));
    }
    return { lines, chargeMicros: lines.reduce((sum, line) => sum + line.amountMicros, 0n) };
  }

  private async line(
    model: string,
    unit: TokenUnit,
    quantity: number,
    source: TextUsage['source'],
  ): Promise<PriceLine> {
    if (!Number.isSafeInteger(quantity) || quantity < 0) throw new RangeError(`${quantity} ${unit}s cannot be billed`);
    const price = await this.priceOf(model, unit);
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

  private async priceOf(model: string, unit: TokenUnit): Promise<PriceInForce> {
    const soldAs = SOLD_AS[unit];
    const own = soldAs && (await this.prices.find(model, unit, 'default'));
    return own ?? this.prices.get(model, soldAs ?? unit, 'default');
  }

  private async outputPrices(model: string): Promise<Record<'output_token' | 'reasoning_token', PriceInForce>> {
    return {
      output_token: await this.priceOf(model, 'output_token'),
      reasoning_token: await this.priceOf(model, 'reasoning_token'),
    };
  }
}

/** Nobody knows yet how much of the output will be reasoning, so the dearer of the two is held. */
function dearer(prices: Record<'output_token' | 'reasoning_token', PriceInForce>): TokenUnit {
  const { output_token: output, reasoning_token: reasoning } = prices;
  const reasoningIsDearer = reasoning.amountMicros * output.perQuantity > output.amountMicros * reasoning.perQuantity;
  return reasoningIsDearer ? 'reasoning_token' : 'output_token';
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
