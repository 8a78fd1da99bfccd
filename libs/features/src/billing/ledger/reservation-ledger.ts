import { Injectable, Optional } from '@nestjs/common';
import type { Micros } from '#contracts';
import { Batcher, Database, isConnectionError, logger, retryOnConnectionError, timeOrderedId } from '#platform';
import { PausedWork } from '../../observability/paused-work.js';
import { HoldingProcess } from './holding-processes.js';
import {
  ABANDONED_RESERVATIONS,
  captureStatement,
  CLOSE_RESERVATIONS,
  OPEN_RESERVATION,
  RENEW_RESERVATIONS,
} from './reservation-statements.js';
import { type RequestUsage, toEndingRow } from './request-usage.js';

const log = logger('ledger');

/** A reservation not renewed for so long, in seconds, belongs to a process that died. */
const EXPIRES_SECONDS = 300;
/** How often a process must renew what it holds, in milliseconds. */
export const RESERVATION_RENEWAL_MS = 60_000;
const SWEEP_BATCH = 200;
/** No request waits for a capture, so under load captures are batched for so long, in milliseconds: one statement instead of ten. */
const CAPTURE_PAUSE_MS = 25;
/** A reservation is never more than this part of what account and key have left: it must not starve other processes. */
const SHARE = 100;

export interface ReservationOrder {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly wantedMicros: Micros;
  /** Less than this is not worth having. */
  readonly leastMicros: Micros;
}

export interface GrantedReservation {
  readonly id: string;
  readonly amountMicros: Micros;
}

/** The end of a request with a part of a reservation. */
export interface ReservationCapture {
  readonly reservationId: string;
  readonly requestId: string;
  /** 0 to what the request had reserved. */
  readonly chargeMicros: Micros;
  readonly usage: RequestUsage;
}

export interface ReservationCaptured {
  /** False: the request was charged before, or the reservation is gone. */
  readonly isCharged: boolean;
  /** The account owes money: nothing more should be reserved. */
  readonly isInDebt: boolean;
}

/** The books of reservations: money that a process holds for a busy key. Every call moves money in one transaction. */
@Injectable()
export class ReservationLedger {
  private readonly captures: Batcher<ReservationCapture, ReservationCaptured>;
  private readonly paused: PausedWork;

  constructor(
    private readonly database: Database,
    @Optional() private readonly process?: HoldingProcess,
  ) {
    this.paused = new PausedWork(database);
    this.captures = new Batcher((captures) => this.captureTogether(captures), {
      maxItems: 256,
      // One at a time: captures of a busy account wait for each other's locks anyway, and so gather into larger runs.
      maxRunsInFlight: 1,
      pauseMs: CAPTURE_PAUSE_MS,
      isItemFault: (error) => !isConnectionError(error),
    });
  }

  /** Null when a hundredth of what account and key have left is less than the least wanted, or the account is in debt. */
  async open(order: ReservationOrder): Promise<GrantedReservation | null> {
    const id = timeOrderedId('reservation');
    const { accountId, apiKeyId, wantedMicros, leastMicros } = order;
    const { rows } = await this.database.query<{ amount_micros: bigint }>({
      name: 'open_reservation',
      text: OPEN_RESERVATION,
      values: [id, accountId, apiKeyId, wantedMicros, leastMicros, SHARE, EXPIRES_SECONDS, this.process?.id],
    });
    return rows[0] ? { id, amountMicros: rows[0].amount_micros } : null;
  }

  /** Charges a request and writes its usage record. Safe to repeat. */
  capture(capture: ReservationCapture): Promise<ReservationCaptured> {
    return this.captures.add(capture);
  }

  /** Gives back what is left of reservations. */
  async close(ids: readonly string[]): Promise<void> {
    if (ids.length > 0)
      await this.database.query({ name: 'close_reservations', text: CLOSE_RESERVATIONS, values: [ids] });
  }

  /** Keeps reservations from expiring; answers those that still stand. */
  async renew(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.database.query<{ request_id: string }>({
      text: RENEW_RESERVATIONS,
      values: [ids, EXPIRES_SECONDS],
    });
    return new Set(rows.map((row) => row.request_id));
  }

  /** Gives back what processes that died were holding, those in `dead` and those that renew no more; answers how many reservations. */
  async closeAbandoned(dead: readonly string[] = []): Promise<number> {
    const { rows } = await this.database.query<{ request_id: string }>({
      text: ABANDONED_RESERVATIONS,
      values: [SWEEP_BATCH, dead],
    });
    const ids = rows.map((row) => row.request_id);
    try {
      await this.close(ids);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      // One of them failed, and with it all.
      for (const id of ids) await this.paused.attempt('abandoned-reservation', id, () => this.close([id]));
    }
    if (ids.length > 0) log.warn('reservations.given_back', { reservations: ids.length });
    return ids.length;
  }

  private async captureTogether(captures: readonly ReservationCapture[]): Promise<ReservationCaptured[]> {
    const endings = captures.map((capture) => ({ reservation_id: capture.reservationId, ...toEndingRow(capture) }));
    const { rows } = await retryOnConnectionError(() =>
      this.database.query<{ request_id: string; in_debt: boolean }>({
        ...captureStatement(captures),
        values: [JSON.stringify(endings)],
      }),
    );
    const charged = new Map(rows.map((row) => [row.request_id, row.in_debt]));
    return captures.map(({ requestId }) => ({
      isCharged: charged.has(requestId),
      isInDebt: charged.get(requestId) ?? false,
    }));
  }
}
