import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeVendor } from './fake-vendor.js';
import type { Fleet } from './fleet.js';
import { Load } from './load.js';
import type { Scenario } from './scenarios.js';
import type { Services } from './services.js';
import { verify, type Verdict } from './verify.js';

/** A gateway of several processes on real servers, with a fake vendor. */
export interface Ground {
  readonly services: Services;
  readonly vendor: FakeVendor;
  readonly fleet: Fleet;
  readonly apiUrls: readonly string[];
  /** Rings bells for tasks again, long finished ones too. */
  readonly ringAgain: (taskIds: readonly string[]) => void;
  /** Arms the processes for a scenario. */
  readonly play: (scenario: Scenario) => Promise<void>;
  /** Disarms them. */
  readonly rest: () => Promise<void>;
}

/** What a scenario did and found. */
export interface Outcome extends Verdict {
  readonly crashes: number;
}

/** Few, because what is tested is dying, and processes need the time to come back. */
const TASKS_PER_SECOND = 5;
/** How long crashes may take to come, and how long tasks may take to end after them, in milliseconds. */
const CRASHING_MS = 90_000;
const DRAINING_MS = 60_000;

/** Lets processes crash `crashes` times under load, then lets everything come to rest, and looks at what is left. */
export async function runScenario(ground: Ground, scenario: Scenario, crashes: number): Promise<Outcome> {
  const { services, vendor, fleet } = ground;
  await forget(ground);
  await ground.play(scenario);
  vendor.faultChance = scenario.vendorFaults;
  const crashesBefore = fleet.crashes;
  const load = new Load(ground.apiUrls, `${vendor.url}/hook`, TASKS_PER_SECOND);
  const deadline = Date.now() + CRASHING_MS;
  for (let turn = 0; fleet.crashes - crashesBefore < crashes && Date.now() < deadline; turn += 1) {
    await sleep(250);
    if (!scenario.crashAt) fleet.kill();
    if (turn % 4 === 3) await scenario.disturb?.(services);
    ground.ringAgain([...load.promised].slice(-20));
  }
  await load.stop();
  const done = fleet.crashes - crashesBefore;
  await ground.rest();
  vendor.faultChance = 0;
  await drain(ground);
  return { ...(await verify(services, vendor, load)), crashes: done };
}

/** Waits until every task has ended and every webhook was sent. */
async function drain({ services: { database } }: Ground): Promise<void> {
  const deadline = Date.now() + DRAINING_MS;
  for (let turn = 0; Date.now() < deadline; turn += 1) {
    // Their next attempts may be minutes away, and the claims of the dead last a minute.
    if (turn % 10 === 0) {
      await database.query({
        text: `update webhook_delivery set next_attempt_at = now() where state = 'pending'`,
      });
    }
    const { rows } = await database.query<{ open: bigint }>({
      text: `select (select count(*) from task where finished_at is null)
        + (select count(*) from webhook_delivery where state = 'pending') as open`,
    });
    if (rows[0]?.open === 0n) return;
    await sleep(200);
  }
}

/** Empties what the scenario before left; the ledger is append-only even for us, so accounts begin at its balance. */
async function forget({ services: { database }, vendor }: Ground): Promise<void> {
  await database.query({ text: 'truncate task, task_poll, task_file, ledger_entry, webhook_delivery cascade' });
  await database.query({ text: 'update account set available_micros = 0, held_micros = 0, used_micros = 0' });
  await database.query({ text: 'update api_key set held_micros = 0, used_micros = 0' });
  await database.query({
    text: `with entered as (insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
        select id, 'top_up', 'funding', 'available', 1000000000 from account returning account_id, amount_micros)
      update account a set available_micros = e.amount_micros from entered e where e.account_id = a.id`,
  });
  vendor.taken.clear();
  vendor.told.clear();
}
