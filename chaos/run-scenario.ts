import { setTimeout as sleep } from 'node:timers/promises';
import { Load } from './load.js';
import { costsOfOutage, noCosts, type OutageCosts, type OutageLimits, PROMISED } from './outage.js';
import type { Grounds, Scenario } from './scenarios.js';
import { VENDORS } from './vendor/vendor-kinds.js';
import { verify, type Verdict } from './verify.js';

/** A gateway of several processes on real servers, with fake vendors. */
export interface Ground extends Grounds {
  readonly apiUrls: readonly string[];
  /** Sends wake-ups for tasks again, long finished ones too. */
  readonly notifyAgain: (taskIds: readonly string[]) => void;
  /** Arms the processes for a scenario. */
  readonly play: (scenario: Scenario) => Promise<void>;
  /** Disarms them. */
  readonly rest: () => Promise<void>;
}

/** What a scenario did and found. */
export interface Outcome extends Verdict {
  readonly crashes: number;
  readonly seconds: number;
  /** What the outages cost; null where there were none. */
  readonly outages: OutageCosts | null;
}

/** Not many, because what is tested is dying, and processes need the time to come back. */
const TASKS_PER_SECOND = 10;
/** How many tasks are promised for each crash: so many at least, that there is something to lose, and so many at most. */
const TASKS_PER_CRASH = { least: 3, most: 10 } as const;
/**
 * How often wake-ups are sent again, in milliseconds; a process is killed at every second turn, servers are disturbed at
 * every eighth. After 45 s, the longest deadline, all tasks have ended: on a machine too slow for them others follow.
 */
const TURN_MS = 250;
const TURNS = { kill: 2, disturb: 8, rollOut: 8, goOn: 180 } as const;
/** How long crashes may take to come, and how long tasks may take to end after them, in milliseconds. */
const CRASHING_MS = 240_000;
const DRAINING_MS = 240_000;

/**
 * Lets processes crash `crashes` times under load, then waits until nothing is under way, and checks what is left. `limits`: what an
 * outage may cost, where there is one.
 */
export async function runScenario(
  ground: Ground,
  scenario: Scenario,
  crashes: number,
  limits: OutageLimits = PROMISED,
): Promise<Outcome> {
  const { services, vendor, fleet, upstreams } = ground;
  const beganMs = performance.now();
  await forget(ground);
  await ground.play(scenario);
  vendor.faultChance = scenario.vendorFaults;
  const outages = noCosts();
  const { load, done } = await crashUnderLoad(ground, scenario, crashes, { outages, limits });
  await ground.rest();
  await upstreams.calm();
  vendor.faultChance = 0;
  await drain(ground, (scenario.deadlineSeconds ?? 0) * 1_000 + DRAINING_MS);
  const verdict = await verify(services, vendor, load, isDeadly(scenario));
  const failures = done < crashes ? [`only ${done} of ${crashes} crashes came in time`] : [];
  failures.push(...verdict.failures, ...outages.failures, ...fleet.unclean.splice(0), ...needless(scenario, verdict));
  const seconds = Math.round((performance.now() - beganMs) / 1000);
  return { ...verdict, failures, crashes: done, seconds, outages: scenario.isOutage ? outages : null };
}

/** What outages have cost so far, and what they may. */
interface Costs {
  readonly outages: OutageCosts;
  readonly limits: OutageLimits;
}

/** Answers what was ordered meanwhile, and how many processes ended. */
async function crashUnderLoad(
  ground: Ground,
  scenario: Scenario,
  crashes: number,
  costs: Costs,
): Promise<{ readonly load: Load; readonly done: number }> {
  const { fleet } = ground;
  const load = loadOf(ground, scenario, crashes);
  const before = fleet.crashes + fleet.retired;
  const deadline = Date.now() + CRASHING_MS;
  const crashed = (): number => fleet.crashes + fleet.retired - before;
  const enough = (): boolean => crashed() >= crashes && load.promised.size >= crashes * TASKS_PER_CRASH.least;
  for (let turn = 1; !enough() && Date.now() < deadline; turn += 1) {
    await sleep(TURN_MS);
    if (scenario.crash === 'any moment' && turn % TURNS.kill === 0) fleet.kill();
    if (turn % TURNS.disturb === 0) await disturb(ground, scenario, load, costs);
    if (scenario.crash === 'roll-out' && turn % TURNS.rollOut === 0) await fleet.rollOut();
    if (turn % TURNS.goOn === 0) load.goOn();
    ground.notifyAgain([...load.promised].slice(-20));
  }
  await load.stop();
  return { load, done: crashed() };
}

function loadOf({ apiUrls, vendor }: Ground, { crash, vendor: kind }: Scenario, crashes: number): Load {
  // A roll-out takes its time, and must meet work all along.
  const isRollOut = crash === 'roll-out';
  return new Load({
    apiUrls,
    webhookUrl: `${vendor.url}/hook`,
    orders: VENDORS[kind].orders(vendor.imageUrl),
    perSecond: isRollOut ? TASKS_PER_SECOND / 2 : TASKS_PER_SECOND,
    most: isRollOut ? Number.POSITIVE_INFINITY : crashes * TASKS_PER_CRASH.most,
    // Each ends three processes, the first two of which they may end together.
    poison: crash === 'inside start' ? Math.max(1, crashes - 2) : 0,
  });
}

/** Where no process died, nothing may be lost. */
function needless({ crash }: Scenario, { tasks, completed }: Verdict): string[] {
  if (crash !== 'roll-out' || completed === tasks) return [];
  return [`${tasks - completed} tasks were not completed although no process died`];
}

/** No process is killed meanwhile, and the dead were replaced, so that failed requests are due to the outage alone. */
async function disturb(ground: Ground, scenario: Scenario, load: Load, { outages, limits }: Costs): Promise<void> {
  const { apiUrls, fleet } = ground;
  const befall = async (): Promise<void> => scenario.disturb?.(ground);
  // Where every process dies as it comes to work, most are never back on a slow machine, and the work would never go on.
  if (!scenario.disturb) return;
  if (!scenario.isOutage) return fleet.untilMostAreBack().then(befall);
  await fleet.ready();
  await costsOfOutage(apiUrls, load, befall, outages, limits);
}

/** At a named place every task that gets there ends its process, each time. */
const isDeadly = ({ crash }: Scenario): boolean =>
  crash !== 'any moment' && crash !== 'inside start' && crash !== 'roll-out';

/** Waits until every task has ended and every webhook was sent. */
async function drain({ services: { database } }: Ground, longestMs: number): Promise<void> {
  const deadline = Date.now() + longestMs;
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
  await database.query({
    text: 'truncate task, task_poll, task_file, taken_order, ledger_entry, webhook_delivery, usage_daily, upstream_limit cascade',
  });
  await database.query({ text: 'update account set available_micros = 0, held_micros = 0, used_micros = 0' });
  await database.query({ text: 'update api_key set held_micros = 0, used_micros = 0' });
  await database.query({
    text: `with entered as (insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
        select id, 'top_up', 'funding', 'available', 1000000000 from account returning account_id, amount_micros)
      update account a set available_micros = e.amount_micros from entered e where e.account_id = a.id`,
  });
  vendor.taken.clear();
  vendor.webhooked.clear();
}
