import { join } from 'node:path';
import { loadConfig, QueueConfig } from '#platform';
import { createTaskNotifier } from '#runtime';
import { freePort } from '#testing';
import type { Assignment, Role } from './assignment.js';
import { Fleet } from './fleet.js';
import { CHAOS_KEY } from './load.js';
import type { Ground } from './run-scenario.js';
import type { Scenario } from './scenarios.js';
import { type Backend, Services, type Store } from './services.js';
import { ChaosVendor } from './vendor/chaos-vendor.js';
import { ADMIN_TOKEN, UpstreamsUnderLoad } from './vendor/upstreams-under-load.js';
import type { VendorKind } from './vendor/vendor-kinds.js';

/** Beginning of all Redis keys of the run. */
const PREFIX = '{chaos}';

/** Tasks end after so many seconds whatever happens; those that wait for a vendor that cannot be asked end soon. */
const DEADLINE_SECONDS = {
  idempotent: 45,
  lookup: 45,
  unknown: 20,
  call: 45,
  inline: 20,
} as const satisfies Record<VendorKind, number>;

/** The families allow minutes; a chaos run has seconds. */
const SHORT_DEADLINES = `
create table chaos_deadline (seconds integer not null);
insert into chaos_deadline values (45);
create function chaos_shorten() returns trigger language plpgsql as $$
begin
  new.deadline_at := now() + (select seconds from chaos_deadline) * interval '1 second';
  return new;
end $$;
create trigger chaos_shorten before insert on task for each row execute function chaos_shorten()`;

const MEDIA = ['image', 'video'] as const;

/** The processes of the gateway. The first two listen. */
const PLACES = [
  'api',
  'api',
  'image-worker',
  'image-worker',
  'video-worker',
  'video-worker',
  'maintenance-worker',
] as const;
/** Places whose clocks go wrong: both APIs and one worker of each medium, so that it meets one whose clock is right. */
const SKEWED = new Set([0, 1, 2, 4]);

/** What of a scenario the processes have to know. */
type Conditions = Pick<Scenario, 'crash' | 'roles' | 'clockSkewMs'>;
const AT_REST: Conditions = { crash: 'any moment', roles: [] };

/** Of an API, some submissions must pass, or there would be nothing to lose. */
const CRASH_CHANCE = { api: 0.3, others: 1 } as const;

function drillOf(role: Role, { crash, roles }: Conditions): Assignment['drill'] {
  const chance = role === 'api' ? CRASH_CHANCE.api : CRASH_CHANCE.others;
  const point = crash === 'any moment' || crash === 'inside start' || crash === 'roll-out' ? null : crash;
  return { crashAt: point !== null && roles.includes(role) ? { point, chance } : null };
}

const environmentOf = (
  services: Services,
  vendor: ChaosVendor,
  upstreams: UpstreamsUnderLoad,
  port: number,
): Record<string, string> => ({
  ...services.environment(),
  ADMIN_TOKEN,
  UPSTREAMS_FILE: upstreams.file,
  KEY_PEPPER: 'a-pepper-for-chaos-only',
  GATEWAY_API_KEY: CHAOS_KEY,
  QUEUE_PREFIX: PREFIX,
  TASK_LEASE_SECONDS: '2',
  MEDIA_FETCH_ALLOW: `127.0.0.1:${vendor.port},${upstreams.tokenHost}`,
  LOG_LEVEL: 'warn',
  ...(port > 0 && { PORT: String(port) }),
});

/** Opens everything a chaos run needs, with `program` in each process; `close` leaves nothing behind but the log. */
export async function openGround(
  backend: Backend,
  logFile: string,
  store: Store,
  program: string,
): Promise<Ground & { close(): Promise<void> }> {
  const services = await Services.start(backend, store);
  await services.database.query({ text: SHORT_DEADLINES });
  let current = AT_REST;
  const vendor = await ChaosVendor.start();
  const ports = [await freePort(), await freePort()];
  const apiUrls = ports.map((port) => `http://127.0.0.1:${port}`);
  const upstreams = await UpstreamsUnderLoad.open(join(services.folder, 'upstreams.json'), vendor, apiUrls);
  const assign = (role: Role, index: number): Assignment => ({
    role,
    environment: environmentOf(services, vendor, upstreams, PLACES[index] === 'api' ? (ports[index] ?? 0) : 0),
    clockSkewMs: SKEWED.has(index) ? (current.clockSkewMs ?? 0) : 0,
    drill: drillOf(role, current),
  });
  const fleet = new Fleet(logFile, assign, program);
  for (const role of PLACES) fleet.add(role);
  await fleet.ready();
  const queueConfig = loadConfig(QueueConfig, { ...services.environment(), QUEUE_PREFIX: PREFIX });
  const notifier = await createTaskNotifier(queueConfig, services.environment()['DATABASE_URL'] ?? '');
  return {
    services,
    vendor,
    fleet,
    upstreams,
    apiUrls,
    notifyAgain: (taskIds) => MEDIA.forEach((medium) => notifier.notify(medium, taskIds)),
    play: async (scenario) => {
      current = scenario;
      await setDeadline(services, scenario.deadlineSeconds ?? DEADLINE_SECONDS[scenario.vendor]);
      await fleet.update();
    },
    rest: async () => {
      current = { ...AT_REST, clockSkewMs: current.clockSkewMs ?? 0 };
      await fleet.update();
    },
    close: async () => {
      fleet.stop();
      vendor.stop();
      await upstreams.close();
      await notifier.close(0);
      await services.stop();
    },
  };
}

async function setDeadline({ database }: Services, seconds: number): Promise<void> {
  await database.query({ text: 'update chaos_deadline set seconds = $1', values: [seconds] });
}

/** The log file of the processes of a run. */
export const logFileOf = (folder: string, form: string): string => join(folder, `chaos-${form}.log`);
