import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from './target.js';

/** How another account was served meanwhile. */
export interface Latencies {
  readonly requests: number;
  readonly failed: number;
  /** The first different reasons of those. */
  readonly failures: readonly string[];
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** One request of the victim. Resolves when it was served as it should be. @throws Error otherwise. */
export type Probe = (tenant: Tenant) => Promise<void>;

/** A probe, and how long to wait after each. */
export interface Paced {
  readonly probe: Probe;
  readonly pauseMs: number;
  /** How much longer it may take than when it is alone: what one turn of another account takes. */
  readonly turnMs?: number;
}

const paced = (probe: Probe | Paced): Paced => (typeof probe === 'function' ? { probe, pauseMs: 20 } : probe);
/** Below this, twice the quiet time is within the noise of two shared cores. */
const NOISE_MS = 100;

/** How often it is looked whether this process itself was kept waiting, in milliseconds, and what is never counted. */
const TICK_MS = 5;
const LATE_FROM_MS = 2;

/**
 * The time that this process was kept from running, by its own attacks or by others on the machine. What a request of
 * the victim lost by that is not the gateway's doing.
 */
class OwnDelays {
  private lost = 0;
  private expectedAt = performance.now() + TICK_MS;
  private readonly timer = setInterval(() => this.tick(), TICK_MS);

  get lostMs(): number {
    return this.lost;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    const now = performance.now();
    const lateMs = now - this.expectedAt;
    if (lateMs > LATE_FROM_MS) this.lost += lateMs;
    this.expectedAt = now + TICK_MS;
  }
}

/** An innocent account that keeps working, and records when it is slowed down or refused. */
export class Victim {
  constructor(readonly tenant: Tenant) {}

  /** Sends the probe one after the other until `until` resolves, and at least `atLeast` times. */
  async measure(chosen: Probe | Paced, until: Promise<unknown>, atLeast = 4): Promise<Latencies> {
    const { probe, pauseMs } = paced(chosen);
    const times: number[] = [];
    const end = { reached: false };
    const ended = (): void => {
      end.reached = true;
    };
    void until.then(ended, ended);
    const own = new OwnDelays();
    let failed = 0;
    const failures = new Set<string>();
    while (!end.reached || times.length < atLeast) {
      const beganMs = performance.now();
      const lostBeforeMs = own.lostMs;
      await probe(this.tenant).catch((error: unknown) => {
        failed += 1;
        failures.add(String(error).slice(0, 200));
      });
      const lostMs = own.lostMs - lostBeforeMs;
      times.push(Math.max(0, performance.now() - beganMs - lostMs));
      await sleep(pauseMs);
    }
    own.stop();
    return { ...latenciesOf(times), failed, failures: [...failures].slice(0, 3) };
  }
}

/** Of requests that were all served, by how long each took in milliseconds. */
export function latenciesOf(times: readonly number[]): Latencies {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { requests: sorted.length, failed: 0, failures: [], p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** How often a victim that was slowed down is measured again: on a shared machine others may have taken its time. */
const TRIES = 3;

interface Measured {
  readonly before: Latencies;
  readonly during: Latencies;
  readonly breaches: string[];
}

/**
 * Measures the victim alone, and again while `attack` runs. A refused or failed request of the victim is a breach at
 * once; a slow p95 is one only when it is slow in each of three measurements, each against a quiet time of its own.
 */
export async function besideVictim(
  victim: Victim,
  probe: Probe | Paced,
  attack: () => Promise<unknown>,
  quietMs = 3_000,
): Promise<Measured> {
  for (let left = TRIES - 1; ; left -= 1) {
    const before = await victim.measure(probe, sleep(quietMs));
    const attacking = attack();
    const during = await victim.measure(probe, attacking);
    await attacking;
    const failures = failuresOf(before, during);
    const slowness = slownessOf(before, during, paced(probe).turnMs, TRIES);
    if (failures.length > 0 || slowness.length === 0 || left === 0)
      return { before, during, breaches: [...failures, ...slowness] };
  }
}

export const failuresOf = (before: Latencies, during: Latencies): string[] => [
  ...(before.failed > 0
    ? [`${before.failed} requests of the other account failed before the attack began: ${before.failures.join('; ')}`]
    : []),
  ...(during.failed > 0
    ? [`${during.failed} of ${during.requests} requests of the other account failed: ${during.failures.join('; ')}`]
    : []),
];

export function slownessOf(before: Latencies, during: Latencies, turnMs = NOISE_MS, tries = 1): string[] {
  const allowedMs = Math.max(before.p95Ms * 2, before.p95Ms + turnMs);
  if (during.p95Ms <= allowedMs) return [];
  return [
    `the other account's p95 went from ${before.p95Ms.toFixed(0)} to ${during.p95Ms.toFixed(0)} ms${tries > 1 ? `, ${tries} times of ${tries}` : ''}`,
  ];
}
