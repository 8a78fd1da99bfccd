import type { HostileVendor } from './hostile-vendor.js';
import type { Receivers } from './receivers.js';
import type { Target, Tenant } from './target.js';
import type { Latencies, Victim } from './victim.js';

/** How long an attack lasts: short in CI, long when a person runs it. */
export interface Intensity {
  /** Multiplies the number of requests, connections and receivers. */
  readonly scale: number;
  /** Whether what is promised within a time must come in time; else only that it comes: other tests may take the machine meanwhile. */
  readonly judgesTimes: boolean;
}

/** What an attack may use: a gateway, its vendor, and accounts that it opens for itself. */
export interface Scene {
  readonly target: Target;
  readonly vendor: HostileVendor;
  readonly victim: Victim;
  readonly receivers: Receivers;
  readonly intensity: Intensity;
  /** A new account with this much money and one key. */
  readonly tenant: (money: string) => Promise<Tenant>;
}

/** Money that an attack was made to pay, in micros. */
export interface Bill {
  readonly chargedMicros: bigint;
  /** What the vendor counted at the list price: the least that must be charged. */
  readonly dueMicros: bigint;
}

/** What one attack did. */
export interface Outcome {
  /** Each breach in a sentence; none when the gateway held. */
  readonly breaches: readonly string[];
  readonly bill?: Bill;
  readonly before?: Latencies;
  readonly during?: Latencies;
  /** What was kept for the attacker's account when it was over, in bytes. */
  readonly keptBytes?: number;
}

/** Something a hostile tenant does, and what must hold while and after it does. */
export interface Attack {
  /** Short, in the words of the table. */
  readonly name: string;
  run(scene: Scene): Promise<Outcome>;
}
