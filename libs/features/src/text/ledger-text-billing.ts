import type { TextPrices } from '../prices/text-prices.js';
import type { TextTariff } from '../prices/text-tariff.js';
import type { TextBilling, TextHold, TextHoldOrder, TextSettlement } from './text-billing.js';
import type { RequestLedger } from '../ledger/request-ledger.js';
import type { RequestUsage } from '../ledger/request-usage.js';

interface HeldText {
  readonly model: string;
  readonly tariff: TextTariff;
  readonly heldMicros: bigint;
}

const STATUS = { completed: 'completed', failed: 'failed', aborted: 'cancelled' } as const;

/** Pays for text through the ledger, at the prices in force when the request came. */
export class LedgerTextBilling implements TextBilling {
  private readonly open = new WeakMap<TextHold, HeldText>();

  constructor(
    private readonly ledger: RequestLedger,
    private readonly prices: TextPrices,
  ) {}

  /** @throws GatewayError also `unavailable`: the model has no price. */
  async hold({ model, inputTokens, outputTokens, requestId, accountId, apiKeyId }: TextHoldOrder): Promise<TextHold> {
    const tariff = await this.prices.tariffOf(model);
    const heldMicros = tariff.estimate(inputTokens, outputTokens);
    await this.ledger.hold({ requestId, accountId, apiKeyId, amountMicros: heldMicros });
    const hold: TextHold = { id: requestId };
    this.open.set(hold, { model, tariff, heldMicros });
    return hold;
  }

  async settle(hold: TextHold, settlement: TextSettlement): Promise<void> {
    const held = this.open.get(hold);
    if (!held) throw new Error(`the hold of ${hold.id} was not made here`);
    const { usage } = settlement;
    const bill = usage ? held.tariff.bill(usage) : { chargeMicros: 0n, lines: [] };
    await this.ledger.capture({
      requestId: hold.id,
      heldMicros: held.heldMicros,
      chargeMicros: bill.chargeMicros,
      usage: {
        model: held.model,
        upstream: settlement.upstream ?? null,
        status: STATUS[settlement.status],
        lines: bill.lines,
        durationMs: settlement.durationMs,
        ...tokensOf(usage),
      },
    });
  }
}

type Tokens = Pick<RequestUsage, 'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'reasoningTokens'>;

const tokensOf = (usage: TextSettlement['usage']): Tokens => ({
  inputTokens: usage?.inputTokens ?? 0,
  cachedInputTokens: usage?.cachedInputTokens ?? 0,
  outputTokens: usage?.outputTokens ?? 0,
  reasoningTokens: usage?.reasoningTokens ?? 0,
});
