import type { Micros } from '#contracts';

/** One line of a bill: so many units at such a price. The amounts of all lines add up to the price of the request. */
export interface PriceLine {
  readonly priceId: string;
  /** What is counted, for example `output_token`. */
  readonly unit: string;
  readonly variant: string;
  /** The price is `priceMicros` for each `perQuantity` units. */
  readonly priceMicros: Micros;
  readonly perQuantity: bigint;
  readonly quantity: number;
  readonly amountMicros: Micros;
  /** Who counted: the upstream's own bill, or our tokenizer. */
  readonly source: 'upstream' | 'counted';
}

/** What the usage record of a text request tells. Token totals include their parts. */
export interface RequestUsage {
  readonly model: string;
  /** The upstream that answered; null when none did. */
  readonly upstream: string | null;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly lines: readonly PriceLine[];
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly durationMs: number;
}

/** A line as the usage record keeps it: amounts as text, because JSON numbers end at 2^53. */
export const toStoredLine = (line: PriceLine): Record<string, unknown> => ({
  source: line.source,
  price_id: line.priceId,
  unit: line.unit,
  variant: line.variant,
  price_micros: line.priceMicros.toString(),
  per_quantity: line.perQuantity.toString(),
  quantity: line.quantity,
  amount_micros: line.amountMicros.toString(),
});
