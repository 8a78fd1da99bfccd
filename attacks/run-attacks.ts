import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#testing';
import type { Attack, Intensity, Outcome, Scene } from './attack.js';
import { BODY_ATTACKS } from './bodies.js';
import { type Flood, floodAttack, type Flooded, FLOODS, prepareFlood } from './floods.js';
import { GUESSING_ATTACKS } from './guessing.js';
import { HostileVendor } from './hostile-vendor.js';
import { MONEY_ATTACKS } from './leaving.js';
import { MEDIA_VENDORS } from './media-vendors.js';
import { NEIGHBOUR_ATTACKS } from './neighbours.js';
import { Receivers } from './receivers.js';
import { PROBE_NAMES, probesOf } from './probes.js';
import type { Row } from './report.js';
import { SMUGGLING_ATTACKS } from './smuggling.js';
import { KILL, RESTART } from './stops.js';
import { STRANGE_VENDORS } from './strange-vendors.js';
import { type Backend, type Memory, Target, type Tenant } from './target.js';
import { failuresOf, type Latencies, slownessOf, Victim } from './victim.js';
import { FIRST_IN_FIRST_OUT } from './vectors.js';
import { WEBHOOK_ATTACKS } from './webhooks.js';

/** In this order: what takes most from a process comes late, what gets this address refused last. */
export const ATTACKS: readonly Attack[] = [
  ...SMUGGLING_ATTACKS,
  ...MONEY_ATTACKS,
  ...STRANGE_VENDORS,
  ...MEDIA_VENDORS,
  RESTART,
  KILL,
  FIRST_IN_FIRST_OUT,
  ...NEIGHBOUR_ATTACKS,
  ...FLOODS.map(floodAttack),
  ...WEBHOOK_ATTACKS,
  ...BODY_ATTACKS,
  ...GUESSING_ATTACKS,
];

/** Starts a gateway and what it needs, and stops all of it when `use` is done. */
export async function onGateway<T>(
  backend: Backend,
  use: (scene: Scene) => Promise<T>,
  intensity: Intensity = { scale: 1, judgesTimes: true },
): Promise<T> {
  const port = await freePort();
  const vendor = await HostileVendor.start();
  const receivers = await Receivers.start();
  try {
    const target = await Target.start(backend, { vendorUrl: vendor.url, allowedHosts: receivers.allowed, port });
    try {
      const victim = new Victim(await target.openAccount('victim', '1000'));
      let accounts = 0;
      const tenant = (money: string): Promise<Tenant> => target.openAccount(`tenant-${(accounts += 1)}`, money);
      return await use({ target, vendor, victim, receivers, intensity, tenant });
    } finally {
      await target.stop();
    }
  } finally {
    receivers.stop();
    await vendor.stop();
  }
}

const WATCH_EVERY_MS = 100;

/** Does something, and answers with it the most memory that each process had, and a breach for each above its limit. */
async function watchingMemory<T>(target: Target, work: () => Promise<T>): Promise<{ result: T; most: MostMemory }> {
  let memory = target.memory();
  const watch = setInterval(() => {
    const now = target.memory();
    memory = memory.map((before, nth) => {
      const after = now[nth] ?? before;
      return after.bytes > before.bytes ? after : before;
    });
  }, WATCH_EVERY_MS);
  const result = await work().finally(() => clearInterval(watch));
  const breaches = memory
    .filter(({ bytes, limitBytes }) => bytes > limitBytes)
    .map(({ role, bytes }) => `the ${role} had ${Math.round(bytes / 1_048_576)} MiB, more than the chart gives it`);
  return { result, most: { memory, breaches } };
}

interface MostMemory {
  readonly memory: readonly Memory[];
  readonly breaches: readonly string[];
}

/** Attacks a gateway in turn, and checks the ledger after each attack. */
export async function attackInTurn(
  scene: Scene,
  attacks: readonly Attack[],
  onRow: (row: Row) => void = () => undefined,
): Promise<Row[]> {
  const { target } = scene;
  const rows: Row[] = [];
  for (const attack of attacks) {
    const { result, most } = await watchingMemory(target, () => attack.run(scene).catch(failed));
    const breaches = [...result.breaches, ...most.breaches, ...(await afterwards(target))];
    const row = { ...result, breaches, memory: most.memory, name: attack.name, backend: target.backend };
    rows.push(row);
    onRow(row);
    if (!target.alive) break;
  }
  return rows;
}

/** How all floods flow at once. */
interface AtOnce {
  readonly forMs: number;
  /** How much longer each rests than alone: two cores also run the attackers, the vendor, Postgres and Redis. */
  readonly rest: number;
}

/** How long the other account is measured alone before every attack at once, in milliseconds. */
const QUIET_MS = 15_000;

/**
 * Lets every flood flow at once for a time, beside an account that does what all accounts do: a row for each flood and for
 * each thing that the other account does. Where times are not judged, it must be served after two repeats at most.
 */
export async function attackAtOnce(scene: Scene, floods: readonly Flood[], { forMs, rest }: AtOnce): Promise<Row[]> {
  const { target, victim } = scene;
  const { judgesTimes } = scene.intensity;
  const { backend } = target;
  const probes = await probesOf(scene, judgesTimes ? 0 : 2);
  const measureAll = (until: Promise<unknown>): Promise<Latencies[]> =>
    Promise.all(PROBE_NAMES.map((name) => victim.measure(probes[name], until)));
  const before = await measureAll(sleep(judgesTimes ? QUIET_MS : 0));
  const prepared = await Promise.all(floods.map((flood) => prepareFlood(flood, scene, rest)));
  const { result, most } = await watchingMemory(target, async () => {
    const over = sleep(forMs);
    const flooded = Promise.all(prepared.map((flow) => flow(over).catch(brokenOff)));
    return { during: await measureAll(over), flooded: await flooded };
  });
  const shared = [...most.breaches, ...(await afterwards(target))];
  return [
    ...PROBE_NAMES.map((name, nth): Row => {
      const [quiet, busy] = [before[nth] ?? NO_LATENCIES, result.during[nth] ?? NO_LATENCIES];
      const breaches = [
        ...failuresOf(quiet, busy),
        ...(judgesTimes ? slownessOf(quiet, busy, probes[name].turnMs) : []),
        ...(nth === 0 ? shared : []),
      ];
      return { name: `all at once: ${name}`, backend, before: quiet, during: busy, memory: most.memory, breaches };
    }),
    ...floods.map(({ name }, nth): Row => {
      const flooded = result.flooded[nth] ?? brokenOff('it has no result');
      return { name, backend, breaches: flooded.breaches, keptBytes: flooded.keptBytes, bill: flooded };
    }),
  ];
}

const NO_LATENCIES: Latencies = { requests: 0, failed: 0, failures: [], p50Ms: 0, p95Ms: 0 };

const whyNot = (error: unknown): string => `the attack could not be carried out: ${String(error)}`;
const failed = (error: unknown): Outcome => ({ breaches: [whyNot(error)] });
const brokenOff = (error: unknown): Flooded => ({
  breaches: [whyNot(error)],
  keptBytes: 0,
  chargedMicros: 0n,
  dueMicros: 0n,
});

/** While guesses slow this address down, the operator is too: that is no imbalance. */
async function afterwards(target: Target): Promise<string[]> {
  if (!target.alive) return ['a process died'];
  return target.imbalances().catch((error: unknown) => (String(error).includes('429') ? [] : [String(error)]));
}
