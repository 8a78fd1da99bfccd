import { Injectable } from '@nestjs/common';
import { Database, logger } from '#platform';
import { CURRENT_PAUSES, PAUSE_UPSTREAM, TAKE_CALLS } from './poll/poll-schedule.js';

const log = logger('generation');

/** What is limited: handing over orders, those of one model or to one upstream, and asking about them. */
export type UpstreamCall = 'start' | 'check' | `start ${string}` | `spent ${string}`;

/** What the rate of a vendor leaves. */
interface GrantedCalls {
  readonly calls: number;
  /** Until one more call is granted, in milliseconds. */
  readonly waitMs: number;
}

/** How long the pauses of other processes may stay unnoticed, in milliseconds. */
const REFRESH_MS = 500;

/** A pause that ends later than the known one by less than this share of it is the same one. */
const NOTABLE_SHARE = 0.1;

/**
 * What all workers together may ask of a vendor account. A vendor that says "too many requests" is left alone by every
 * process, for the model that it names or whole, and one with a stated rate is asked no faster by all of them than by one.
 */
@Injectable()
export class UpstreamLimits {
  /** Ends of pauses in milliseconds since this process began. */
  private pauses = new Map<string, number>();
  private refreshedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly database: Database) {}

  /** How long the vendor is still to be left alone, in milliseconds; 0: not at all. */
  async pausedMs(account: string, call: UpstreamCall): Promise<number> {
    await this.refresh();
    return this.knownPauseMs(account, call);
  }

  /** The same by what was known at the last look. */
  knownPauseMs(account: string, call: UpstreamCall): number {
    return this.pauses.size === 0 ? 0 : Math.max(0, (this.pauses.get(keyOf(account, call)) ?? 0) - performance.now());
  }

  /** Learns of pauses that other processes noted; asks the database at most twice a second. */
  async refresh(): Promise<void> {
    if (performance.now() - this.refreshedAtMs <= REFRESH_MS) return;
    this.refreshedAtMs = performance.now();
    const { rows } = await this.database.query<{ provider: string; call: UpstreamCall; left_ms: number }>({
      name: 'current_pauses',
      text: CURRENT_PAUSES,
    });
    this.pauses = new Map(rows.map((row) => [keyOf(row.provider, row.call), performance.now() + row.left_ms]));
  }

  /** The vendor asked to be left alone. */
  async pause(account: string, call: UpstreamCall, pauseMs: number): Promise<void> {
    const left = await this.pausedMs(account, call);
    this.pauses.set(keyOf(account, call), performance.now() + Math.max(left, pauseMs));
    // Hundreds of calls in flight get the same answer; the first of them pauses the others.
    if (left > pauseMs * (1 - NOTABLE_SHARE)) return;
    log.warn('upstream.paused', { account, call, pauseMs });
    await this.database.query({ text: PAUSE_UPSTREAM, values: [account, call, Math.round(pauseMs)] });
  }

  /** How many of `wanted` calls the vendor's rate leaves now. Rates below one a second grant one call at a time. */
  async take(account: string, call: UpstreamCall, wanted: number, perSecond: number): Promise<GrantedCalls> {
    const gapMs = Math.max(1, Math.round(1000 / perSecond));
    const statement = { name: 'take_calls', text: TAKE_CALLS, values: [account, call, wanted, gapMs] };
    const take = async () => (await this.database.query<{ calls: number; wait_ms: number }>(statement)).rows[0];
    // The very first statement makes the row, and only the next can see it.
    const granted = (await take()) ?? (await take());
    return { calls: granted?.calls ?? 0, waitMs: granted?.wait_ms ?? 0 };
  }
}

const keyOf = (account: string, call: UpstreamCall): string => `${account} ${call}`;
