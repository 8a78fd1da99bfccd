import type { Micros } from '#contracts';
import type { RequestLedger } from '../ledger/request-ledger.js';
import type { RequestUsage } from '../ledger/request-usage.js';
import type { RateLimits } from '../limits/rate-limits.js';
import type { TextPrices } from '../prices/text-prices.js';
import type { TextTariff } from '../prices/text-tariff.js';
import type { TextBilling, TextHold, TextHoldOrder, TextSettlement } from './text-billing.js';

/** A hold in the ledger. */
interface LedgerHold extends TextHold {
  readonly apiKeyId: string;
  readonly model: string;
  readonly heldMicros: Micros;
  /** The prices when the request came in: it is charged at these, however long it runs. */
  readonly tariff: TextTariff;
}

const STATUS = { completed: 'completed', failed: 'failed', aborted: 'cancelled' } as const;

/** Text requests on the ledger: the estimate held, the usage charged line by line, failures and empty replies free. */
export class LedgerTextBilling implements TextBilling<LedgerHold> {
  readonly #ledger: RequestLedger;
  readonly #prices: TextPrices;
  readonly #limits: RateLimits;

  constructor(ledger: RequestLedger, prices: TextPrices, limits: RateLimits) {
    this.#ledger = ledger;
    this.#prices = prices;
    this.#limits = limits;
  }

  async hold({ requestId, accountId, apiKeyId, model, ...estimate }: TextHoldOrder): Promise<LedgerHold> {
    const tariff = await this.#prices.tariffOf(model);
    const heldMicros = tariff.estimate(estimate.inputTokens, estimate.outputTokens);
    await this.#ledger.hold({ requestId, accountId, apiKeyId, amountMicros: heldMicros });
    return { requestId, apiKeyId, model, heldMicros, tariff };
  }

  async settle(
    { requestId, apiKeyId, model, heldMicros, tariff }: LedgerHold,
    settlement: TextSettlement,
  ): Promise<void> {
    const { usage } = settlement;
    const bill = usage ? tariff.bill(usage) : { chargeMicros: 0n, lines: [] };
    const record: RequestUsage = {
      model,
      upstream: settlement.upstream ?? null,
      status: STATUS[settlement.status],
      lines: bill.lines,
      inputTokens: usage?.inputTokens ?? 0,
      cachedInputTokens: usage?.cachedInputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      durationMs: settlement.durationMs,
    };
    await this.#ledger.capture({ requestId, chargeMicros: bill.chargeMicros, heldMicros, usage: record });
    if (usage) this.#limits.noteTokens(apiKeyId, usage.inputTokens + usage.outputTokens);
  }
}
