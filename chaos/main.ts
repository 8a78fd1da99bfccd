// The long form of the chaos suite: `npm run chaos`, or `npm run chaos -- redis 5` for one backend and 5 crashes a row, or
// `npm run chaos -- redis 5 S3 settled` for the rows whose line holds all these words. `npm run chaos -- texts 50 500` ends APIs
// in the middle of texts: so many times by each signal, so many texts at once.
import 'reflect-metadata';
import { tmpdir } from 'node:os';
import { configureLog } from '#platform';
import { bundleProgram } from '#testing';
import { PROGRAM } from './fleet.js';
import { logFileOf, openGround } from './open-ground.js';
import { packetDropHindrance, runInOwnNetwork } from './packet-drop.js';
import { noCosts } from './outage.js';
import { endUnderTexts, FREE_MS, openTexts } from './texts.js';
import { type Outcome, runScenario } from './run-scenario.js';
import { type Scenario, SCENARIOS } from './scenarios.js';
import type { Backend, Store } from './services.js';

/** The forms of a gateway, and where its APIs listen. */
const FORMS = [
  { backend: 'redis', store: 'folder' },
  { backend: 'redis', store: 's3' },
  { backend: 'postgres', store: 'folder' },
  { backend: 'postgres', store: 's3' },
] as const satisfies readonly { backend: Backend; store: Store }[];
/** How many processes die in each row, by default. */
const CRASHES = 12;

interface Row extends Outcome {
  readonly backend: Backend;
  readonly scenario: Scenario;
}

const HEAD = [
  '| crash | fault | vendor | queues | runs | crashes | tasks | completed | failures | seconds | 503 | slowest s | healed s |',
  '|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
].join('\n');

const hindrance = packetDropHindrance();
if (hindrance !== null) {
  const outcome = runInOwnNetwork();
  if (typeof outcome === 'number') process.exit(outcome);
  console.log(`Rows that drop packets are left out: ${outcome}.`);
}

// Our own wake-up loses its connections with those of the processes.
configureLog({ LOG_LEVEL: 'fatal' });
const [chosen, count, ...words] = process.argv.slice(2);
if (chosen === 'texts') process.exit(await endApisUnderTexts(Number(count ?? 50), Number(words[0] ?? 500)));
const isBackend = chosen === 'redis' || chosen === 'postgres';
const beganMs = performance.now();
const rows: Row[] = [];
const program = await bundleProgram(PROGRAM);
for (const form of FORMS) if (!isBackend || form.backend === chosen) await runForm(form);
printMatrix();

async function runForm({ backend, store }: (typeof FORMS)[number]): Promise<void> {
  const scenarios = SCENARIOS.filter(
    (scenario) =>
      (scenario.only ?? backend) === backend &&
      (scenario.store ?? 'folder') === store &&
      !(scenario.needsOwnNetwork && hindrance !== null) &&
      words.every((word) => [...cellsOf(scenario), ...queuesAndFiles(backend, scenario)].join(' | ').includes(word)),
  );
  if (scenarios.length === 0) return;
  const logFile = logFileOf(tmpdir(), `${backend}-${store}`);
  const ground = await openGround(backend, logFile, store, program);
  console.log(`Queues in ${backend}, files in ${store}; the processes write to ${logFile}.`);
  try {
    for (const scenario of scenarios) {
      const outcome = await runScenario(ground, scenario, Number(count ?? CRASHES));
      const row = { ...outcome, backend, scenario };
      rows.push(row);
      console.log(lineOf(row));
      for (const failure of outcome.failures.slice(0, 5)) console.log(`  FAILURE ${failure}`);
    }
  } finally {
    await ground.close();
  }
}

/** The exit code: whether every promise was kept. */
async function endApisUnderTexts(times: number, texts: number): Promise<number> {
  const logFile = logFileOf(tmpdir(), 'texts');
  const ground = await openTexts(logFile, await bundleProgram(PROGRAM));
  console.log(`The processes write to ${logFile}.`);
  let failed = 0;
  for (let time = 0; time < times; time += 1)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { failures, ends, freeMs } = await endUnderTexts(ground, signal, texts, FREE_MS);
      failed += failures.length;
      console.log(
        `| ${time + 1} | ${signal} | ${JSON.stringify(ends)} | free after ${freeMs} ms | ${failures.length} failures |`,
      );
      for (const failure of failures.slice(0, 5)) console.log(`  FAILURE ${failure}`);
    }
  await ground.close();
  return failed > 0 ? 1 : 0;
}

function cellsOf({ crash, roles, fault, vendor }: Scenario): readonly [string, string, string] {
  return [roles.length > 0 ? `${crash} (${roles.join(', ')})` : crash, fault, vendor];
}

function queuesAndFiles(backend: Backend, { store }: Scenario): readonly string[] {
  return store === 's3' ? [backend, 'S3'] : [backend];
}

function lineOf({ backend, scenario, crashes, tasks, completed, failures, seconds, outages }: Row): string {
  const counted = [
    ...cellsOf(scenario),
    queuesAndFiles(backend, scenario).join(', '),
    1,
    crashes,
    tasks,
    completed,
    failures.length,
    seconds,
  ];
  const inSeconds = (ms: number): string => (ms / 1000).toFixed(1);
  const { unavailable, answered, slowestMs, healedMs } = outages ?? noCosts();
  const costs = [`${unavailable} of ${answered}`, inSeconds(slowestMs), inSeconds(healedMs)];
  const cells = [...counted, ...(outages ? costs : ['', '', ''])];
  return `| ${cells.join(' | ')} |`;
}

function printMatrix(): void {
  console.log(`\n${HEAD}`);
  for (const row of rows) console.log(lineOf(row));
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const failures = sum((row) => row.failures.length);
  const minutes = ((performance.now() - beganMs) / 60_000).toFixed(1);
  console.log(
    `\n${rows.length} rows, ${sum(({ crashes }) => crashes)} crashes, ${sum(({ tasks }) => tasks)} tasks, ${failures} failures in ${minutes} minutes.`,
  );
  if (failures > 0) process.exitCode = 1;
}
