import { Injectable } from '@nestjs/common';
import type { GatewayError } from '#contracts';
import { Cooldowns, logger, type Probe } from '#platform';
import type { TextUpstream } from './text-upstreams.js';

const log = logger('text');

/** How many failed requests of an account in a row open its circuit. */
const FAILURES_TO_COOL = 3;

/** Of how many accounts the circuits must be open before an upstream cools down for all of them. */
const ACCOUNTS_TO_COOL = 3;

/** An account whose cooldown ended longer ago no longer speaks against an upstream, in milliseconds. */
const EVIDENCE_MS = 60_000;

/** First and longest cooldown of a failing upstream, in milliseconds; it doubles with every failed probe. */
const COOLDOWN_MS = { first: 5_000, longest: 120_000 };

/** Accounts with failures in a row that are remembered for an upstream; beyond it all are forgotten. */
const MAX_FAILING_ACCOUNTS = 10_000;

/** Leave for one request to ask one upstream. */
export interface Admission {
  /** The circuits that this request alone probes; none while the upstream works. */
  readonly probes: readonly Probe[];
}

/** Of an upstream that works, and of what ends without a probe. */
export const FREELY: Admission = { probes: [] };

/** What only this replica knows about an upstream. */
interface Seen {
  /** Failures in a row by account, since its last success or cooldown. */
  readonly failures: Map<string, number>;
  /** Accounts whose open circuits a success of another account disproved: the name, and how often it had cooled down then. */
  readonly disproved: Map<string, number>;
  /** Whose probe failed last. */
  lastProber?: string;
}

/** A failed request, as the circuit of its account sees it. */
interface AccountFailure {
  readonly upstream: TextUpstream;
  readonly accountId: string;
  /** The name of the account's own circuit at the upstream. */
  readonly own: string;
  readonly error: GatewayError;
  /** The request was the probe of that circuit. */
  readonly isProbe: boolean;
}

/**
 * Keeps requests away from upstreams that fail, with two circuits. Each account has its own: three failed requests in a
 * row, or a refusal by rate limit, let the upstream cool down for that account alone, since a request can be made to fail on
 * purpose. When the circuits of three accounts are open at once, and no other account was served meanwhile, it cools down for
 * all. Both are shared by all replicas; when a cooldown is over a single request of a single replica probes the upstream,
 * and success brings it back. Until then what other requests meet, which began before, says nothing about the upstream as it
 * is now and changes nothing, except that a rate limit may lengthen the account's cooldown.
 */
@Injectable()
export class UpstreamHealth {
  readonly #cooldowns: Cooldowns;
  readonly #seen = new WeakMap<TextUpstream, Seen>();

  constructor(cooldowns: Cooldowns) {
    this.#cooldowns = cooldowns;
  }

  /**
   * Whether the account may ask it now: undefined when not. One that cooled down admits one probe at a time, which alone takes a
   * moment. How the request ended is reported with what this returned.
   */
  admits(upstream: TextUpstream, accountId: string): Admission | undefined | Promise<Admission | undefined> {
    if (this.#cooldowns.isQuiet) return FREELY;
    const names = namesOf(upstream, accountId);
    const states = names.map((name) => this.#cooldowns.stateOf(name));
    if (states.includes('cooling_down')) return undefined;
    return states.includes('half_open') ? this.#claimProbes(names) : FREELY;
  }

  /** True while it gets no requests of some account, or only one that probes it. */
  isCooling(upstream: TextUpstream): boolean {
    return this.isCoolingForAll(upstream) || this.#cooldowns.recent(prefixOf(upstream), EVIDENCE_MS).length > 0;
  }

  /** True while no account's requests reach it, or only one that probes it. */
  isCoolingForAll({ healthName }: TextUpstream): boolean {
    return this.#cooldowns.stateOf(healthName) !== 'available';
  }

  /** Milliseconds until the upstream's cooldown is over for the account; 0 when it does not cool down. */
  coolingMs(upstream: TextUpstream, accountId: string): number {
    return Math.max(...namesOf(upstream, accountId).map((name) => this.#cooldowns.coolingMs(name)));
  }

  /** It began to reply. */
  answered(upstream: TextUpstream, accountId: string, admission: Admission): void {
    if (this.#cooldowns.isQuiet) return;
    const [whole, own] = namesOf(upstream, accountId);
    const probes = this.#heldProbes(admission);
    const wasForAll = probes.has(whole);
    for (const probe of probes.values()) this.#cooldowns.recovered(probe);
    const others = this.#cooldowns.recent(prefixOf(upstream), EVIDENCE_MS).filter((name) => name !== own);
    if (wasForAll) {
      // It was broken for all accounts, so that every cooldown was its own fault.
      for (const name of others) this.#cooldowns.clear(name);
      log.info('upstream.recovered', { upstream: upstream.provider.id });
      return;
    }
    const { disproved } = this.#seenOf(upstream);
    for (const name of others) disproved.set(name, this.#cooldowns.cooldownsOf(name));
  }

  /** It replied to the end, so that earlier failures are no longer in a row. */
  completed(upstream: TextUpstream, accountId: string): void {
    this.#seen.get(upstream)?.failures.delete(accountId);
  }

  /**
   * A request failed for a reason that may be the upstream's, before it was answered or after. To be called once for each
   * request, however often it asked.
   */
  failed(upstream: TextUpstream, accountId: string, error: GatewayError, admission: Admission = FREELY): void {
    const [whole, own] = namesOf(upstream, accountId);
    const probes = this.#heldProbes(admission);
    const wholeState = this.#cooldowns.stateOf(whole);
    const isOpened = this.#failedFor({ upstream, accountId, own, error, isProbe: probes.has(own) });
    if (probes.has(whole)) this.#failedProbe(upstream, accountId, whole);
    else if (wholeState === 'available' && isOpened && this.#accountsAgainst(upstream) >= ACCOUNTS_TO_COOL)
      this.#coolDownForAll(upstream, whole, COOLDOWN_MS.first, error);
    const probe = isOpened ? undefined : probes.get(own);
    if (probe) this.#cooldowns.releaseProbe(probe);
  }

  /** A request showed nothing about the upstream, for example because the caller left: if it was the probe, another may be. */
  released({ probes }: Admission): void {
    for (const probe of probes) this.#cooldowns.releaseProbe(probe);
  }

  /** True when the failure opened the account's circuit. */
  #failedFor(failure: AccountFailure): boolean {
    if (!this.#opensCircuit(failure)) return false;
    const { upstream, accountId, own, error } = failure;
    const { failures, disproved } = this.#seenOf(upstream);
    failures.delete(accountId);
    disproved.delete(own);
    const backoff = COOLDOWN_MS.first * 2 ** this.#cooldowns.cooldownsOf(own);
    this.#cooldowns.coolDown(own, Math.min(error.retryAfterMs ?? backoff, COOLDOWN_MS.longest));
    const coolingMs = this.#cooldowns.coolingMs(own);
    log.warn('upstream.cooling_down', { upstream: upstream.provider.id, accountId, coolingMs, code: error.code });
    return true;
  }

  /** A failed probe, a rate limit, and the last of several failures in a row do; while it is open, only a new time to wait. */
  #opensCircuit({ upstream, accountId, own, error, isProbe }: AccountFailure): boolean {
    if (isProbe) return true;
    const isLimited = error.code === 'rate_limit_exceeded';
    if (this.#cooldowns.stateOf(own) !== 'available') return isLimited && error.retryAfterMs !== undefined;
    const { failures } = this.#seenOf(upstream);
    const count = (failures.get(accountId) ?? 0) + 1;
    if (failures.size >= MAX_FAILING_ACCOUNTS) failures.clear();
    failures.set(accountId, count);
    return isLimited || count >= FAILURES_TO_COOL;
  }

  /** Accounts whose circuits are open, those left out that a success of another account disproved. */
  #accountsAgainst(upstream: TextUpstream): number {
    const { disproved } = this.#seenOf(upstream);
    const names = this.#cooldowns.recent(prefixOf(upstream), EVIDENCE_MS);
    return names.filter((name) => disproved.get(name) !== this.#cooldowns.cooldownsOf(name)).length;
  }

  /** The cooldown doubles, unless the account that failed is the one that failed before: it alone says nothing new. */
  #failedProbe(upstream: TextUpstream, accountId: string, whole: string): void {
    const seen = this.#seenOf(upstream);
    const isSame = seen.lastProber === accountId;
    seen.lastProber = accountId;
    const backoff = COOLDOWN_MS.first * 2 ** this.#cooldowns.cooldownsOf(whole);
    this.#coolDownForAll(upstream, whole, isSame ? COOLDOWN_MS.first : Math.min(backoff, COOLDOWN_MS.longest));
  }

  #coolDownForAll({ provider }: TextUpstream, whole: string, coolingMs: number, error?: GatewayError): void {
    this.#cooldowns.coolDown(whole, coolingMs);
    log.warn('upstream.cooling_down', { upstream: provider.id, accountId: 'all', coolingMs, code: error?.code });
  }

  async #claimProbes(names: readonly string[]): Promise<Admission | undefined> {
    const probes: Probe[] = [];
    for (const name of names) {
      if (this.#cooldowns.stateOf(name) === 'available') continue;
      const probe = await this.#cooldowns.claimProbe(name);
      if (probe) probes.push(probe);
      else {
        // Only its own: another request of this replica may be the probe of the other name.
        for (const mine of probes) this.#cooldowns.releaseProbe(mine);
        return undefined;
      }
    }
    return { probes };
  }

  /** By name, those whose cooldown is still the one they were claimed for: a new cooldown may have begun meanwhile. */
  #heldProbes({ probes }: Admission): ReadonlyMap<string, Probe> {
    return new Map(probes.filter((probe) => this.#cooldowns.holds(probe)).map((probe) => [probe.name, probe]));
  }

  #seenOf(upstream: TextUpstream): Seen {
    const known = this.#seen.get(upstream);
    if (known) return known;
    const seen: Seen = { failures: new Map(), disproved: new Map() };
    this.#seen.set(upstream, seen);
    return seen;
  }
}

/** Circuits of accounts begin so; no upstream's name holds the character. */
const prefixOf = ({ healthName }: TextUpstream): string => `${healthName}|`;

/** The names of the circuit for all and of the account's own. */
const namesOf = (upstream: TextUpstream, accountId: string): [whole: string, own: string] => [
  upstream.healthName,
  prefixOf(upstream) + accountId,
];
