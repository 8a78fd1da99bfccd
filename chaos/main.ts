// The long form of the chaos suite: `npm run chaos`, or `npm run chaos -- redis 5` for one backend and 5 crashes a row.
import 'reflect-metadata';
import { tmpdir } from 'node:os';
import { logFileOf, openGround } from './open-ground.js';
import { type Outcome, runScenario } from './run-scenario.js';
import { type Scenario, SCENARIOS } from './scenarios.js';
import type { Backend } from './services.js';

/** Where the APIs of each backend listen: apart, so that both may run at once. */
const FIRST_PORTS = { redis: 4_300, postgres: 4_310 } as const satisfies Record<Backend, number>;

interface Row extends Outcome {
  readonly backend: Backend;
  readonly scenario: Scenario;
}

const [chosen, count] = process.argv.slice(2);
const backends: readonly Backend[] = chosen === 'redis' || chosen === 'postgres' ? [chosen] : ['redis', 'postgres'];
const rows: Row[] = [];
for (const backend of backends) await runBackend(backend);
printMatrix();

async function runBackend(backend: Backend): Promise<void> {
  const logFile = logFileOf(tmpdir(), backend);
  const ground = await openGround(backend, logFile, FIRST_PORTS[backend]);
  console.log(`Queues in ${backend}; the processes write to ${logFile}.`);
  try {
    for (const scenario of SCENARIOS.filter(({ only }) => only === undefined || only === backend)) {
      const outcome = await runScenario(ground, scenario, Number(count ?? 12));
      rows.push({ ...outcome, backend, scenario });
      console.log(lineOf({ ...outcome, backend, scenario }));
      for (const failure of outcome.failures.slice(0, 5)) console.log(`  FAILURE ${failure}`);
    }
  } finally {
    await ground.close();
  }
}

function lineOf({ backend, scenario, crashes, tasks, completed, failures }: Row): string {
  const faults = scenario.vendorFaults > 0 ? `${scenario.vendorFaults * 100} % of answers` : 'none';
  const cells = [backend, scenario.name, scenario.repeatStart, faults, crashes, tasks, completed, failures.length];
  return `| ${cells.join(' | ')} |`;
}

function printMatrix(): void {
  console.log('\n| queues | crash | vendor | vendor faults | crashes | tasks | completed | failures |');
  console.log('|---|---|---|---|---:|---:|---:|---:|');
  for (const row of rows) console.log(lineOf(row));
  const crashes = rows.reduce((sum, row) => sum + row.crashes, 0);
  const tasks = rows.reduce((sum, row) => sum + row.tasks, 0);
  const failures = rows.reduce((sum, row) => sum + row.failures.length, 0);
  console.log(`\n${crashes} crashes, ${tasks} tasks, ${failures} failures.`);
  if (failures > 0) process.exitCode = 1;
}
