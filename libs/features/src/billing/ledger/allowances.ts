import { Injectable, Optional } from '@nestjs/common';
import type { Micros } from '#contracts';
import { logger } from '#platform';
import { ALLOWANCE_RENEWAL_MS, AllowanceLedger } from './allowance-ledger.js';
import type { RequestUsage } from './request-usage.js';

const log = logger('ledger');

/** A key with so many requests in a second at one process gets an allowance there. */
const BUSY_REQUESTS = 8;
const BUSY_WINDOW_MS = 1_000;
/** How many requests like the one at hand an allowance is to cover at once, and the fewest that are worth it. */
const WANTED_HOLDS = 256n;
const LEAST_HOLDS = 8n;
/** Below so many holds the next allowance is opened, before this one is used up. */
const LOW_HOLDS = 4n;
/** How long after its last request an allowance is given back, in milliseconds. */
const IDLE_MS = 3_000;
/** How long after an allowance was opened, or refused because the account has too little, until the next, in milliseconds. */
const PAUSE_MS = { opened: 250, refused: 2_000 };

/** What the timing of allowances can be set to, in milliseconds. */
export interface AllowanceTiming {
  readonly idleMs: number;
  readonly renewalMs: number;
}

interface Allowance {
  readonly id: string;
  unspentMicros: Micros;
  /** Requests that drew and are not settled. */
  draws: number;
  usedAtMs: number;
}

interface BusyKey {
  current: Allowance | undefined;
  isOpening: boolean;
  restsUntilMs: number;
  windowBeganMs: number;
  requests: number;
}

/** The part of an allowance that one request may spend. */
export interface Draw {
  readonly allowance: { readonly id: string };
  amountMicros: Micros;
}

/** Who draws, and the most that the request may cost. */
export interface DrawOrder {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly amountMicros: Micros;
}

/**
 * Lets the requests of busy keys begin without a word to the database: this process holds money for the key, in one
 * hold, and hands it out from memory. What a process that dies had not charged is given back by the sweep.
 *
 * An account never spends more than it has, because an allowance is held before anybody draws on it.
 */
@Injectable()
export class Allowances {
  private readonly keys = new Map<string, BusyKey>();
  private readonly retired = new Set<Allowance>();
  private readonly timers: NodeJS.Timeout[];

  constructor(
    private readonly ledger: AllowanceLedger,
    @Optional() private readonly timing: AllowanceTiming = { idleMs: IDLE_MS, renewalMs: ALLOWANCE_RENEWAL_MS },
  ) {
    this.timers = [
      setInterval(() => void this.giveBackIdle(), Math.ceil(timing.idleMs / 3)).unref(),
      setInterval(() => void this.renew(), timing.renewalMs).unref(),
    ];
  }

  /** Takes the most a request may cost from the key's allowance; undefined when there is none, or too little in it. */
  draw(order: DrawOrder): Draw | undefined {
    const now = performance.now();
    const key = this.noted(order.apiKeyId, now);
    const { current: allowance } = key;
    const left = (allowance?.unspentMicros ?? 0n) - order.amountMicros;
    if (left < order.amountMicros * LOW_HOLDS) this.openSoon(key, order, now);
    if (!allowance || left < 0n) return undefined;
    allowance.unspentMicros = left;
    allowance.draws += 1;
    allowance.usedAtMs = now;
    return { allowance, amountMicros: order.amountMicros };
  }

  /** Makes a draw cover a charge that is more than was drawn. False: the allowance has not that much, nothing changed. */
  stretch(draw: Draw, chargeMicros: Micros): boolean {
    const allowance = allowanceOf(draw);
    const missing = chargeMicros - draw.amountMicros;
    if (missing <= 0n) return true;
    if (allowance.unspentMicros < missing) return false;
    allowance.unspentMicros -= missing;
    draw.amountMicros = chargeMicros;
    return true;
  }

  /** Charges a request to its draw, which must cover it, and puts the rest back. Safe to repeat after a failure. */
  async capture(draw: Draw, requestId: string, chargeMicros: Micros, usage: RequestUsage): Promise<void> {
    const { id: allowanceId } = draw.allowance;
    const { isCharged, isInDebt } = await this.ledger.capture({ allowanceId, requestId, chargeMicros, usage });
    this.putBack(draw, draw.amountMicros - chargeMicros);
    // Either an earlier try succeeded unnoticed, or the allowance is gone. Whichever it is, nobody should build on it.
    // Nor on one whose account owes money: what is left of it belongs to the debt, and new requests are refused.
    if (!isCharged || isInDebt) this.retire(allowanceOf(draw));
  }

  /** Puts a whole draw back, for a request that is charged in another way. */
  return(draw: Draw): void {
    this.putBack(draw, draw.amountMicros);
  }

  /** Gives everything back. Requests that are not settled by then are free. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    for (const { current } of this.keys.values()) if (current) this.retired.add(current);
    this.keys.clear();
    await this.giveBack([...this.retired]);
  }

  private putBack(draw: Draw, amountMicros: Micros): void {
    const allowance = allowanceOf(draw);
    allowance.unspentMicros += amountMicros;
    allowance.draws -= 1;
    draw.amountMicros = 0n;
  }

  private noted(apiKeyId: string, now: number): BusyKey {
    let key = this.keys.get(apiKeyId);
    if (!key) {
      key = { current: undefined, isOpening: false, restsUntilMs: 0, windowBeganMs: now, requests: 0 };
      this.keys.set(apiKeyId, key);
    }
    if (now - key.windowBeganMs > BUSY_WINDOW_MS) {
      key.windowBeganMs = now;
      key.requests = 0;
    }
    key.requests += 1;
    return key;
  }

  private openSoon(key: BusyKey, order: DrawOrder, now: number): void {
    if (key.isOpening || now < key.restsUntilMs || order.amountMicros <= 0n) return;
    if (!key.current && key.requests < BUSY_REQUESTS) return;
    key.isOpening = true;
    this.open(key, order)
      .catch((error: unknown) => {
        key.restsUntilMs = performance.now() + PAUSE_MS.refused;
        log.warn('allowance.not_opened', { apiKeyId: order.apiKeyId, error });
      })
      .finally(() => (key.isOpening = false));
  }

  private async open(key: BusyKey, { accountId, apiKeyId, amountMicros }: DrawOrder): Promise<void> {
    const wantedMicros = amountMicros * WANTED_HOLDS;
    const granted = await this.ledger.open({
      accountId,
      apiKeyId,
      wantedMicros,
      leastMicros: amountMicros * LEAST_HOLDS,
    });
    const now = performance.now();
    key.restsUntilMs = now + (granted ? PAUSE_MS.opened : PAUSE_MS.refused);
    if (!granted) return;
    const allowance = { id: granted.id, unspentMicros: granted.amountMicros, draws: 0, usedAtMs: now };
    if (key.current) this.retired.add(key.current);
    key.current = allowance;
    // Everything was given back while this one was on its way.
    if (this.keys.get(apiKeyId) !== key) await this.giveBack([allowance]);
  }

  private retire(allowance: Allowance): void {
    for (const key of this.keys.values()) if (key.current === allowance) key.current = undefined;
    this.retired.add(allowance);
  }

  private async giveBackIdle(): Promise<void> {
    const idleSinceMs = performance.now() - this.timing.idleMs;
    for (const [apiKeyId, key] of this.keys) {
      if (key.current && key.current.draws === 0 && key.current.usedAtMs < idleSinceMs) this.retire(key.current);
      if (!key.current && !key.isOpening && key.windowBeganMs < idleSinceMs) this.keys.delete(apiKeyId);
    }
    await this.giveBack([...this.retired].filter(({ draws }) => draws === 0));
  }

  private async giveBack(allowances: readonly Allowance[]): Promise<void> {
    if (allowances.length === 0) return;
    try {
      await this.ledger.close(allowances.map(({ id }) => id));
      for (const allowance of allowances) this.retired.delete(allowance);
    } catch (error) {
      for (const allowance of allowances) this.retired.add(allowance);
      log.warn('allowances.not_given_back', { allowances: allowances.length, error });
    }
  }

  /** One that no longer stands was given back by a sweep, because this process could not renew it in time. */
  private async renew(): Promise<void> {
    const held = [...this.retired];
    for (const { current } of this.keys.values()) if (current) held.push(current);
    if (held.length === 0) return;
    try {
      const standing = await this.ledger.renew(held.map(({ id }) => id));
      for (const allowance of held) if (!standing.has(allowance.id)) this.retire(allowance);
    } catch (error) {
      log.warn('allowances.not_renewed', { allowances: held.length, error });
    }
  }
}

/** Draws are only made here, of allowances that are made here. */
const allowanceOf = (draw: Draw): Allowance => draw.allowance as Allowance;
