import type { Micros, TextCost, UsageSource } from '#contracts';
import { timeOrderedId } from '#platform';
import { type Attribution, attributionColumns } from '../usage/attribution.js';

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
  /** The price list and its rule, where the book alone does not say the price. */
  readonly list?: string | undefined;
  readonly rule?: string;
  /** Where the model has bands: the beginning of the one that holds, and the input of the call, which decided it. */
  readonly fromInputTokens?: number;
  readonly bandTokens?: number;
  /** The source of the counts: the upstream's own bill, our tokenizer, or none, so that the hold is charged. */
  readonly source: UsageSource;
}

/** The usage record of a text request. Token totals include their parts. */
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
  /** What it cost the operator; undefined where that is unknown. */
  readonly cost?: TextCost | undefined;
  readonly attribution?: Attribution | undefined;
}

/** A line as the usage record keeps it: amounts as text, because JSON numbers end at 2^53. */
const toStoredLine = (line: PriceLine): Record<string, unknown> => ({
  source: line.source,
  price_id: line.priceId,
  unit: line.unit,
  variant: line.variant,
  price_micros: line.priceMicros.toString(),
  per_quantity: line.perQuantity.toString(),
  quantity: line.quantity,
  amount_micros: line.amountMicros.toString(),
  // Left out of the JSON where they are undefined.
  from_input_tokens: line.fromInputTokens,
  band_tokens: line.bandTokens,
  price_list: line.list,
  price_rule: line.rule,
});

/** How a request ended, as the statements that settle it read it. */
export const toEndingRow = ({
  requestId,
  chargeMicros,
  usage,
}: {
  readonly requestId: string;
  readonly chargeMicros: Micros;
  readonly usage: RequestUsage;
}): Record<string, unknown> => ({
  request_id: requestId,
  charge_micros: chargeMicros.toString(),
  usage_id: timeOrderedId('usage'),
  model: usage.model,
  upstream: usage.upstream,
  status: usage.status,
  lines: usage.lines.map(toStoredLine),
  input_tokens: usage.inputTokens,
  cached_input_tokens: usage.cachedInputTokens,
  output_tokens: usage.outputTokens,
  reasoning_tokens: usage.reasoningTokens,
  duration_ms: Math.round(usage.durationMs),
  ...(usage.cost && {
    cost_micros: usage.cost.micros.toString(),
    cost_unit: usage.cost.unit,
    cost_worth_micros: usage.cost.worthMicros?.toString(),
    cost_is_reported: usage.cost.isReported,
  }),
  ...attributionColumns(usage.attribution),
});

/** The columns of a cost, as endings and usage records have them. */
export const COST_COLUMNS = 'cost_micros, cost_unit, cost_worth_micros, cost_is_reported';
/** The same with their types. */
export const COST_FIELDS = 'cost_micros bigint, cost_unit text, cost_worth_micros bigint, cost_is_reported boolean';

/** What is known of a request whose process died: nothing. */
export const LOST_REQUEST: RequestUsage = {
  model: 'unknown',
  upstream: null,
  status: 'failed',
  lines: [],
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  durationMs: 0,
};
