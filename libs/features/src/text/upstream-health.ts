import type { GatewayError } from '#contracts';
import type { Clock } from '#platform';

/** How many failures in a row close an upstream. */
const FAILURES_TO_COOL = 3;

/** First and longest rest of a failing upstream, in milliseconds; it doubles with every failed probe. */
const COOLDOWN_MS = { first: 5_000, longest: 120_000 };

/** Tells the other replicas when an upstream rests, so that each need not find out for itself. */
export interface CooldownBoard {
  /** Rests that any replica posted and that are not over: upstream id to Unix milliseconds. Cheap: called per request. */
  current(): ReadonlyMap<string, number>;
  post(upstreamId: string, untilMs: number): void;
  clear(upstreamId: string): void;
}

interface Health {
  failures: number;
  cooldowns: number;
  restsUntil: number;
  probing: boolean;
}

/** A board for a single process. */
export class LocalCooldownBoard implements CooldownBoard {
  readonly #rests = new Map<string, number>();

  current(): ReadonlyMap<string, number> {
    return this.#rests;
  }

  post(upstreamId: string, untilMs: number): void {
    this.#rests.set(upstreamId, untilMs);
  }

  clear(upstreamId: string): void {
    this.#rests.delete(upstreamId);
  }
}

/**
 * Keeps requests away from upstreams that fail. Three failures in a row, or a refusal by rate limit, let one rest; when
 * its rest is over a single request probes it, and its success brings it back.
 */
export class UpstreamHealth {
  readonly #clock: Clock;
  readonly #board: CooldownBoard;
  readonly #known = new Map<string, Health>();

  constructor(clock: Clock, board: CooldownBoard) {
    this.#clock = clock;
    this.#board = board;
  }

  /** True when the upstream may be asked now; a rested one admits one probe at a time. */
  admits(upstreamId: string): boolean {
    const health = this.#of(upstreamId);
    const until = Math.max(health.restsUntil, this.#board.current().get(upstreamId) ?? 0);
    if (until === 0) return true;
    if (this.#now() < until || health.probing) return false;
    health.probing = true;
    return true;
  }

  /** Milliseconds until the upstream's rest is over; 0 when it does not rest. */
  restMs(upstreamId: string): number {
    const until = Math.max(this.#of(upstreamId).restsUntil, this.#board.current().get(upstreamId) ?? 0);
    return Math.max(0, until - this.#now());
  }

  succeeded(upstreamId: string): void {
    const { restsUntil } = this.#of(upstreamId);
    if (restsUntil > 0 || this.#board.current().has(upstreamId)) this.#board.clear(upstreamId);
    this.#known.delete(upstreamId);
  }

  failed(upstreamId: string, error: GatewayError): void {
    const health = this.#of(upstreamId);
    health.failures += 1;
    const limited = error.code === 'rate_limit_exceeded';
    if (limited || health.probing || health.failures >= FAILURES_TO_COOL) {
      const backoff = Math.min(COOLDOWN_MS.first * 2 ** health.cooldowns, COOLDOWN_MS.longest);
      health.cooldowns += 1;
      health.restsUntil = this.#now() + (error.retryAfterMs ?? backoff);
      this.#board.post(upstreamId, health.restsUntil);
    }
    health.probing = false;
  }

  /** A probe ended without telling anything of the upstream, for example because the caller left. */
  released(upstreamId: string): void {
    const health = this.#known.get(upstreamId);
    if (health) health.probing = false;
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #of(upstreamId: string): Health {
    let health = this.#known.get(upstreamId);
    if (!health) this.#known.set(upstreamId, (health = { failures: 0, cooldowns: 0, restsUntil: 0, probing: false }));
    return health;
  }
}
