import { describeWithRedis, PATIENT_WITH_POSTGRES } from '#testing';
import { spawnApp, type SpawnedProcess } from '../harness/spawned-process.js';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const TASKS = 12;

/** The variables a worker process needs to join a test gateway. */
function workerEnvironment({ platform: { config } }: TestGateway): Record<string, string> {
  return {
    DATABASE_URL: config.database.DATABASE_URL ?? '',
    ...PATIENT_WITH_POSTGRES,
    DATABASE_POOL_SIZE: '4',
    KEY_PEPPER: config.server.KEY_PEPPER ?? '',
    DATA_DIR: config.server.DATA_DIR,
    QUEUE_PREFIX: config.queue.QUEUE_PREFIX,
    SANDBOX_IMAGE_MS: '400',
    // What a killed worker held is taken over when its lease has run out; one that lives renews it in time, however slow the machine is.
    TASK_LEASE_SECONDS: '8',
    ...(config.queue.REDIS_URL && { REDIS_URL: config.queue.REDIS_URL }),
  };
}

async function moneyOf({ database, accountId }: TestGateway) {
  const { rows } = await database.query<{ held: bigint; used: bigint; captures: bigint; releases: bigint }>({
    text: `select held_micros as held, used_micros as used,
      (select count(*) from ledger_entry where kind = 'capture') as captures,
      (select count(*) from ledger_entry where kind = 'release') as releases from account where id = $1`,
    values: [accountId],
  });
  return rows[0];
}

function survivesKills(redisUrl?: string): void {
  let gateway: TestGateway;
  let worker: SpawnedProcess;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, ...(redisUrl && { redisUrl }) });
  });
  afterAll(async () => {
    if (worker.child.exitCode === null) await worker.end('SIGKILL');
    await gateway.stop();
  });

  it('completes and charges every task once although its worker is killed repeatedly', async () => {
    const start = (): Promise<SpawnedProcess> => spawnApp('image-worker', workerEnvironment(gateway));
    worker = await start();
    const taskIds = await Promise.all(
      Array.from({ length: TASKS }, (_, index) =>
        gateway.submit('/v1/images/generations', { model: 'eta-image-2.0', prompt: `image ${index}` }),
      ),
    );
    // One kill as soon as it may have claimed something, one while vendors work, one while files are stored.
    for (const delayMs of [50, 300, 700]) {
      await worker.waitFor(/waiting for image tasks/);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await worker.end('SIGKILL');
      worker = await start();
    }
    const tasks = await Promise.all(taskIds.map((taskId) => gateway.waitForTask(taskId)));
    const unfinished = tasks.filter(({ status }) => status !== 'completed');
    expect(unfinished).toEqual([]);
    expect(await moneyOf(gateway)).toEqual({
      held: 0n,
      used: BigInt(TASKS) * 35_000n,
      captures: BigInt(TASKS),
      releases: 0n,
    });
  });
}

describe('kill -9 of a worker, queues in Postgres', () => {
  survivesKills();
});
describeWithRedis('kill -9 of a worker, queues in Redis', survivesKills);
