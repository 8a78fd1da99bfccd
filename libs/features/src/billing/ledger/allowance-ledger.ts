import { Injectable } from '@nestjs/common';
import type { Micros } from '#contracts';
import { Batcher, Database, isConnectionError, logger, retryOnConnectionError, timeOrderedId } from '#platform';
import {
  CAPTURE_FROM_ALLOWANCES,
  CLOSE_ALLOWANCES,
  EXPIRED_ALLOWANCES,
  OPEN_ALLOWANCE,
  RENEW_ALLOWANCES,
} from './allowance-statements.js';
import { type RequestUsage, toEndingRow } from './request-usage.js';

const log = logger('ledger');

/** An allowance that nobody renewed for so long, in seconds, belongs to a process that died. */
const EXPIRES_SECONDS = 300;
/** How often a process must renew what it holds, in milliseconds. */
export const ALLOWANCE_RENEWAL_MS = 60_000;
const SWEEP_BATCH = 200;
/** Nobody waits for a capture, so under load they gather for so long, in milliseconds: one statement instead of ten. */
const CAPTURE_PAUSE_MS = 25;
/** An allowance is never more than this part of what account and key have left: it must not starve other processes. */
const SHARE = 100;

/** An allowance to be opened. */
export interface AllowanceOrder {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly wantedMicros: Micros;
  /** Less than this is not worth having. */
  readonly leastMicros: Micros;
}

/** What the database granted. */
export interface GrantedAllowance {
  readonly id: string;
  readonly amountMicros: Micros;
}

/** The end of a request that drew on an allowance. */
export interface AllowanceCapture {
  readonly allowanceId: string;
  readonly requestId: string;
  /** 0 to what the request had drawn. */
  readonly chargeMicros: Micros;
  readonly usage: RequestUsage;
}

/** What came of a capture from an allowance. */
export interface AllowanceCaptured {
  /** False: the request was charged before, or the allowance is gone. */
  readonly isCharged: boolean;
  /** The account owes money: nobody should draw any more. */
  readonly isInDebt: boolean;
}

/** The books of allowances: money that a process holds for a busy key. Every call moves money in one transaction. */
@Injectable()
export class AllowanceLedger {
  private readonly captures: Batcher<AllowanceCapture, AllowanceCaptured>;

  constructor(private readonly database: Database) {
    this.captures = new Batcher((captures) => this.captureTogether(captures), {
      maxItems: 256,
      // One at a time: captures of a busy account wait for each other's locks anyway, and so gather into larger runs.
      maxRunsInFlight: 1,
      pauseMs: CAPTURE_PAUSE_MS,
      isItemFault: (error) => !isConnectionError(error),
    });
  }

  /** Null when a hundredth of what account and key have left is less than the least wanted, or the account is in debt. */
  async open(order: AllowanceOrder): Promise<GrantedAllowance | null> {
    const id = timeOrderedId('allowance');
    const { accountId, apiKeyId, wantedMicros, leastMicros } = order;
    const { rows } = await this.database.query<{ amount_micros: bigint }>({
      name: 'open_allowance',
      text: OPEN_ALLOWANCE,
      values: [id, accountId, apiKeyId, wantedMicros, leastMicros, SHARE, EXPIRES_SECONDS],
    });
    return rows[0] ? { id, amountMicros: rows[0].amount_micros } : null;
  }

  /** Charges a request and writes its usage record. Safe to repeat. */
  capture(capture: AllowanceCapture): Promise<AllowanceCaptured> {
    return this.captures.add(capture);
  }

  /** Gives back what is left of allowances. */
  async close(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.database.query({ name: 'close_allowances', text: CLOSE_ALLOWANCES, values: [ids] });
  }

  /** Keeps allowances from expiring; answers those that still stand. */
  async renew(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.database.query<{ request_id: string }>({
      text: RENEW_ALLOWANCES,
      values: [ids, EXPIRES_SECONDS],
    });
    return new Set(rows.map((row) => row.request_id));
  }

  /** Gives back what processes that died were holding; answers how many allowances. */
  async closeExpired(): Promise<number> {
    const { rows } = await this.database.query<{ request_id: string }>({
      text: EXPIRED_ALLOWANCES,
      values: [SWEEP_BATCH],
    });
    await this.close(rows.map((row) => row.request_id));
    if (rows.length > 0) log.warn('allowances.given_back', { allowances: rows.length });
    return rows.length;
  }

  private async captureTogether(captures: readonly AllowanceCapture[]): Promise<AllowanceCaptured[]> {
    const endings = captures.map((capture) => ({ allowance_id: capture.allowanceId, ...toEndingRow(capture) }));
    const { rows } = await retryOnConnectionError(() =>
      this.database.query<{ request_id: string; in_debt: boolean }>({
        name: 'capture_from_allowances',
        text: CAPTURE_FROM_ALLOWANCES,
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
