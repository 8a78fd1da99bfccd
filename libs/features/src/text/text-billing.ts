import {
  type Micros,
  type RequestUses,
  serviceTierOf,
  type TextCost,
  type TextUsage,
  type ToolUses,
  type UnpricedUse,
} from '#contracts';
import type { HeldAt, TextTariff } from '../billing/prices/text-tariff.js';
import type { Attribution } from '../billing/usage/attribution.js';

/** The payer for a text request, and the most it may cost. */
export interface TextHoldOrder extends HeldAt {
  readonly requestId: string;
  /** Of a request that may be repeated. */
  readonly idempotencyKey?: string | undefined;
  readonly accountId: string;
  readonly apiKeyId: string;
  /** The price list of the account; undefined: the book alone. */
  readonly priceList?: string | undefined;
  /** The prices of an earlier hold of the same request; undefined: those in force now. */
  readonly tariff?: TextTariff | undefined;
  readonly model: string;
  /** Input as estimated from the request, output as limited by it, in tokens. */
  readonly inputTokens: number;
  /** The most input there may be: held while the money covers it, and `inputTokens` where it does not. */
  readonly mostInputTokens?: number | undefined;
  readonly outputTokens: number;
  /** Where the money does not cover the output, as much as it covers, but no less than this. */
  readonly leastOutputTokens?: number | undefined;
  /** True: there is no output, and need be no price for any. */
  readonly isInputOnly?: boolean;
  /** Who and what it is for. */
  readonly attribution?: Attribution | undefined;
}

/** Searches of a vendor that are held for where a request names no number. */
const SEARCHES_HELD = 10;

/** What a request asks for beside text and has a price, as it is held for. */
export function pricedBeside(uses: readonly UnpricedUse[]): Pick<HeldAt, 'tier' | 'opens' | 'searches'> {
  const priced = uses.filter(({ isPriced }) => isPriced);
  const tier = priced.find(({ kind }) => kind === 'service_tiers');
  const searches = priced.filter(({ unit }) => unit === 'vendor_web_search_call');
  return {
    tier: tier && serviceTierOf(tier.name),
    opens: [...new Set(priced.flatMap(({ unit }) => unit ?? []))],
    searches: searches.reduce((sum, { most = SEARCHES_HELD }) => sum + most, 0),
  };
}

/** Names a hold; what is inside belongs to the ledger. */
export interface TextHold {
  readonly requestId: string;
  /** The output that is covered. */
  readonly outputTokens: number;
  /** The prices when the request came in: it is charged at these, however long it runs. */
  readonly tariff: TextTariff;
}

/** How a text request ended. */
export interface TextSettlement {
  /** `aborted`: the caller left; what was produced until then is charged. */
  readonly status: 'completed' | 'failed' | 'aborted';
  /** Undefined when nothing was produced, which is free. */
  readonly usage: TextUsage | undefined;
  readonly upstream: string | undefined;
  readonly upstreamRequestId: string | undefined;
  readonly durationMs: number;
  /** The tools that the gateway ran. */
  readonly tools?: ToolUses;
  /** What the upstream took for it, also for a reply that is free; undefined where that is unknown. */
  readonly cost?: TextCost | undefined;
}

/** What a text request would cost. */
export interface TextQuote {
  /** For the counted input and all the output that it may write. */
  readonly chargeMicros: Micros;
  readonly heldMicros: Micros;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The beginning of the band that the input is in. */
  readonly fromInputTokens: number;
  readonly tier: string;
}

/** The money side of a text request: held before the upstream is asked, settled by its usage. */
export interface TextBilling<Hold extends TextHold = TextHold> {
  /** What a request asks for beside text, with those uses marked that the model has a price for. */
  priced(model: string, uses: RequestUses, priceList?: string): Promise<RequestUses>;
  /**
   * @throws GatewayError `invalid_parameter`: no balance could cover so much; `insufficient_balance`, `insufficient_key_quota`, or `idempotency_in_flight` when a repeat took
   * over; nothing was asked then.
   */
  hold(order: TextHoldOrder): Promise<Hold>;
  /** What the order would cost if its input were so many tokens. @throws GatewayError `model_not_priced`. */
  quote(order: TextHoldOrder, inputTokens: number): Promise<TextQuote>;
  /**
   * Checks that there is money for what `order` holds at least, and holds nothing: before work that is free, and outbound.
   *
   * @throws GatewayError as `hold`, but for `idempotency_in_flight`.
   */
  expectFunds(order: TextHoldOrder): Promise<void>;
  /** Why no upstream replied, or nothing of a reply can be shown. Where that is the request's own fault too often, `hold` refuses others of the account for a while. */
  noteFailure?(accountId: string, error: unknown): void;
  /** Charges the usage and lets go of the rest. Repeated when it failed; only the first success counts. */
  settle(hold: Hold, settlement: TextSettlement): Promise<void>;
  /** What the account holds for next waits for this settlement, whose usage is still counted, before it is refused. */
  settling?(hold: Hold, settlement: Promise<void>): void;
}
