import type { TextUsage, ToolUses } from '#contracts';

/** The payer for a text request, and the most it may cost. */
export interface TextHoldOrder {
  readonly requestId: string;
  /** Of a request that may be repeated. */
  readonly idempotencyKey?: string | undefined;
  readonly accountId: string;
  readonly apiKeyId: string;
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
  /** The most calls of tools that the gateway may run for it. */
  readonly tools?: ToolUses;
}

/** Names a hold; what is inside belongs to the ledger. */
export interface TextHold {
  readonly requestId: string;
  /** The output that is covered. */
  readonly outputTokens: number;
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
}

/** The money side of a text request: held before the upstream is asked, settled by its usage. */
export interface TextBilling<Hold extends TextHold = TextHold> {
  /**
   * @throws GatewayError `invalid_parameter`: no balance could cover so much; `insufficient_balance`, `insufficient_key_quota`, or `idempotency_in_flight` when a repeat took
   * over; nothing was asked then.
   */
  hold(order: TextHoldOrder): Promise<Hold>;
  /**
   * Checks that there is money for what `order` holds at least, and holds nothing: before work that is free, and outbound.
   *
   * @throws GatewayError as `hold`, but for `idempotency_in_flight`.
   */
  expectFunds(order: TextHoldOrder): Promise<void>;
  /** Charges the usage and lets go of the rest. Repeated when it failed; only the first success counts. */
  settle(hold: Hold, settlement: TextSettlement): Promise<void>;
  /** What the account holds for next waits for this settlement, whose usage is still counted, before it is refused. */
  settling?(hold: Hold, settlement: Promise<void>): void;
}
