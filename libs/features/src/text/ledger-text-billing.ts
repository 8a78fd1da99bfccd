import { Injectable } from '@nestjs/common';
import {
  ERRORS,
  GatewayError,
  type Micros,
  NO_USAGE,
  type RequestUses,
  serviceTierOf,
  type TextUsage,
  type ToolUses,
} from '#contracts';
import { isConnectionError, logger, signals } from '#platform';
import type { RequestHold } from '../billing/ledger/request-hold.js';
import { Reservations, type ReservedAmount } from '../billing/ledger/reservations.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import type { RequestUsage } from '../billing/ledger/request-usage.js';
import { UncertainHolds } from '../billing/ledger/uncertain-holds.js';
import { noteCharge } from '../observability/request-facts.js';
import { RateLimits } from '../limits/rate-limits.js';
import { MOST_HELD_MICROS } from '../billing/prices/price-book.js';
import { TextPrices } from '../billing/prices/text-prices.js';
import type { Attribution } from '../billing/usage/attribution.js';
import type { TextBill, TextTariff } from '../billing/prices/text-tariff.js';
import type { TextBilling, TextHold, TextHoldOrder, TextQuote, TextSettlement } from './text-billing.js';
import { UnreadableCall } from './tool-arguments.js';

const log = logger('text');

/** A hold in the ledger, or a part of a reservation that is held there. */
export interface LedgerHold extends TextHold {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly model: string;
  readonly idempotencyKey: string | undefined;
  readonly heldMicros: Micros;
  /** Undefined for a request with a hold of its own. */
  readonly reserved: ReservedAmount | undefined;
  /** The charge was more than the reservation had left. It stays so, or one that is tried again could be made in two ways. */
  isBeyond: true | undefined;
  /** What its upstream reported without a price has been told to the operator. */
  isNoted: true | undefined;
  /** The service tier that was asked for. */
  readonly tier: string | undefined;
  readonly attribution: Attribution | undefined;
}

function billOf({ tariff, tier }: LedgerHold, usage: TextUsage | undefined, tools: ToolUses | undefined): TextBill {
  if (!usage && !tools) return { chargeMicros: 0n, lines: [] };
  const bill = tariff.bill(usage, tools, chargedTier(tariff, usage?.tier, tier));
  return bill.chargeMicros > MOST_HELD_MICROS ? cut(bill) : bill;
}

/** No request moves more than the books of an account can: the last lines are charged less. */
function cut({ lines }: TextBill): TextBill {
  let left = MOST_HELD_MICROS;
  const charged = lines.map((line) => {
    const amountMicros = line.amountMicros < left ? line.amountMicros : left;
    left -= amountMicros;
    return { ...line, amountMicros };
  });
  return { lines: charged, chargeMicros: MOST_HELD_MICROS };
}

/** The tier that served a request is charged; as the one that was asked for where that is not known, or has no prices. */
const chargedTier = (tariff: TextTariff, served: TextUsage['tier'], asked: string | undefined): string | undefined =>
  served !== undefined && tariff.sellsTier(served) ? served : asked;

/** Says to the operator what an upstream reported that has no price of its own. */
function noteUnpriced({ requestId, tariff, tier: asked }: LedgerHold, usage: TextUsage, upstream = ''): void {
  const { tier } = usage;
  if (tier !== undefined && !tariff.sellsTier(tier)) {
    signals.tierUnpriced.inc({ upstream, tier });
    log.info('usage.tier_unpriced', { requestId, upstream, tier });
  }
  const units = tariff.unpricedOf(usage, chargedTier(tariff, tier, asked));
  if (!units) return;
  for (const [unit, count] of Object.entries(units)) signals.unpricedUsage.inc({ upstream, unit }, count);
  log.info('usage.unpriced', { requestId, upstream, ...units });
}

const atMostHeld = (micros: Micros): Micros => (micros < MOST_HELD_MICROS ? micros : MOST_HELD_MICROS);

const STATUS = { completed: 'completed', failed: 'failed', aborted: 'cancelled' } as const;

/** Text requests on the ledger: the estimate held, the usage charged line by line, failures and empty replies free. */
@Injectable()
export class LedgerTextBilling implements TextBilling<LedgerHold> {
  private readonly uncertain: UncertainHolds;

  constructor(
    private readonly ledger: RequestLedger,
    private readonly reservations: Reservations,
    private readonly prices: TextPrices,
    private readonly limits: RateLimits,
  ) {
    this.uncertain = new UncertainHolds((requestId) => ledger.releaseLost(requestId));
  }

  /** Gives back what may still be held for refused requests. Call it after the last request, while the database is open. */
  close(): Promise<void> {
    return this.uncertain.close();
  }

  async priced(model: string, uses: RequestUses, priceList?: string): Promise<RequestUses> {
    if (uses.unpriced.length === 0) return uses;
    const tariff = await this.prices.findTariff(model, false, priceList);
    if (!tariff) return uses;
    const tiers = uses.unpriced.map((use) => (use.kind === 'service_tiers' ? serviceTierOf(use.name) : undefined));
    const tier = tiers.find((each) => each !== undefined && tariff.sellsTier(each));
    const unpriced = uses.unpriced.map((use, index) => {
      const isPriced = use.unit ? tariff.sells(use.unit, tier) : tier !== undefined && tiers[index] === tier;
      return isPriced ? { ...use, isPriced } : use;
    });
    return { ...uses, unpriced };
  }

  async quote(order: TextHoldOrder, inputTokens: number): Promise<TextQuote> {
    const { model, isInputOnly = false, priceList, outputTokens, tier = 'default' } = order;
    const tariff = await this.prices.tariffOf(model, isInputOnly, priceList);
    const { chargeMicros, lines } = tariff.bill({ ...NO_USAGE, inputTokens, outputTokens }, undefined, tier);
    const heldMicros = tariff.estimate(order.inputTokens, outputTokens, order);
    const { fromInputTokens = 0 } = lines[0] ?? {};
    return { chargeMicros, heldMicros, inputTokens, outputTokens, fromInputTokens, tier };
  }

  async hold(order: TextHoldOrder): Promise<LedgerHold> {
    const {
      requestId,
      idempotencyKey,
      accountId,
      apiKeyId,
      model,
      inputTokens,
      outputTokens,
      isInputOnly = false,
      attribution,
    } = order;
    const { mostInputTokens = inputTokens, leastOutputTokens = outputTokens } = order;
    this.limits.expectFewRefused(accountId);
    const tariff = order.tariff ?? (await this.prices.tariffOf(model, isInputOnly, order.priceList));
    const amountMicros = tariff.estimate(inputTokens, outputTokens, order);
    if (amountMicros > MOST_HELD_MICROS)
      throw new GatewayError(
        'invalid_parameter',
        'This request could cost more than any balance holds; lower its limit.',
        {
          param: 'max_output_tokens',
        },
      );
    const payer = { accountId, apiKeyId, amountMicros };
    // A request that may be repeated needs a hold of its own, by which a repeat finds out whether it was paid; and one with tags
    // that are limited, because a reservation is not held for them.
    const limitedTags = attribution?.limitedTags;
    const reserved = idempotencyKey === undefined && !limitedTags ? this.reservations.reserve(payer) : undefined;
    // A reservation is a hundredth of the money: what is drawn of it and turns out dearer is covered by the rest.
    const heldMicros = reserved
      ? amountMicros
      : await this.holdAlone({
          requestId,
          idempotencyKey,
          limitedTags,
          ...payer,
          leastMicros: tariff.estimate(inputTokens, leastOutputTokens, order),
          amountMicros: atMostHeld(tariff.estimate(mostInputTokens, outputTokens, order)),
        });
    const covered = heldMicros < amountMicros ? tariff.outputCovered(inputTokens, heldMicros, order) : outputTokens;
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
      isNoted: undefined,
      tier: order.tier,
      tariff,
      attribution,
    };
  }

  noteFailure(accountId: string, error: unknown): void {
    if (!(error instanceof GatewayError)) return;
    const { status, retryable } = ERRORS[error.code];
    if (error instanceof UnreadableCall || (status < 500 && !retryable)) this.limits.noteRefused(accountId);
  }

  async expectFunds(order: TextHoldOrder): Promise<void> {
    const { accountId, apiKeyId, model, inputTokens, outputTokens, leastOutputTokens = outputTokens } = order;
    const tariff = await this.prices.tariffOf(model, false, order.priceList);
    const amountMicros = tariff.estimate(inputTokens, leastOutputTokens, order);
    const payer = { accountId, apiKeyId, amountMicros };
    if (!this.reservations.covers(payer)) await this.ledger.expectFunds(payer);
  }

  private async holdAlone(hold: RequestHold): Promise<Micros> {
    try {
      return await this.ledger.hold(hold, () => this.reservations.giveBackOf(hold.apiKeyId));
    } catch (error) {
      // No request is tried again under its id, so that what is given back is not another try's.
      if (isConnectionError(error)) this.uncertain.add(hold.requestId);
      throw error;
    }
  }

  settle(hold: LedgerHold, settlement: TextSettlement): Promise<void> {
    const settled = this.settleHeld(hold, settlement);
    this.settling(hold, settled);
    return settled;
  }

  settling({ accountId }: LedgerHold, settlement: Promise<void>): void {
    this.ledger.settling(accountId, settlement);
  }

  private async settleHeld(hold: LedgerHold, settlement: TextSettlement): Promise<void> {
    const { usage, tools } = settlement;
    if ((usage?.units ?? usage?.tier) !== undefined && !hold.isNoted) {
      hold.isNoted = true;
      noteUnpriced(hold, usage!, settlement.upstream);
    }
    const bill = billOf(hold, usage, tools);
    noteCharge(hold.requestId, bill.chargeMicros);
    await this.charge(hold, bill.chargeMicros, {
      model: hold.model,
      upstream: settlement.upstream ?? null,
      status: STATUS[settlement.status],
      lines: bill.lines,
      inputTokens: usage?.inputTokens ?? 0,
      cachedInputTokens: usage?.cachedInputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      durationMs: settlement.durationMs,
      cost: settlement.cost,
      attribution: hold.attribution,
    });
    if (!usage) return;
    this.limits.noteTokens(hold.apiKeyId, usage.inputTokens + usage.outputTokens);
    const labels = { upstream: settlement.upstream ?? '', model: hold.model };
    signals.inputTokens.inc(labels, usage.inputTokens);
    signals.cachedInputTokens.inc(labels, usage.cachedInputTokens);
  }

  private async charge(hold: LedgerHold, chargeMicros: Micros, usage: RequestUsage): Promise<void> {
    const { requestId, idempotencyKey, accountId, apiKeyId, heldMicros, reserved } = hold;
    if (!reserved) {
      const captured = await this.ledger.capture({ requestId, chargeMicros, heldMicros, usage });
      // This process was silent for so long that it was taken for dead, and the hold was given back.
      if (!captured && chargeMicros > 0n)
        await this.ledger.captureUnheld({ requestId, idempotencyKey, accountId, apiKeyId, chargeMicros, usage });
    } else if (!hold.isBeyond && this.reservations.extend(reserved, chargeMicros)) {
      const isCharged = await this.reservations.capture(reserved, requestId, chargeMicros, usage);
      // A sweep may have given the reservation back while the database was away.
      if (!isCharged) await this.ledger.captureUnheld({ requestId, accountId, apiKeyId, chargeMicros, usage });
    } else {
      hold.isBeyond = true;
      await this.ledger.captureUnheld({ requestId, accountId, apiKeyId, chargeMicros, usage });
      this.reservations.return(reserved);
    }
  }
}
