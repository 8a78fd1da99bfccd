import { Database, logger } from '#platform';
import { CURRENT_PAUSES, PAUSE_UPSTREAM, TAKE_CALLS } from '../poll/poll-statements.js';

const log = logger('generation');

/** What is limited: handing over orders, and asking about them. */
export type UpstreamCall = 'start' | 'check';

/** How long the pauses of other processes may stay unnoticed, in milliseconds. */
const REFRESH_MS = 500;

/**
 * What all workers together may ask of a vendor. A vendor that says "too many requests" is left alone by every process,
 * and a vendor with a stated rate is asked no faster by all of them than by one.
 */
export class UpstreamLimits {
  /** Ends of pauses in milliseconds of this process's clock. */
  private pauses = new Map<string, number>();
  private refreshedAtMs = 0;

  constructor(private readonly database: Database) {}

  /** How long the vendor is still to be left alone, in milliseconds; 0: not at all. */
  async pausedMs(provider: string, call: UpstreamCall): Promise<number> {
    if (Date.now() - this.refreshedAtMs > REFRESH_MS) await this.refresh();
    return Math.max(0, (this.pauses.get(keyOf(provider, call)) ?? 0) - Date.now());
  }

  /** The vendor asked to be left alone. */
  async pause(provider: string, call: UpstreamCall, pauseMs: number): Promise<void> {
    const left = await this.pausedMs(provider, call);
    this.pauses.set(keyOf(provider, call), Date.now() + Math.max(left, pauseMs));
    // Hundreds of calls in flight hear the same answer; one of them tells the others.
    if (left > pauseMs / 2) return;
    log.warn('upstream.paused', { provider, call, pauseMs });
    await this.database.query({ text: PAUSE_UPSTREAM, values: [provider, call, Math.round(pauseMs)] });
  }

  /** How many of `wanted` calls the vendor's rate leaves now. */
  async take(provider: string, call: UpstreamCall, wanted: number, perSecond: number): Promise<number> {
    const gapMs = Math.max(1, Math.round(1000 / perSecond));
    const values = [provider, call, wanted, gapMs];
    const { rows } = await this.database.query<{ calls: number }>({ name: 'take_calls', text: TAKE_CALLS, values });
    return rows[0]?.calls ?? 0;
  }

  private async refresh(): Promise<void> {
    this.refreshedAtMs = Date.now();
    const { rows } = await this.database.query<{ provider: string; call: UpstreamCall; left_ms: number }>({
      name: 'current_pauses',
      text: CURRENT_PAUSES,
    });
    this.pauses = new Map(rows.map((row) => [keyOf(row.provider, row.call), Date.now() + row.left_ms]));
  }
}

const keyOf = (provider: string, call: UpstreamCall): string => `${provider} ${call}`;
