import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { type GatewayError, MAX_MICROS, type Micros } from '#contracts';
import {
  Batcher,
  brokeConstraint,
  Database,
  isConnectionError,
  logger,
  REQUEST_WAIT_MS,
  retryOnConnectionError,
  SlotList,
} from '#platform';
import { PausedWork } from '../../observability/paused-work.js';
import { collectDebts } from './locked-account.js';
import { HoldingProcess } from './holding-processes.js';
import { inDebt, attemptTakenOver } from './payment-refusals.js';
import type { Captured, RequestCapture, RequestHold, UnheldCapture } from './request-hold.js';
import {
  ABANDONED_HOLDS,
  FUNDS,
  HOLD_LIMITED_REQUEST,
  HOLD_REQUESTS,
  RENEW_HOLDS,
  settleStatement,
  unheldStatement,
} from './request-statements.js';
import { LOST_REQUEST, type RequestUsage, toEndingRow } from './request-usage.js';
import { type Lacking, type LimitedPayer, SpendLimits } from './spend-limits.js';

/** Keeps the holds of this process's living requests from expiring, however long a stream lasts. */
export class OpenHolds {
  private readonly requestIds = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** `renewalMs`: how often holds are put off by `expiresSeconds` again; several renewals must fit into that time. */
  constructor(
    private readonly database: Database,
    private readonly expiresSeconds: number,
    private readonly renewalMs: number,
  ) {}

  add(requestId: string): void {
    this.requestIds.add(requestId);
    this.timer ??= setInterval(() => void this.renew(), this.renewalMs).unref();
  }

  /** The request is over. A hold that could not be settled expires from now on. */
  remove(requestId: string): void {
    this.requestIds.delete(requestId);
    if (this.requestIds.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** The process ends: what is still open expires from now on. */
  close(): void {
    clearInterval(this.timer);
    this.requestIds.clear();
  }

  private async renew(): Promise<void> {
    try {
      await this.database.query({ text: RENEW_HOLDS, values: [[...this.requestIds], this.expiresSeconds] });
    } catch (error) {
      log.warn('holds.renewal_failed', { holds: this.requestIds.size, error });
    }
  }
}

const log = logger('ledger');

/** A hold not extended for so long, in seconds, belongs to a process that died. */
const HOLD_EXPIRES_SECONDS = 3_600;
/** How often a living process puts its holds off, in milliseconds. */
const HOLD_RENEWAL_MS = 600_000;
const SWEEP_BATCH = 200;
/** How long a hold waits at most for what its account has just used to be settled, before it is refused; in milliseconds. */
const SETTLING_MS = 1_000;

/** The result of an order to hold, and the amount held now. */
interface HoldOutcome {
  readonly outcome: 'held' | Lacking | 'debt' | 'lost';
  readonly heldMicros: Micros;
}

const NOTHING_HELD: ReadonlyMap<string, HoldOutcome> = new Map();

interface FundsRow extends Record<string, unknown> {
  readonly spare: bigint | null;
  readonly key_spare: bigint | null;
  readonly in_debt: boolean;
}

const NOTHING_LEFT: FundsRow = { spare: 0n, key_spare: null, in_debt: false };

function lacks({ spare, key_spare: keySpare }: FundsRow, micros: Micros): Lacking | undefined {
  if (keySpare !== null && keySpare < micros) return 'quota';
  return spare !== null && spare < micros ? 'balance' : undefined;
}

interface HoldRow {
  readonly request_id: string;
  readonly account_id: string;
  readonly outcome: HoldOutcome['outcome'];
  readonly held_micros: bigint | null;
  readonly spare: bigint | null;
}

/**
 * The money of requests that answer at once. Many requests share a statement, so that one busy account stays fast.
 *
 * A charge may lie below the hold (the rest goes back), equal it, or lie above: then the part beyond is taken from
 * what the account and the key's quota still have, and what they lack is a debt, which the next money pays before
 * anything else. A balance never goes below zero. While there is a debt nothing that costs begins.
 */
@Injectable()
export class RequestLedger implements OnModuleDestroy {
  private readonly holds: Batcher<RequestHold, PromiseSettledResult<HoldOutcome>>;
  private readonly endings: Batcher<RequestCapture, PromiseSettledResult<Captured | null>>;
  private readonly open: OpenHolds;
  private readonly paused: PausedWork;
  private readonly underSettlement = new Map<string, SlotList<Promise<unknown>>>();

  constructor(
    private readonly database: Database,
    @Optional() private readonly process?: HoldingProcess,
  ) {
    this.paused = new PausedWork(database);
    this.open = new OpenHolds(database, HOLD_EXPIRES_SECONDS, HOLD_RENEWAL_MS);
    const bounds = { maxItems: 64, maxRunsInFlight: 2 };
    // Only what was not begun may be refused; an ending must be written however many wait.
    this.holds = new Batcher((holds) => this.holdTogether(holds), {
      ...bounds,
      // A statement locks its accounts: a second one of the same account would wait there for the first, with all that goes with it.
      keyOf: ({ accountId }) => accountId,
      maxWaiting: 4_000,
      maxWaitMs: REQUEST_WAIT_MS,
    });
    this.endings = new Batcher((endings) => this.endTogether(endings), bounds);
  }

  onModuleDestroy(): void {
    this.open.close();
  }

  /**
   * Puts money aside and answers how much. A second hold of the same request changes nothing.
   *
   * @param giveBack gives back what else could be done without, where the money does not suffice; false: there is nothing.
   * @throws GatewayError `insufficient_balance`, `insufficient_key_quota`, `spend_limit_reached`, `overloaded`, `idempotency_in_flight` (another
   * attempt has taken over): nothing was held.
   */
  async hold(hold: RequestHold, giveBack?: () => Promise<boolean>): Promise<Micros> {
    assertAmount(hold.amountMicros);
    const isSettling = this.underSettlement.has(hold.accountId);
    const put = async (): Promise<HoldOutcome> =>
      hold.limitedTags ? this.holdAlone(hold, new Map()) : resultOf(await this.holds.add(hold));
    let held = await put();
    // Money that came back since may pay what is owed: checked only here, so that other requests do not pay for the query.
    if (held.outcome === 'debt' && (await collectDebts(this.database.of(hold.accountId), hold.accountId)) === 0n)
      held = await put();
    if (held.outcome === 'balance' || held.outcome === 'quota') {
      const [wasSettled, wasGivenBack] = await Promise.all([this.settled(hold.accountId), giveBack?.()]);
      if (isSettling || wasSettled || wasGivenBack === true || (await this.covers(hold))) held = await put();
    }
    if (held.outcome === 'lost') throw attemptTakenOver();
    if (held.outcome === 'debt') throw inDebt(hold.accountId);
    if (held.outcome !== 'held') throw await this.refusal(held.outcome, hold, leastOf(hold));
    this.open.add(hold.requestId);
    return held.heldMicros;
  }

  /** What the account used is being written to the books: until then its other holds are not refused. */
  settling(accountId: string, settlement: Promise<unknown>): void {
    const running = this.underSettlement.get(accountId) ?? new SlotList();
    if (running.size === 0) this.underSettlement.set(accountId, running);
    const slot = running.add(settlement);
    const over = (): void => {
      running.remove(slot);
      if (running.size === 0 && this.underSettlement.get(accountId) === running) this.underSettlement.delete(accountId);
    };
    settlement.then(over, over);
  }

  /** Resolves when what the account has used by now is settled, or seems not to be soon. False: there was nothing. */
  private async settled(accountId: string): Promise<boolean> {
    const running = this.underSettlement.get(accountId);
    if (running) await Promise.race([Promise.allSettled(running), sleep(SETTLING_MS, undefined, { ref: false })]);
    return running !== undefined;
  }

  /**
   * Checks that account and key have so much, and holds nothing of it.
   *
   * @throws GatewayError `insufficient_balance`, `insufficient_key_quota`, `spend_limit_reached`.
   */
  async expectFunds(payer: Pick<RequestHold, 'accountId' | 'apiKeyId' | 'amountMicros'>): Promise<void> {
    const { accountId, amountMicros } = payer;
    const isSettling = this.underSettlement.has(accountId);
    let funds = await this.fundsOf(payer);
    if (lacks(funds, amountMicros)) {
      const wasSettled = await this.settled(accountId);
      if (isSettling || wasSettled) funds = await this.fundsOf(payer);
    }
    if (funds.in_debt && (await collectDebts(this.database.of(accountId), accountId)) !== 0n) throw inDebt(accountId);
    const lacking = lacks(funds, amountMicros);
    if (lacking) throw await this.refusal(lacking, payer, amountMicros);
  }

  /** Read on the share of the account: refusals cost nothing, so that one may ask for any number of them at once. */
  private refusal(lacking: Lacking, payer: LimitedPayer, amountMicros: Micros): Promise<GatewayError> {
    return new SpendLimits(this.database.of(payer.accountId)).refusal(lacking, payer, amountMicros);
  }

  /** Whether there is enough by now for a hold that was refused: money that came back between the refusal and its answer. */
  private async covers(hold: RequestHold): Promise<boolean> {
    return lacks(await this.fundsOf(hold), leastOf(hold)) === undefined;
  }

  private async fundsOf({ accountId, apiKeyId }: Pick<RequestHold, 'accountId' | 'apiKeyId'>): Promise<FundsRow> {
    const statement = { name: 'read_funds', text: FUNDS, values: [accountId, apiKeyId] };
    return (await this.database.of(accountId).query<FundsRow>(statement)).rows[0] ?? NOTHING_LEFT;
  }

  /**
   * Turns a hold into a charge and writes the usage record. Null: the request has no open hold, because it was settled
   * before; nothing moved. Safe to repeat.
   */
  async capture(capture: RequestCapture): Promise<Captured | null> {
    assertAmount(capture.chargeMicros);
    const isOverrun = capture.chargeMicros > capture.heldMicros;
    try {
      return isOverrun ? await this.endAlone(capture) : resultOf(await this.endings.add(capture));
    } finally {
      this.open.remove(capture.requestId);
    }
  }

  /**
   * Charges a request that nothing is held for any more. What the account lacks is a debt. Safe to repeat: null, and
   * nothing moves, when it was charged before, or another attempt of its idempotency key has taken over.
   */
  async captureUnheld({ accountId, apiKeyId, idempotencyKey, ...capture }: UnheldCapture): Promise<Captured | null> {
    assertAmount(capture.chargeMicros);
    const payer = { account_id: accountId, api_key_id: apiKeyId, idempotency_key: idempotencyKey ?? null };
    const ending = { ...toEndingRow(capture), ...payer };
    try {
      return (await this.charge(unheldStatement([capture]), [ending])).get(capture.requestId) ?? null;
    } catch (error) {
      // A try whose answer was lost went through meanwhile.
      if (brokeConstraint(error, 'ledger_once_per_request')) return null;
      throw error;
    }
  }

  /** Gives a whole hold back and records the request as failed or cancelled. False: it was settled before. */
  async release(requestId: string, usage: RequestUsage): Promise<boolean> {
    return (await this.capture({ requestId, chargeMicros: 0n, heldMicros: 0n, usage })) !== null;
  }

  /** Gives back the hold of a request whose process stalled or died. False: it has none open. */
  async releaseLost(requestId: string): Promise<boolean> {
    return this.release(requestId, LOST_REQUEST);
  }

  /**
   * Gives back what processes that died were holding, those in `dead` and those that renew no more; answers how many holds. One
   * that fails keeps none of the others.
   */
  async releaseAbandoned(dead: readonly string[] = []): Promise<number> {
    let released = 0;
    for (let found = SWEEP_BATCH; found === SWEEP_BATCH;) {
      const statement = { text: ABANDONED_HOLDS, values: [SWEEP_BATCH, dead] };
      const { rows } = await this.database.query<{ request_id: string }>(statement);
      found = rows.length;
      const release = ({ request_id: requestId }: { request_id: string }): Promise<unknown> =>
        this.paused.attempt('abandoned-hold', requestId, async () => {
          if (await this.releaseLost(requestId)) released += 1;
        });
      await Promise.all(rows.map(release));
    }
    if (released > 0) log.warn('holds.released', { holds: released });
    return released;
  }

  /**
   * Holds that were refused or failed together with others are tried one by one: the balance may cover some. One that is
   * more than what its account was just seen to have is not, so that a poor account does not hold up its neighbours. A
   * database that is away fails all of them at once, while their callers still wait.
   */
  private async holdTogether(holds: readonly RequestHold[]): Promise<PromiseSettledResult<HoldOutcome>[]> {
    const spare = new Map<string, Micros>();
    const together = holds.length > 1 ? await this.tryTogether(holds, spare) : NOTHING_HELD;
    const outcomes: PromiseSettledResult<HoldOutcome>[] = [];
    for (const hold of holds) {
      const outcome = together.get(hold.requestId);
      const least = leastOf(hold);
      const isTooMuch = least > (spare.get(hold.accountId) ?? least);
      const isFinal = outcome && (FINAL.has(outcome.outcome) || (outcome.outcome === 'balance' && isTooMuch));
      const known = isFinal ? outcome : undefined;
      const [result] = known
        ? [{ status: 'fulfilled' as const, value: known }]
        : await Promise.allSettled([this.holdAlone(hold, spare)]);
      outcomes.push(result);
    }
    return outcomes;
  }

  private async tryTogether(
    holds: readonly RequestHold[],
    spare: Map<string, Micros>,
  ): Promise<ReadonlyMap<string, HoldOutcome>> {
    try {
      return await this.insertHolds(holds, spare);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      return NOTHING_HELD;
    }
  }

  private async holdAlone(hold: RequestHold, spare: Map<string, Micros>): Promise<HoldOutcome> {
    try {
      return (await this.insertHolds([hold], spare)).get(hold.requestId) ?? { outcome: 'balance', heldMicros: 0n };
    } catch (error) {
      const isRepeated =
        brokeConstraint(error, 'request_hold_pkey') || brokeConstraint(error, 'ledger_once_per_request');
      if (!isRepeated) throw error;
      return { outcome: 'held', heldMicros: await this.heldFor(hold) };
    }
  }

  /** What an earlier try, whose answer was lost, put aside. */
  private async heldFor({ requestId, amountMicros }: RequestHold): Promise<Micros> {
    const text = 'select amount_micros from request_hold where request_id = $1';
    const { rows } = await this.database.query<{ amount_micros: bigint }>({ text, values: [requestId] });
    return rows[0]?.amount_micros ?? amountMicros;
  }

  /** Notes in `spare` what limited accounts have left. */
  private async insertHolds(
    holds: readonly RequestHold[],
    spare: Map<string, Micros>,
  ): Promise<ReadonlyMap<string, HoldOutcome>> {
    const { rows } = await this.database.query<HoldRow>({
      ...(holds.length === 1 && holds[0]?.limitedTags ? HOLD_LIMITED_REQUEST : HOLD_REQUESTS),
      values: [JSON.stringify(holds.map(toHoldRow)), this.process?.id],
    });
    for (const row of rows) if (row.spare !== null) spare.set(row.account_id, row.spare);
    return new Map(
      rows.map((row) => [row.request_id, { outcome: row.outcome, heldMicros: row.held_micros ?? 0n }] as const),
    );
  }

  private async endTogether(endings: readonly RequestCapture[]): Promise<PromiseSettledResult<Captured | null>[]> {
    try {
      const paid = await this.settle(endings);
      return endings.map(({ requestId }) => ({ status: 'fulfilled', value: paid.get(requestId) ?? null }));
    } catch (error) {
      if (endings.length === 1 || isConnectionError(error)) throw error;
      return Promise.allSettled(endings.map((ending) => this.endAlone(ending)));
    }
  }

  private async endAlone(ending: RequestCapture): Promise<Captured | null> {
    return (await this.settle([ending])).get(ending.requestId) ?? null;
  }

  private settle(endings: readonly RequestCapture[]): Promise<Map<string, Captured>> {
    return this.charge(settleStatement(endings), endings.map(toEndingRow));
  }

  private async charge(
    statement: { readonly name: string; readonly text: string },
    endings: readonly object[],
  ): Promise<Map<string, Captured>> {
    const { rows } = await retryOnConnectionError(() =>
      this.database.query<{ request_id: string; paid_micros: bigint; owed_micros: bigint }>({
        ...statement,
        values: [JSON.stringify(endings)],
      }),
    );
    return new Map(
      rows.map((row) => [row.request_id, { paidMicros: row.paid_micros, owedMicros: row.owed_micros }] as const),
    );
  }
}

/** Outcomes that asking again alone would not change. */
const FINAL: ReadonlySet<HoldOutcome['outcome']> = new Set(['held', 'lost', 'debt']);

const leastOf = ({ amountMicros, leastMicros = amountMicros }: RequestHold): Micros => leastMicros;

const toHoldRow = (hold: RequestHold): Record<string, unknown> => ({
  request_id: hold.requestId,
  account_id: hold.accountId,
  api_key_id: hold.apiKeyId,
  amount_micros: hold.amountMicros.toString(),
  least_micros: leastOf(hold).toString(),
  expires_seconds: HOLD_EXPIRES_SECONDS,
  idempotency_key: hold.idempotencyKey ?? null,
  limited_tags: hold.limitedTags,
});

function assertAmount(amount: Micros): void {
  if (amount < 0n || amount > MAX_MICROS)
    throw new RangeError(`an amount of ${amount} micros cannot be held or charged`);
}

function resultOf<Value>(outcome: PromiseSettledResult<Value>): Value {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
