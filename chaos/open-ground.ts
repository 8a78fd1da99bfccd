import { join } from 'node:path';
import { createTaskDoorbell, loadConfig, QueueConfig } from '#platform';
import type { RepeatStart, Role } from './chaos.config.js';
import { FakeVendor } from './fake-vendor.js';
import { Fleet } from './fleet.js';
import { CHAOS_KEY } from './load.js';
import type { Ground } from './run-scenario.js';
import type { Scenario } from './scenarios.js';
import { type Backend, Services } from './services.js';

/** Beginning of all Redis keys of the run. */
const PREFIX = '{chaos}';

/** Tasks end after so many seconds whatever happens; those that wait for a vendor that cannot be asked end soon. */
const DEADLINE_SECONDS = { idempotent: 45, lookup: 45, unknown: 20 } as const satisfies Record<RepeatStart, number>;

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

/** Opens everything a chaos run needs; `close` leaves nothing behind but the log. */
export async function openGround(
  backend: Backend,
  logFile: string,
  firstPort: number,
): Promise<Ground & { close(): Promise<void> }> {
  const services = await Services.start(backend);
  await services.database.query({ text: SHORT_DEADLINES });
  let current: Pick<Scenario, 'repeatStart' | 'crashAt' | 'clockSkewMs'> = { repeatStart: 'idempotent' };
  const vendor = await FakeVendor.start(() => current.repeatStart === 'idempotent');
  const variables = (role: Role): Record<string, string> => ({
    ...services.environment(),
    KEY_PEPPER: 'a-pepper-for-chaos-only',
    GATEWAY_API_KEY: CHAOS_KEY,
    QUEUE_PREFIX: PREFIX,
    TASK_LEASE_SECONDS: '2',
    MEDIA_FETCH_ALLOW: `127.0.0.1:${vendor.port}`,
    LOG_LEVEL: 'warn',
    CHAOS_VENDOR_URL: vendor.url,
    CHAOS_REPEAT_START: role === 'image-worker' ? current.repeatStart : 'idempotent',
    ...(current.crashAt?.role === role && { CRASH_AT: current.crashAt.point }),
    // Some submissions must pass, or there would be nothing to lose.
    ...(current.crashAt?.role === role && role === 'api' && { CRASH_CHANCE: '0.4' }),
    CHAOS_CLOCK_SKEW_MS: String(role === 'maintenance-worker' ? 0 : (current.clockSkewMs ?? 0)),
  });
  const fleet = new Fleet(logFile, variables);
  const ports = [firstPort, firstPort + 1];
  for (const port of ports) fleet.add('api', { PORT: String(port) });
  fleet.add('image-worker');
  // Never skewed, so that a worker whose clock is right meets one whose clock is wrong.
  fleet.add('image-worker', { CHAOS_CLOCK_SKEW_MS: '0' });
  fleet.add('maintenance-worker');
  await fleet.ready();
  const queueConfig = loadConfig(QueueConfig, { ...services.environment(), QUEUE_PREFIX: PREFIX });
  const doorbell = await createTaskDoorbell(queueConfig, services.environment()['DATABASE_URL'] ?? '');
  return {
    services,
    vendor,
    fleet,
    apiUrls: ports.map((port) => `http://127.0.0.1:${port}`),
    ringAgain: (taskIds) => doorbell.ring('image', taskIds),
    play: async (scenario) => {
      current = scenario;
      await setDeadline(services, DEADLINE_SECONDS[scenario.repeatStart]);
      await fleet.update();
    },
    rest: async () => {
      current = { repeatStart: current.repeatStart };
      await fleet.update();
    },
    close: async () => {
      fleet.stop();
      vendor.stop();
      await doorbell.close(0);
      await services.stop();
    },
  };
}

async function setDeadline({ database }: Services, seconds: number): Promise<void> {
  await database.query({ text: 'update chaos_deadline set seconds = $1', values: [seconds] });
}

/** Where the processes of a run write what they have to say. */
export const logFileOf = (folder: string, backend: Backend): string => join(folder, `chaos-${backend}.log`);
