import { Injectable } from '@nestjs/common';
import { GatewayError, type Micros, type TextUsage, type ToolUses } from '#contracts';
import { isConnectionError } from '#platform';
import type { RequestHold } from '../billing/ledger/request-hold.js';
import { Reservations, type ReservedAmount } from '../billing/ledger/reservations.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import type { RequestUsage } from '../billing/ledger/request-usage.js';
import { UncertainHolds } from '../billing/ledger/uncertain-holds.js';
import { noteCharge } from '../observability/request-facts.js';
import { RateLimits } from '../limits/rate-limits.js';
import { MOST_HELD_MICROS } from '../billing/prices/price-book.js';
import { TextPrices } from '../billing/prices/text-prices.js';
import type { TextBill, TextTariff } from '../billing/prices/text-tariff.js';
import type { TextBilling, TextHold, TextHoldOrder, TextSettlement } from './text-billing.js';

/** A hold in the ledger, or a part of a reservation that is held there. */
interface LedgerHold extends TextHold {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly model: string;
  readonly idempotencyKey: string | undefined;
  readonly heldMicros: Micros;
  /** Undefined for a request with a hold of its own. */
  readonly reserved: ReservedAmount | undefined;
  /** The charge was more than the reservation had left. It stays so, or one that is tried again could be made in two ways. */
  isBeyond: true | undefined;
  /** The prices when the request came in: it is charged at these, however long it runs. */
  readonly tariff: TextTariff;
}

function billOf(tariff: TextTariff, usage: TextUsage | undefined, tools: ToolUses | undefined): TextBill {
  if (!usage && !tools) return { chargeMicros: 0n, lines: [] };
  const bill = tariff.bill(usage, tools);
  return bill.chargeMicros > MOST_HELD_MICROS ? { ...bill, chargeMicros: MOST_HELD_MICROS } : bill;
}

const atMostHeld = (micros: Micros): Micros => (micros < MOST_HELD_MICROS ? micros : MOST_HELD_MICROS);

const STATUS = { completed: 'completed', failed: 'failed', aborted: 'cancelled' } as const;

/** Text requests on the ledger: the estimate held, the usage charged line by line, failures and empty replies free. */
@Injectable()
export class LedgerTextBilling implements TextBilling<LedgerHold> {
  readonly #ledger: RequestLedger;
  readonly #reservations: Reservations;
  readonly #prices: TextPrices;
  readonly #limits: RateLimits;
  readonly #uncertain: UncertainHolds;

  constructor(ledger: RequestLedger, reservations: Reservations, prices: TextPrices, limits: RateLimits) {
    this.#ledger = ledger;
    this.#reservations = reservations;
    this.#prices = prices;
    this.#limits = limits;
    this.#uncertain = new UncertainHolds((requestId) => ledger.releaseLost(requestId));
  }

  /** Gives back what may still be held for refused requests. Call it after the last request, while the database is open. */
  close(): Promise<void> {
    return this.#uncertain.close();
  }

  async hold({
    requestId,
    idempotencyKey,
    accountId,
    apiKeyId,
    model,
    inputTokens,
    mostInputTokens = inputTokens,
    outputTokens,
    leastOutputTokens = outputTokens,
    isInputOnly = false,
    tools,
  }: TextHoldOrder): Promise<LedgerHold> {
    const tariff = await this.#prices.tariffOf(model, isInputOnly);
    const amountMicros = tariff.estimate(inputTokens, outputTokens, tools);
    if (amountMicros > MOST_HELD_MICROS)
      throw new GatewayError(
        'invalid_parameter',
        'This request could cost more than any balance holds; lower its limit.',
        {
          param: 'max_output_tokens',
        },
      );
    const payer = { accountId, apiKeyId, amountMicros };
    // A request that may be repeated needs a hold of its own, by which a repeat finds out whether it was paid.
    const reserved = idempotencyKey === undefined ? this.#reservations.reserve(payer) : undefined;
    // A reservation is a hundredth of the money: what is drawn of it and turns out dearer is covered by the rest.
    const heldMicros = reserved
      ? amountMicros
      : await this.#holdAlone({
          requestId,
          idempotencyKey,
          ...payer,
          leastMicros: tariff.estimate(inputTokens, leastOutputTokens, tools),
          amountMicros: atMostHeld(tariff.estimate(mostInputTokens, outputTokens, tools)),
        });
    const covered = heldMicros < amountMicros ? tariff.outputCovered(inputTokens, heldMicros, tools) : outputTokens;
    // Written out: a spread in front of further fields costs more than all else here.
    return {
      requestId,
      idempotencyKey,
      accountId,
      apiKeyId,
      model,
      heldMicros,
      outputTokens: covered,
      reserved,
      isBeyond: undefined,
      tariff,
    };
  }

  async expectFunds({
    accountId,
    apiKeyId,
    model,
    inputTokens,
    outputTokens,
    leastOutputTokens = outputTokens,
    tools,
  }: TextHoldOrder): Promise<void> {
    const tariff = await this.#prices.tariffOf(model);
    const amountMicros = tariff.estimate(inputTokens, leastOutputTokens, tools);
    const payer = { accountId, apiKeyId, amountMicros };
    if (!this.#reservations.covers(payer)) await this.#ledger.expectFunds(payer);
  }

  async #holdAlone(hold: RequestHold): Promise<Micros> {
    try {
      return await this.#ledger.hold(hold, () => this.#reservations.giveBackOf(hold.apiKeyId));
    } catch (error) {
      // No request is tried again under its id, so that what is given back is not another try's.
      if (isConnectionError(error)) this.#uncertain.add(hold.requestId);
      throw error;
    }
  }

  settle(hold: LedgerHold, settlement: TextSettlement): Promise<void> {
    const settled = this.#settle(hold, settlement);
    this.settling(hold, settled);
    return settled;
  }

  settling({ accountId }: LedgerHold, settlement: Promise<void>): void {
    this.#ledger.settling(accountId, settlement);
  }

  async #settle(hold: LedgerHold, settlement: TextSettlement): Promise<void> {
    const { usage, tools } = settlement;
    const bill = billOf(hold.tariff, usage, tools);
    noteCharge(hold.requestId, bill.chargeMicros);
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
    const { requestId, idempotencyKey, accountId, apiKeyId, heldMicros, reserved } = hold;
    if (!reserved) {
      const captured = await this.#ledger.capture({ requestId, chargeMicros, heldMicros, usage });
      // This process was silent for so long that it was taken for dead, and the hold was given back.
      if (!captured && chargeMicros > 0n)
        await this.#ledger.captureUnheld({ requestId, idempotencyKey, accountId, apiKeyId, chargeMicros, usage });
    } else if (!hold.isBeyond && this.#reservations.extend(reserved, chargeMicros)) {
      const isCharged = await this.#reservations.capture(reserved, requestId, chargeMicros, usage);
      // A sweep may have given the reservation back while the database was away.
      if (!isCharged) await this.#ledger.captureUnheld({ requestId, accountId, apiKeyId, chargeMicros, usage });
    } else {
      hold.isBeyond = true;
      await this.#ledger.captureUnheld({ requestId, accountId, apiKeyId, chargeMicros, usage });
      this.#reservations.return(reserved);
    }
  }
}
