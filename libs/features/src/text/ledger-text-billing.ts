import type { Micros } from '#contracts';
import type { Allowances, Draw } from '../ledger/allowances.js';
import type { RequestLedger } from '../ledger/request-ledger.js';
import type { RequestUsage } from '../ledger/request-usage.js';
import type { RateLimits } from '../limits/rate-limits.js';
import type { TextPrices } from '../prices/text-prices.js';
import type { TextTariff } from '../prices/text-tariff.js';
import type { TextBilling, TextHold, TextHoldOrder, TextSettlement } from './text-billing.js';

/** A hold in the ledger, or a draw on an allowance that is held there. */
interface LedgerHold extends TextHold {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly model: string;
  readonly heldMicros: Micros;
  /** Undefined for a request with a hold of its own. */
  readonly draw: Draw | undefined;
  /** The prices when the request came in: it is charged at these, however long it runs. */
  readonly tariff: TextTariff;
}

const STATUS = { completed: 'completed', failed: 'failed', aborted: 'cancelled' } as const;

/** Text requests on the ledger: the estimate held, the usage charged line by line, failures and empty replies free. */
export class LedgerTextBilling implements TextBilling<LedgerHold> {
  readonly #ledger: RequestLedger;
  readonly #allowances: Allowances;
  readonly #prices: TextPrices;
  readonly #limits: RateLimits;

  constructor(ledger: RequestLedger, allowances: Allowances, prices: TextPrices, limits: RateLimits) {
    this.#ledger = ledger;
    this.#allowances = allowances;
    this.#prices = prices;
    this.#limits = limits;
  }

  async hold({
    requestId,
    idempotencyKey,
    accountId,
    apiKeyId,
    model,
    inputTokens,
    outputTokens,
  }: TextHoldOrder): Promise<LedgerHold> {
    const tariff = await this.#prices.tariffOf(model);
    const heldMicros = tariff.estimate(inputTokens, outputTokens);
    const payer = { accountId, apiKeyId, amountMicros: heldMicros };
    // A request that may be repeated needs a hold of its own, by which a repeat tells whether it was paid.
    const draw = idempotencyKey === undefined ? this.#allowances.draw(payer) : undefined;
    if (!draw) await this.#ledger.hold({ requestId, idempotencyKey, ...payer });
    return { requestId, accountId, apiKeyId, model, heldMicros, draw, tariff };
  }

  async settle(hold: LedgerHold, settlement: TextSettlement): Promise<void> {
    const { usage } = settlement;
    const bill = usage ? hold.tariff.bill(usage) : { chargeMicros: 0n, lines: [] };
    await this.#charge(hold, bill.chargeMicros, {
      model: hold.model,
      upstream: settlement.upstream ?? null,
      status: STATUS[settlement.status],
      lines: bill.lines,
      inputTokens: usage?.inputTokens ?? 0,
      cachedInputTokens: usage?.cachedInputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      durationMs: settlement.durationMs,
    });
    if (usage) this.#limits.noteTokens(hold.apiKeyId, usage.inputTokens + usage.outputTokens);
  }

  async #charge(hold: LedgerHold, chargeMicros: Micros, usage: RequestUsage): Promise<void> {
    const { requestId, accountId, apiKeyId, heldMicros, draw } = hold;
    if (!draw) {
      await this.#ledger.capture({ requestId, chargeMicros, heldMicros, usage });
    } else if (this.#allowances.stretch(draw, chargeMicros)) {
      await this.#allowances.capture(draw, requestId, chargeMicros, usage);
    } else {
      // More than the whole allowance has left: charged like any request that cost more than its hold.
      await this.#ledger.hold({ requestId, accountId, apiKeyId, amountMicros: 0n });
      await this.#ledger.capture({ requestId, chargeMicros, heldMicros: 0n, usage });
      this.#allowances.return(draw);
    }
  }
}
