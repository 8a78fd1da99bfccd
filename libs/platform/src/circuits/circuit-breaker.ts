import { type Backoff, backoffMs } from '../clock/periodic-task.js';
import type { Cooldowns, Probe } from './cooldowns.js';

/** When a circuit opens, and for how long: cooldowns double with every one since a call last succeeded. */
export interface CircuitPolicy extends Backoff {
  /** So many failures of a caller in a row open that caller's own circuit. */
  readonly failures: number;
}

/** The same where callers share what they call. */
export interface BreakerPolicy extends CircuitPolicy {
  /**
   * Failures of so many callers open the circuit of all. A caller can make calls fail on purpose, so that one alone closes nothing for
   * others.
   */
  readonly callers: number;
  /**
   * What counts as failures of a caller then: `open`, that its own circuit is open, at whichever replica; `failed`, one failure at
   * this replica since a call last succeeded, where all together are `failures`.
   */
  readonly evidence: 'open' | 'failed';
  /** The cooldown of what an operator has to fix, and of a caller alone where it is not certain whose fault it is; in milliseconds. */
  readonly misconfiguredMs: number;
}

export interface Circuits {
  /** Of all callers. */
  readonly all: string;
  /** Of this caller alone. Where `evidence` is `open` it begins with `ownPrefix(all)`. */
  readonly own: string;
  readonly caller: string;
  /** Further ones, which `markMisconfigured` and other breakers open. */
  readonly others?: readonly string[];
}

export interface Admission {
  /** The circuits that this call alone probes; none while what is called works. */
  readonly probes: readonly Probe[];
}

/** Of a call to what works, and of what ends without a probe. */
export const FREELY: Admission = { probes: [] };

export interface OpenedCircuit {
  readonly name: string;
  /** Until one call may probe it. */
  readonly coolingMs: number;
}

export interface CallFailure {
  /** What was called limits the caller, whose own circuit opens at once. */
  readonly isLimit?: boolean;
  /** How long the caller was asked to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** What an operator has to fix. */
export interface Misconfiguration {
  /** The circuit that it opens: that of all, or one of the others. */
  readonly name: string;
  /**
   * No caller can bring it about; otherwise it opens the caller's own alone, and that of all only until the next probe when a second
   * caller meets it. A probe that meets it makes it certain.
   */
  readonly isCertain: boolean;
  /** When what was called serves again by its own word. */
  readonly retryAfterMs?: number | undefined;
}

/** A caller whose circuit's cooldown ended longer ago no longer speaks against what is called, in milliseconds. */
const EVIDENCE_MS = 60_000;

/** A longer wait is that for a quota of a day or a month, and not for a moment of many calls; in milliseconds. */
const MOMENT_MS = 3_600_000;
/** The longest rest, whatever time is named: somebody may have raised the quota, or what is named be a mistake. */
const LONGEST_REST_MS = 86_400_000;

/** Whether the one that was called named a time so far away that until then calls are of no use. */
export const isFarAway = (retryAfterMs = 0): retryAfterMs is number => retryAfterMs > MOMENT_MS;

/** Callers with failures that are remembered for each circuit of all; beyond it all of them are forgotten. */
const MAX_FAILING_CALLERS = 10_000;
/** Circuits of all that are remembered: those of settings long gone are forgotten. */
const MAX_WATCHED = 10_000;

/** What only this replica knows about a circuit of all callers. */
interface Seen {
  /** Failures in a row by caller, with the name of the caller's circuit. */
  readonly failures: Map<string, { readonly own: string; readonly count: number }>;
  /** Open circuits that a success of another caller disproved: the name, and how often it had cooled down then. */
  readonly disproved: Map<string, number>;
  /** By circuit: the latest claim of a caller that it is misconfigured. */
  readonly claims: Map<string, { readonly caller: string; readonly atMs: number }>;
  /** Whose probe failed last. */
  lastProber?: string;
}

export const ownPrefix = (all: string): string => `${all}|`;

/**
 * Keeps calls away from what fails, with two circuits: one of each caller, and one of all. Both are shared by all replicas through
 * `Cooldowns`. When a cooldown is over, a single call of a single replica probes, and success closes the circuit. Until then what
 * other calls meet, which began before, says nothing about how things are now and changes nothing, except that a limit may
 * lengthen the caller's cooldown.
 */
export class CircuitBreaker {
  private readonly watched = new Map<string, Seen>();

  constructor(
    private readonly cooldowns: Cooldowns,
    private readonly policy: BreakerPolicy,
  ) {}

  /** True when every circuit is closed, which is nearly always. */
  get isQuiet(): boolean {
    return this.cooldowns.isQuiet;
  }

  /** Whether nobody's calls pass it, or only one that probes it. */
  isOpen(name: string): boolean {
    return this.cooldowns.stateOf(name) !== 'available';
  }

  /** Whether some callers' calls do not pass, though those of others may; by circuits that begin with `ownPrefix`. */
  isOpenForSome(all: string): boolean {
    return this.cooldowns.recent(ownPrefix(all), EVIDENCE_MS).length > 0;
  }

  /** Milliseconds until all of these let a call through; 0: they do, or wait for a probe. */
  coolingMs(names: readonly string[]): number {
    return this.isQuiet ? 0 : Math.max(...names.map((name) => this.cooldowns.coolingMs(name)));
  }

  /** Undefined: not now. Only a call that probes waits for its answer. How the call ended is recorded with what this returned. */
  admits(circuits: Circuits): Admission | undefined | Promise<Admission | undefined> {
    if (this.isQuiet) return FREELY;
    const names = namesOf(circuits);
    const states = names.map((name) => this.cooldowns.stateOf(name));
    if (states.includes('cooling_down')) return undefined;
    return states.includes('half_open') ? this.claimProbes(names) : FREELY;
  }

  /** It answered. @returns the circuits that this closed. */
  recordSuccess(circuits: Circuits, admission: Admission): readonly string[] {
    const seen = this.watched.get(circuits.all);
    if (this.policy.evidence === 'failed') seen?.failures.clear();
    // It serves somebody: what it refused others lay in what they sent.
    for (const name of namesOf(circuits)) seen?.claims.delete(name);
    if (this.isQuiet) return [];
    const probes = [...this.heldProbes(admission).values()];
    for (const probe of probes) this.cooldowns.recovered(probe);
    const recovered = probes.map(({ name }) => name);
    const others = this.cooldowns.recent(ownPrefix(circuits.all), EVIDENCE_MS).filter((name) => name !== circuits.own);
    // It was broken for all callers, so that every cooldown was its own fault.
    if (recovered.includes(circuits.all)) for (const name of others) this.cooldowns.clear(name);
    else if (others.length > 0) this.disprove(circuits, others);
    return recovered;
  }

  /** What it answered came to its end, so that the caller's earlier failures are no longer in a row. */
  recordCompletion(all: string, caller: string): void {
    this.watched.get(all)?.failures.delete(caller);
  }

  /** A call failed for a reason that may lie in what is called. Once for each call, however often it tried. @returns what this opened. */
  recordFailure(circuits: Circuits, admission: Admission, failure: CallFailure = {}): readonly OpenedCircuit[] {
    const { all, own, caller } = circuits;
    const probes = this.heldProbes(admission);
    const wasOpenForAll = this.isOpen(all);
    const seen = this.seenOf(all);
    const opensOwn = probes.has(own) || this.opensOwn(circuits, seen, failure);
    if (opensOwn) {
      const coolingMs = Math.min(failure.retryAfterMs ?? this.backoffMs(own), this.policy.longestMs);
      this.cooldowns.coolDown(own, coolingMs);
      seen.disproved.delete(own);
      if (this.policy.evidence === 'open') seen.failures.delete(caller);
    }
    const opensAll = probes.has(all) || (!wasOpenForAll && this.isFaultOfAll(circuits, seen, opensOwn));
    if (opensAll) {
      const coolingMs = probes.has(all) ? this.probedMs(circuits, seen) : this.backoffMs(all);
      this.cooldowns.coolDown(all, coolingMs);
      if (this.policy.evidence === 'failed' && this.policy.callers > 1) this.letOthersProbe(seen, coolingMs);
      seen.failures.clear();
    }
    this.release(admission);
    const opened = [...(opensOwn ? [own] : []), ...(opensAll ? [all] : [])];
    return opened.map((name) => ({ name, coolingMs: this.cooldowns.coolingMs(name) }));
  }

  /** An operator has to fix something before a circuit can close, or the time must come that was named. */
  markMisconfigured(circuits: Circuits, admission: Admission, finding: Misconfiguration): OpenedCircuit {
    const { name, isCertain, retryAfterMs } = finding;
    const isSure = isCertain || this.heldProbes(admission).has(name);
    const restMs = isFarAway(retryAfterMs) ? Math.min(retryAfterMs, LONGEST_REST_MS) : this.policy.misconfiguredMs;
    if (!isSure) this.cooldowns.coolDown(circuits.own, restMs);
    // Two callers may be one person: who probes it then is somebody else.
    const isShared = !isSure && this.isSecondClaim(circuits, name);
    const opened = {
      name: isSure || isShared ? name : circuits.own,
      coolingMs: isShared ? this.policy.firstMs : restMs,
    };
    if (opened.name === name) this.cooldowns.coolDown(name, opened.coolingMs);
    this.release(admission);
    return opened;
  }

  /** What became of the call says nothing about what is called: if it was the probe, another may be. */
  release({ probes }: Admission): void {
    for (const probe of probes) this.cooldowns.releaseProbe(probe);
  }

  /** What these probes found out does not close their circuits: the next may be asked later than this one. @returns what stays open. */
  reopen(admission: Admission): readonly OpenedCircuit[] {
    return [...this.heldProbes(admission).keys()].map((name) => {
      const coolingMs = this.backoffMs(name);
      this.cooldowns.coolDown(name, coolingMs);
      return { name, coolingMs };
    });
  }

  /** It works for this caller, whoever may have probed it. @returns the circuits that this closed. */
  close({ all, own }: Circuits): readonly string[] {
    this.watched.get(all)?.failures.clear();
    if (this.isQuiet) return [];
    const open = [all, own].filter((name) => this.isOpen(name));
    for (const name of open) this.cooldowns.clear(name);
    return open;
  }

  /** Doubles with every cooldown since it last worked. */
  private backoffMs(name: string): number {
    return backoffMs(this.policy, this.cooldowns.cooldownsOf(name));
  }

  /**
   * Those whose failures opened the circuit of all come later than others, who may find that it works: callers can make calls fail on
   * purpose, and would keep it closed by failing every probe as well.
   */
  private letOthersProbe({ failures }: Seen, coolingMs: number): void {
    for (const { own } of failures.values())
      this.cooldowns.coolDown(own, Math.max(coolingMs + this.policy.firstMs, this.backoffMs(own)));
  }

  /** It doubles, unless the caller whose probe failed is the one whose probe failed before: it alone says nothing new. */
  private probedMs({ all, caller }: Circuits, seen: Seen): number {
    const isSame = seen.lastProber === caller;
    seen.lastProber = caller;
    return isSame ? this.policy.firstMs : this.backoffMs(all);
  }

  /** A limit and the last of several failures in a row do; while it is open, only a new time to wait. Takes note of the failure. */
  private opensOwn({ own, caller }: Circuits, { failures }: Seen, failure: CallFailure): boolean {
    const { isLimit = false, retryAfterMs } = failure;
    if (this.isOpen(own)) return isLimit && retryAfterMs !== undefined;
    const count = (failures.get(caller)?.count ?? 0) + 1;
    if (failures.size >= MAX_FAILING_CALLERS) failures.clear();
    failures.set(caller, { own, count });
    return isLimit || count >= this.policy.failures;
  }

  private isFaultOfAll({ all }: Circuits, { failures, disproved }: Seen, opensOwn: boolean): boolean {
    const { evidence, callers, failures: most } = this.policy;
    if (evidence === 'failed') {
      const together = [...failures.values()].reduce((sum, { count }) => sum + count, 0);
      return failures.size >= callers && together >= most;
    }
    if (!opensOwn) return false;
    const open = this.cooldowns.recent(ownPrefix(all), EVIDENCE_MS);
    return open.filter((name) => disproved.get(name) !== this.cooldowns.cooldownsOf(name)).length >= callers;
  }

  /** Those that are not open any more are forgotten. */
  private disprove({ all, own }: Circuits, others: readonly string[]): void {
    const { disproved } = this.seenOf(all);
    const before = disproved.get(own);
    disproved.clear();
    if (before !== undefined) disproved.set(own, before);
    for (const name of others) disproved.set(name, this.cooldowns.cooldownsOf(name));
  }

  private isSecondClaim({ all, caller }: Circuits, name: string): boolean {
    const { claims } = this.seenOf(all);
    const before = claims.get(name);
    const atMs = performance.now();
    claims.set(name, { caller, atMs });
    return before !== undefined && before.caller !== caller && atMs - before.atMs < EVIDENCE_MS;
  }

  private async claimProbes(names: readonly string[]): Promise<Admission | undefined> {
    const probes: Probe[] = [];
    for (const name of names) {
      if (!this.isOpen(name)) continue;
      const probe = await this.cooldowns.claimProbe(name);
      if (!probe) {
        // Only its own: another call of this replica may be the probe of the other name.
        this.release({ probes });
        return undefined;
      }
      probes.push(probe);
    }
    return { probes };
  }

  /** By name, those whose cooldown is still the one they were claimed for: a new cooldown may have begun meanwhile. */
  private heldProbes({ probes }: Admission): ReadonlyMap<string, Probe> {
    return new Map(probes.filter((probe) => this.cooldowns.holds(probe)).map((probe) => [probe.name, probe]));
  }

  private seenOf(all: string): Seen {
    const known = this.watched.get(all);
    if (known) return known;
    if (this.watched.size >= MAX_WATCHED) this.watched.clear();
    const seen: Seen = { failures: new Map(), disproved: new Map(), claims: new Map() };
    this.watched.set(all, seen);
    return seen;
  }
}

const namesOf = ({ all, own, others = [] }: Circuits): string[] => [all, ...others, own];
