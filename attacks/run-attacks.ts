import type { Attack, Intensity, Outcome, Scene } from './attack.js';
import { BODY_ATTACKS } from './bodies.js';
import { GUESSING_ATTACKS } from './guessing.js';
import { HostileVendor } from './hostile-vendor.js';
import { MONEY_ATTACKS } from './leaving.js';
import { NEIGHBOUR_ATTACKS } from './neighbours.js';
import { Receivers } from './receivers.js';
import type { Row } from './report.js';
import { SMUGGLING_ATTACKS } from './smuggling.js';
import { type Backend, Target } from './target.js';
import { Victim } from './victim.js';
import { WEBHOOK_ATTACKS } from './webhooks.js';

/** In this order: what takes most from a process comes late, what gets this address refused last. */
export const ATTACKS: readonly Attack[] = [
  ...SMUGGLING_ATTACKS,
  ...MONEY_ATTACKS,
  ...NEIGHBOUR_ATTACKS,
  ...WEBHOOK_ATTACKS,
  ...BODY_ATTACKS,
  ...GUESSING_ATTACKS,
];

/** Starts a gateway, attacks it in turn, and checks the ledger after each attack. */
export async function runAttacks(
  backend: Backend,
  attacks: readonly Attack[],
  intensity: Intensity,
  port: number,
  onRow: (row: Row) => void = () => undefined,
): Promise<Row[]> {
  const vendor = await HostileVendor.start();
  const receivers = await Receivers.start();
  const target = await Target.start(backend, { vendorUrl: vendor.url, allowedHosts: receivers.allowed, port });
  try {
    const victim = new Victim(await target.openAccount('victim', '1000'));
    let accounts = 0;
    const scene: Scene = {
      target,
      vendor,
      victim,
      receivers,
      intensity,
      tenant: (money) => target.openAccount(`tenant-${(accounts += 1)}`, money),
    };
    const rows: Row[] = [];
    for (const attack of attacks) {
      const outcome = await attack.run(scene).catch(failed);
      const breaches = [...outcome.breaches, ...(target.alive ? await checkedLedger(target) : ['the process died'])];
      const row = { ...outcome, breaches, name: attack.name, backend };
      rows.push(row);
      onRow(row);
      if (!target.alive) break;
    }
    return rows;
  } finally {
    await target.stop();
    receivers.stop();
    await vendor.stop();
  }
}

const failed = (error: unknown): Outcome => ({ breaches: [`the attack could not be carried out: ${String(error)}`] });

/** While guesses slow this address down, the operator is too: that is no imbalance. */
const checkedLedger = (target: Target): Promise<string[]> =>
  target.imbalances().catch((error: unknown) => (String(error).includes('429') ? [] : [String(error)]));
