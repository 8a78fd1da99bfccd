import { tmpdir } from 'node:os';
import { describeWithRedis } from '#testing';
import { logFileOf, openGround } from './open-ground.js';
import { type Ground, runScenario } from './run-scenario.js';
import { type Scenario, SCENARIOS } from './scenarios.js';
import type { Backend } from './services.js';

/** Enough to catch a broken guarantee in every run of the tests; the long form is `npm run chaos`. */
const CRASHES = 2;

const scenario = (name: string, repeatStart: Scenario['repeatStart'], vendorFaults = 0): Scenario => {
  const found = SCENARIOS.find(
    (candidate) =>
      candidate.name === name && candidate.repeatStart === repeatStart && candidate.vendorFaults === vendorFaults,
  );
  if (!found) throw new Error(`there is no scenario "${name}" with ${repeatStart}`);
  return found;
};

function survives(backend: Backend, port: number, scenarios: readonly Scenario[]): void {
  let ground: Ground & { close(): Promise<void> };
  beforeAll(async () => {
    ground = await openGround(backend, logFileOf(tmpdir(), backend), port);
  }, 90_000);
  afterAll(() => ground.close(), 30_000);

  it.each(scenarios.map((each) => [each.name, each.repeatStart, each] as const))(
    'loses nothing and orders nothing twice: %s, vendor %s',
    async (_name, _repeatStart, each) => {
      const { crashes, failures } = await runScenario(ground, each, CRASHES);
      expect(failures).toEqual([]);
      expect(crashes).toBeGreaterThanOrEqual(CRASHES);
    },
    120_000,
  );
}

describe('The gateway under crashes, queues in Postgres', () => {
  survives('postgres', 4_500, [
    scenario('after-task-written', 'idempotent'),
    scenario('after-vendor-start', 'lookup'),
    scenario('after-file-copied', 'idempotent'),
  ]);
});
describeWithRedis('The gateway under crashes, queues in Redis', () => {
  survives('redis', 4_520, [
    scenario('after-start-intent', 'lookup'),
    scenario('any moment, Redis flushed', 'idempotent'),
  ]);
});
