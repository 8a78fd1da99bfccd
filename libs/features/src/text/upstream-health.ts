import type { GatewayError } from '#contracts';
import { type Cooldowns, logger } from '#platform';
import type { TextUpstream } from './text-upstreams.js';

const log = logger('text');

/** How many failures in a row close an upstream. */
const FAILURES_TO_COOL = 3;

/** First and longest rest of a failing upstream, in milliseconds; it doubles with every failed probe. */
const COOLDOWN_MS = { first: 5_000, longest: 120_000 };

/**
 * Keeps requests away from upstreams that fail. Three failures in a row at one replica, or a refusal by rate limit, let
 * one rest at all replicas; when its rest is over a single request of a single replica probes it, and success brings it
 * back for all. What ends while it rests began before and changes nothing, except that a rate limit may lengthen the rest.
 */
export class UpstreamHealth {
  readonly #cooldowns: Cooldowns;
  /** In a row, since the last success or rest. */
  readonly #failures = new WeakMap<TextUpstream, number>();

  constructor(cooldowns: Cooldowns) {
    this.#cooldowns = cooldowns;
  }

  /** True when the upstream may be asked now; a rested one admits one probe at a time, which alone takes a moment. */
  admits({ healthName }: TextUpstream): boolean | Promise<boolean> {
    const state = this.#cooldowns.stateOf(healthName);
    return state === 'half_open' ? this.#cooldowns.claimProbe(healthName) : state === 'open';
  }

  /** True while it gets no requests, or only one that probes it. */
  isCooling({ healthName }: TextUpstream): boolean {
    return this.#cooldowns.stateOf(healthName) !== 'open';
  }

  /** Milliseconds until the upstream's rest is over; 0 when it does not rest. */
  restMs({ healthName }: TextUpstream): number {
    return this.#cooldowns.restMs(healthName);
  }

  succeeded(upstream: TextUpstream): void {
    this.#failures.delete(upstream);
    if (this.#cooldowns.stateOf(upstream.healthName) !== 'half_open') return;
    this.#cooldowns.clear(upstream.healthName);
    log.info('upstream.recovered', { upstream: upstream.provider.id });
  }

  failed(upstream: TextUpstream, error: GatewayError): void {
    if (!this.#shouldRest(upstream, error)) return;
    const { healthName, provider } = upstream;
    this.#failures.delete(upstream);
    const backoff = Math.min(COOLDOWN_MS.first * 2 ** this.#cooldowns.restsOf(healthName), COOLDOWN_MS.longest);
    this.#cooldowns.rest(healthName, error.retryAfterMs ?? backoff);
    log.warn('upstream.resting', { upstream: provider.id, restMs: this.restMs(upstream), code: error.code });
  }

  /** A request told nothing of the upstream, for example because the caller left: if it was the probe, another may be. */
  released({ healthName }: TextUpstream): void {
    this.#cooldowns.releaseProbe(healthName);
  }

  #shouldRest(upstream: TextUpstream, { code, retryAfterMs }: GatewayError): boolean {
    const state = this.#cooldowns.stateOf(upstream.healthName);
    if (state === 'half_open') return true;
    const isLimited = code === 'rate_limit_exceeded';
    if (state === 'resting') return isLimited && retryAfterMs !== undefined;
    const failures = (this.#failures.get(upstream) ?? 0) + 1;
    this.#failures.set(upstream, failures);
    return isLimited || failures >= FAILURES_TO_COOL;
  }
}
