import { tmpdir } from 'node:os';
import { sharedBundle } from '#testing';
import { PROGRAM } from './fleet.js';
import { logFileOf, openGround } from './open-ground.js';
import { ANY_END } from './outage.js';
import { type Ground, runScenario } from './run-scenario.js';
import { type Scenario, SCENARIOS } from './scenarios.js';
import type { Backend } from './services.js';

/** Enough to catch a broken guarantee in every run of the tests; the long form is `npm run chaos`. */
const CRASHES = 2;

/** The row of the matrix with these features whose files lie in a folder. */
export const scenario = (wanted: Pick<Scenario, 'crash' | 'fault' | 'vendor'>): Scenario => {
  const keys = ['crash', 'fault', 'vendor'] as const;
  const inFolder = SCENARIOS.filter(({ store }) => store !== 's3');
  const found = inFolder.find((candidate) => keys.every((key) => candidate[key] === wanted[key]));
  if (!found) throw new Error(`there is no scenario ${JSON.stringify(wanted)}`);
  return found;
};

/** The tests of some scenarios over one kind of queue. */
export function survives(backend: Backend, scenarios: readonly Scenario[]): void {
  let ground: Ground & { close(): Promise<void> };
  beforeAll(async () => {
    ground = await openGround(backend, logFileOf(tmpdir(), backend), 'folder', await sharedBundle(PROGRAM));
  });
  afterAll(() => ground.close(), 30_000);

  it.each(scenarios.map((each) => [each.crash, each.fault, each.vendor, each] as const))(
    'loses nothing and orders nothing twice: crash %s, fault %s, vendor %s',
    async (_crash, _fault, _vendor, each) => {
      const { failures } = await runScenario(ground, each, CRASHES, ANY_END);
      expect(failures).toEqual([]);
    },
    600_000,
  );
}
