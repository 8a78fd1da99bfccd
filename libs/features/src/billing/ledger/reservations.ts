import { Injectable, Optional } from '@nestjs/common';
import type { Micros } from '#contracts';
import { logger } from '#platform';
import { RESERVATION_RENEWAL_MS, ReservationLedger } from './reservation-ledger.js';
import type { RequestUsage } from './request-usage.js';

const log = logger('ledger');

/** A key with so many requests in a second at one process gets a reservation there. */
const BUSY_REQUESTS = 8;
const BUSY_WINDOW_MS = 1_000;
/** How many requests like the current one a reservation is to cover at once, and the fewest that are worth it. */
const WANTED_HOLDS = 256n;
const LEAST_HOLDS = 8n;
/** Below so many holds the next reservation is opened, before this one is used up. */
const LOW_HOLDS = 4n;
/** How long after its last request a reservation is given back, in milliseconds. */
const IDLE_MS = 3_000;
/** How long after a reservation was opened, or refused because the account has too little, until the next, in milliseconds. */
const PAUSE_MS = { opened: 250, refused: 2_000 };

/** What the timing of reservations can be set to, in milliseconds. */
export interface ReservationTiming {
  readonly idleMs: number;
  readonly renewalMs: number;
}

interface Reservation {
  readonly id: string;
  unspentMicros: Micros;
  /** Requests with a part of it that are not settled. */
  requests: number;
  usedAtMs: number;
}

interface BusyKey {
  current: Reservation | undefined;
  isOpening: boolean;
  pausesUntilMs: number;
  windowBeganMs: number;
  requests: number;
}

/** The part of a reservation that one request may spend. */
export interface ReservedAmount {
  readonly reservation: { readonly id: string };
  amountMicros: Micros;
  /** What was not charged is back in the reservation. */
  isBack?: true;
}

/** The caller, and the most that the request may cost. */
export interface ReserveOrder {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly amountMicros: Micros;
}

/**
 * Lets the requests of busy keys begin without a word to the database: this process holds money for the key, in one
 * hold, and hands it out from memory. What a process that dies had not charged is given back by the sweep.
 *
 * An account never spends more than it has, because a reservation is held before any request uses it.
 */
@Injectable()
export class Reservations {
  private readonly keys = new Map<string, BusyKey>();
  private readonly retired = new Set<Reservation>();
  private readonly timers: NodeJS.Timeout[];

  constructor(
    private readonly ledger: ReservationLedger,
    @Optional() private readonly timing: ReservationTiming = { idleMs: IDLE_MS, renewalMs: RESERVATION_RENEWAL_MS },
  ) {
    this.timers = [
      setInterval(() => void this.giveBackIdle(), Math.ceil(timing.idleMs / 3)).unref(),
      setInterval(() => void this.renew(), timing.renewalMs).unref(),
    ];
  }

  /** Takes the most a request may cost from the key's reservation; undefined when there is none, or too little in it. */
  reserve(order: ReserveOrder): ReservedAmount | undefined {
    const now = performance.now();
    const key = this.noted(order.apiKeyId, now);
    const { current: reservation } = key;
    const left = (reservation?.unspentMicros ?? 0n) - order.amountMicros;
    if (left < order.amountMicros * LOW_HOLDS) this.openSoon(key, order, now);
    if (!reservation || left < 0n) return undefined;
    reservation.unspentMicros = left;
    reservation.requests += 1;
    reservation.usedAtMs = now;
    return { reservation, amountMicros: order.amountMicros };
  }

  /** Whether the key's reservation has the most that a request may cost; nothing is taken of it. */
  covers({ apiKeyId, amountMicros }: ReserveOrder): boolean {
    const { unspentMicros = -1n } = this.keys.get(apiKeyId)?.current ?? {};
    return unspentMicros >= amountMicros;
  }

  /** Makes what is reserved cover a higher charge. False: the reservation has not that much left, and nothing changed. */
  extend(reserved: ReservedAmount, chargeMicros: Micros): boolean {
    const reservation = reservationOf(reserved);
    const missing = chargeMicros - reserved.amountMicros;
    if (reserved.isBack || missing <= 0n) return true;
    if (reservation.unspentMicros < missing) return false;
    reservation.unspentMicros -= missing;
    reserved.amountMicros = chargeMicros;
    return true;
  }

  /**
   * Charges a request to what it reserved, which must cover it, and puts the rest back. Safe to repeat after a failure.
   * False: nothing moved, because the request was charged before or the reservation is gone.
   */
  async capture(
    reserved: ReservedAmount,
    requestId: string,
    chargeMicros: Micros,
    usage: RequestUsage,
  ): Promise<boolean> {
    const { id: reservationId } = reserved.reservation;
    const { isCharged, isInDebt } = await this.ledger.capture({ reservationId, requestId, chargeMicros, usage });
    this.putBack(reserved, reserved.amountMicros - chargeMicros);
    // Either an earlier try succeeded unnoticed, or the reservation is gone. Either way it must not be used any further.
    // Nor on one whose account owes money: what is left of it belongs to the debt, and new requests are refused.
    if (!isCharged || isInDebt) this.retire(reservationOf(reserved));
    return isCharged;
  }

  /** Puts all of it back, for a request that is charged in another way. */
  return(reserved: ReservedAmount): void {
    this.putBack(reserved, reserved.amountMicros);
  }

  /** Gives back at once what a key keeps for its next requests. False: nothing was there. */
  async giveBackOf(apiKeyId: string): Promise<boolean> {
    const { current } = this.keys.get(apiKeyId) ?? {};
    if (current) this.retire(current);
    const unused = [...this.retired].filter(({ requests }) => requests === 0);
    await this.giveBack(unused);
    return unused.length > 0;
  }

  /** Gives everything back. Requests that are not settled by then are free. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    for (const { current } of this.keys.values()) if (current) this.retired.add(current);
    this.keys.clear();
    await this.giveBack([...this.retired]);
  }

  private putBack(reserved: ReservedAmount, amountMicros: Micros): void {
    if (reserved.isBack) return;
    reserved.isBack = true;
    const reservation = reservationOf(reserved);
    reservation.unspentMicros += amountMicros;
    reservation.requests -= 1;
    reserved.amountMicros = 0n;
  }

  private noted(apiKeyId: string, now: number): BusyKey {
    let key = this.keys.get(apiKeyId);
    if (!key) {
      key = { current: undefined, isOpening: false, pausesUntilMs: 0, windowBeganMs: now, requests: 0 };
      this.keys.set(apiKeyId, key);
    }
    if (now - key.windowBeganMs > BUSY_WINDOW_MS) {
      key.windowBeganMs = now;
      key.requests = 0;
    }
    key.requests += 1;
    return key;
  }

  private openSoon(key: BusyKey, order: ReserveOrder, now: number): void {
    if (key.isOpening || now < key.pausesUntilMs || order.amountMicros <= 0n) return;
    if (!key.current && key.requests < BUSY_REQUESTS) return;
    key.isOpening = true;
    this.open(key, order)
      .catch((error: unknown) => {
        key.pausesUntilMs = performance.now() + PAUSE_MS.refused;
        log.warn('reservation.not_opened', { apiKeyId: order.apiKeyId, error });
      })
      .finally(() => (key.isOpening = false));
  }

  private async open(key: BusyKey, { accountId, apiKeyId, amountMicros }: ReserveOrder): Promise<void> {
    const wantedMicros = amountMicros * WANTED_HOLDS;
    const granted = await this.ledger.open({
      accountId,
      apiKeyId,
      wantedMicros,
      leastMicros: amountMicros * LEAST_HOLDS,
    });
    const now = performance.now();
    key.pausesUntilMs = now + (granted ? PAUSE_MS.opened : PAUSE_MS.refused);
    if (!granted) return;
    const reservation = { id: granted.id, unspentMicros: granted.amountMicros, requests: 0, usedAtMs: now };
    if (key.current) this.retired.add(key.current);
    key.current = reservation;
    // Everything was given back while this one was on its way.
    if (this.keys.get(apiKeyId) !== key) await this.giveBack([reservation]);
  }

  private retire(reservation: Reservation): void {
    for (const key of this.keys.values()) if (key.current === reservation) key.current = undefined;
    this.retired.add(reservation);
  }

  private async giveBackIdle(): Promise<void> {
    const idleSinceMs = performance.now() - this.timing.idleMs;
    for (const [apiKeyId, key] of this.keys) {
      if (key.current && key.current.requests === 0 && key.current.usedAtMs < idleSinceMs) this.retire(key.current);
      if (!key.current && !key.isOpening && key.windowBeganMs < idleSinceMs) this.keys.delete(apiKeyId);
    }
    await this.giveBack([...this.retired].filter(({ requests }) => requests === 0));
  }

  private async giveBack(reservations: readonly Reservation[]): Promise<void> {
    if (reservations.length === 0) return;
    try {
      await this.ledger.close(reservations.map(({ id }) => id));
      for (const reservation of reservations) this.retired.delete(reservation);
    } catch (error) {
      for (const reservation of reservations) this.retired.add(reservation);
      log.warn('reservations.not_given_back', { reservations: reservations.length, error });
    }
  }

  /** One that no longer stands was given back by a sweep, because this process could not renew it in time. */
  private async renew(): Promise<void> {
    const held = [...this.retired];
    for (const { current } of this.keys.values()) if (current) held.push(current);
    if (held.length === 0) return;
    try {
      const standing = await this.ledger.renew(held.map(({ id }) => id));
      for (const reservation of held) if (!standing.has(reservation.id)) this.retire(reservation);
    } catch (error) {
      log.warn('reservations.not_renewed', { reservations: held.length, error });
    }
  }
}

/** Only made here, of reservations that are made here. */
const reservationOf = (reserved: ReservedAmount): Reservation => reserved.reservation as Reservation;
