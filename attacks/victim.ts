import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from './target.js';

/** How another account was served meanwhile. */
export interface Latencies {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** One request of the victim. Resolves when it was served as it should be. @throws Error otherwise. */
export type Probe = (tenant: Tenant) => Promise<void>;

/** A probe, and how long to wait after each. */
export interface Paced {
  readonly probe: Probe;
  readonly pauseMs: number;
}

const paced = (probe: Probe | Paced): Paced => (typeof probe === 'function' ? { probe, pauseMs: 20 } : probe);
/** Below this, twice the quiet time is within the noise of two shared cores. */
const NOISE_MS = 100;

/** An innocent account that goes on working, and notices when it is slowed down or refused. */
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
    let failed = 0;
    while (!end.reached || times.length < atLeast) {
      const beganMs = performance.now();
      await probe(this.tenant).catch(() => (failed += 1));
      times.push(performance.now() - beganMs);
      await sleep(pauseMs);
    }
    times.sort((one, other) => one - other);
    const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
    return { requests: times.length, failed, p50Ms: at(0.5), p95Ms: at(0.95) };
  }
}

/** Measures the victim alone, and again while `attack` runs. */
export async function besideVictim(
  victim: Victim,
  probe: Probe | Paced,
  attack: () => Promise<unknown>,
  quietMs = 1_500,
): Promise<{ before: Latencies; during: Latencies; breaches: string[] }> {
  const before = await victim.measure(probe, sleep(quietMs));
  const attacking = attack();
  const during = await victim.measure(probe, attacking);
  await attacking;
  return { before, during, breaches: breachesOf(before, during) };
}

function breachesOf(before: Latencies, during: Latencies): string[] {
  const allowedMs = Math.max(before.p95Ms * 2, before.p95Ms + NOISE_MS);
  return [
    ...(before.failed > 0 ? [`${before.failed} requests of the other account failed before the attack began`] : []),
    ...(during.failed > 0 ? [`${during.failed} of ${during.requests} requests of the other account failed`] : []),
    ...(during.p95Ms > allowedMs
      ? [`the other account's p95 went from ${before.p95Ms.toFixed(0)} to ${during.p95Ms.toFixed(0)} ms`]
      : []),
  ];
}
