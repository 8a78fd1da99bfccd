import { Injectable } from '@nestjs/common';
import { Database, logger } from '#platform';

const log = logger('generation');

/** $1 vendor account, $2 call, $3 pause in ms. Every worker leaves the vendor alone for that long. */
const PAUSE_UPSTREAM = `
insert into upstream_limit as l (provider, call, paused_until)
values ($1, $2, now() + $3::integer * interval '1 millisecond')
on conflict (provider, call) do update set paused_until = greatest(l.paused_until, excluded.paused_until)`;

/** Every pause that still holds, in ms. */
const CURRENT_PAUSES = `
select provider as account, call, ceil(extract(epoch from paused_until - now()) * 1000)::integer as left_ms
from upstream_limit where paused_until > now()`;

/**
 * $1 vendor account, $2 call, $3 how many calls are wanted, $4 ms from call to call. Grants what the vendor's rate leaves to
 * all workers together, with a burst of one second, or of one call where a second holds none. `wait_ms`: until one more
 * is granted.
 */
const TAKE_CALLS = `
with added as (
  insert into upstream_limit (provider, call) values ($1, $2) on conflict do nothing
), locked as (
  select greatest(next_call_at, now()) as next_call_at from upstream_limit where provider = $1 and call = $2 for update
), granted as (
  select next_call_at, greatest(0, least($3::integer,
    floor((greatest(1000, $4::integer) - extract(epoch from next_call_at - now()) * 1000) / $4::integer)))::integer as calls
  from locked
), taken as (
  update upstream_limit l set next_call_at = g.next_call_at + g.calls * $4::integer * interval '1 millisecond'
  from granted g where l.provider = $1 and l.call = $2
)
select calls, greatest(0, ceil(extract(epoch from next_call_at - now()) * 1000
  + (calls + 1) * $4::integer - greatest(1000, $4::integer)))::integer as wait_ms
from granted`;

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
    const { rows } = await this.database.query<{ account: string; call: UpstreamCall; left_ms: number }>({
      name: 'current_pauses',
      text: CURRENT_PAUSES,
    });
    this.pauses = new Map(rows.map((row) => [keyOf(row.account, row.call), performance.now() + row.left_ms]));
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
