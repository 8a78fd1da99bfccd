/**
 * A cooldown as the store sees it at the moment it is asked. Times are lengths, in milliseconds: only the store's clock
 * counts, so clocks of replicas may differ.
 */
export interface StoredCooldown {
  readonly name: string;
  /** Until the cooldown is over; 0 or less when it is. */
  readonly coolingMs: number;
  /** How often it has cooled down since it last worked. */
  readonly cooldowns: number;
  /** Until the claim of its probe lapses; 0 or less when there is none. */
  readonly probeMs: number;
  /** The probe with the last claim since it began to cool down; null when there was none. */
  readonly prober: string | null;
}

export interface EndedCooldown {
  /** How often it had cooled down. */
  readonly cooldowns: number;
  /** The claim of the probe that succeeded; null when no probe of this one is what ends it. */
  readonly prober: string | null;
}

/** The result of a claim: it is ours, another replica was faster or it cools down, or there is nothing to probe any more. */
export type ProbeClaim = 'won' | 'lost' | 'open';

/** The longest a probe keeps others from probing, in milliseconds: a replica that dies while probing blocks others no longer. */
export const PROBE_LEASE_MS = 15_000;

/** A cooldown without a further request is forgotten so long after its end, in milliseconds. */
export const FORGET_AFTER_MS = 600_000;

/** Cooldowns that all replicas share. Every call is atomic in the store, and rejects soon when it cannot be reached. */
export interface CooldownStore {
  list(): Promise<readonly StoredCooldown[]>;
  /** Lets it cool down for `coolingMs` from now on; of two cooldowns at once the longer holds, and they count as one. */
  coolDown(name: string, coolingMs: number): Promise<void>;
  /** Asks to be the only one that probes it, for `PROBE_LEASE_MS`. */
  claimProbe(name: string, prober: string): Promise<ProbeClaim>;
  /** Gives back the claim of a probe without a result. A claim of another replica stays. */
  releaseProbe(name: string, prober: string): Promise<void>;
  /**
   * It works again. A newer cooldown, and one that another replica probes, stays: with a `prober` whatever cools down or is probed by
   * another, without one whatever has cooled down another number of times.
   */
  clear(name: string, ended: EndedCooldown): Promise<void>;
  close(): void;
}
