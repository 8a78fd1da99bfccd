import { configureLog, QueueConfig } from '#platform';
import {
  createTestDatabase,
  describeWithRedis,
  quickestOf,
  startRedisServer,
  type TestDatabase,
  uniqueRedisPrefix,
} from '#testing';
import { createTaskDoorbell } from './create-task-doorbell.js';
import type { TaskDoorbell } from './task-doorbell.js';

// Outages are what these tests are about; their complaints would only hide a real one.
beforeAll(() => configureLog({ LOG_LEVEL: 'silent' }));

const configOf = (variables: Partial<QueueConfig>): QueueConfig => Object.assign(new QueueConfig(), variables);

async function until(condition: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadlineMs = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadlineMs) throw new Error('It did not happen in time.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const range = (count: number): string[] => Array.from({ length: count }, (_, index) => `task_${index}`);

/** The guarantees that hold wherever the queues are kept. */
function doorbellContract(open: () => Promise<TaskDoorbell>): void {
  let doorbell: TaskDoorbell;
  beforeEach(async () => {
    doorbell = await open();
  });
  afterEach(() => doorbell.close(0));

  it('rings every task at one of its listeners, and only in its own queue', async () => {
    const heard: string[] = [];
    const listen = () => doorbell.listen('image', { concurrency: 5 }, async (taskId) => void heard.push(taskId));
    listen();
    listen();
    doorbell.ring('video', ['task_of_video']);
    for (const taskId of range(1_200)) doorbell.ring('image', [taskId]);
    await until(() => heard.length >= 1_200);
    expect(heard.toSorted()).toEqual(range(1_200).toSorted());
  });

  it('hears a bell within a moment while it is idle', async () => {
    let heardAtMs = 0;
    doorbell.listen('image', { concurrency: 1 }, async () => void (heardAtMs = Date.now()));
    const soonMs = 250;
    const ringOnce = async (attempt: number): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      heardAtMs = 0;
      const rungAtMs = Date.now();
      doorbell.ring('image', [`task_${attempt}`]);
      await until(() => heardAtMs > 0);
      return heardAtMs - rungAtMs;
    };
    expect(await quickestOf(soonMs, ringOnce)).toBeLessThan(soonMs);
  });

  it('works on no more tasks at once than it was told', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    doorbell.listen('image', { concurrency: 3 }, async () => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      done += 1;
    });
    doorbell.ring('image', range(30));
    await until(() => done === 30);
    expect(most).toBe(3);
  });

  it('goes on after a handler that throws, shows why, and keeps only the latest answered bells', async () => {
    let heard = 0;
    doorbell.listen('image', { concurrency: 10 }, async (taskId) => {
      heard += 1;
      if (taskId === 'task_0') throw new Error('broken');
    });
    doorbell.ring('image', range(150));
    await until(() => heard >= 150);
    const image = doorbell.queues().find(({ name }) => name === 'image');
    await until(async () => (await image?.getJobCountByTypes('waiting', 'active')) === 0);
    const kept = await image?.getJobCounts('completed', 'failed');
    // Workers that answer at the same time may leave a few more.
    expect(kept?.['completed']).toBeGreaterThanOrEqual(100);
    expect(kept?.['completed']).toBeLessThan(115);
    // On Postgres BullMQ's own bookkeeping of answered bells may deadlock; nothing hangs on it, the bell was answered.
    const failed = (await image?.getFailed())?.filter(({ failedReason }) => failedReason !== 'deadlock detected');
    expect(failed).toMatchObject([{ data: { taskId: 'task_0' }, failedReason: 'broken' }]);
  });

  it('lets running work end within the grace period before it closes', async () => {
    let ended = false;
    let started = false;
    doorbell.listen('image', { concurrency: 1 }, async () => {
      started = true;
      await new Promise((resolve) => setTimeout(resolve, 300));
      ended = true;
    });
    doorbell.ring('image', ['task_1']);
    await until(() => started);
    await doorbell.close(5_000);
    expect(ended).toBe(true);
  });

  it('aborts work that outlasts the grace period', async () => {
    let started = false;
    let aborted = false;
    doorbell.listen('image', { concurrency: 1 }, async (_taskId, signal) => {
      started = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted = true;
    });
    doorbell.ring('image', ['task_1']);
    await until(() => started);
    await doorbell.close(50);
    expect(aborted).toBe(true);
  });

  it('is healthy while its server answers, and silent after it was closed', async () => {
    await until(() => doorbell.isHealthy());
    await doorbell.close(0);
    expect(() => doorbell.ring('image', ['task_1'])).not.toThrow();
    expect(await doorbell.isHealthy()).toBe(false);
  });
}

describe('the doorbell on Postgres', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  doorbellContract(() => createTaskDoorbell(new QueueConfig(), test.url));

  it('rings again after every connection was cut', async () => {
    const doorbell = await createTaskDoorbell(new QueueConfig(), test.url);
    const heard = new Set<string>();
    doorbell.listen('image', { concurrency: 5 }, async (taskId) => void heard.add(taskId));
    doorbell.ring('image', ['before']);
    await until(() => heard.has('before'));
    await test.database.query({
      text: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    });
    await until(async () => {
      doorbell.ring('image', ['after']);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return heard.has('after');
    });
    expect(await doorbell.isHealthy()).toBe(true);
    await doorbell.close(0);
  });

  it('prepares its schema once when many processes start together', async () => {
    const fresh = await createTestDatabase();
    const doorbells = await Promise.all(range(5).map(() => createTaskDoorbell(new QueueConfig(), fresh.url)));
    expect(await Promise.all(doorbells.map((doorbell) => doorbell.isHealthy()))).toEqual(Array(5).fill(true));
    await Promise.all(doorbells.map((doorbell) => doorbell.close(0)));
    await fresh.remove();
  });
});

describeWithRedis('the doorbell on Redis', (redisUrl) => {
  it('survives a Redis that is absent at the start, goes away and comes back', async () => {
    const first = await startRedisServer();
    const port = Number(new URL(first?.url ?? '').port);
    await first?.kill();

    const doorbell = await createTaskDoorbell(
      configOf({ REDIS_URL: `redis://127.0.0.1:${port}` }),
      'postgresql://unused',
    );
    const heard = new Set<string>();
    doorbell.listen('image', { concurrency: 5 }, async (taskId) => void heard.add(taskId));
    doorbell.ring('image', ['while absent']);
    expect(await doorbell.isHealthy()).toBe(false);

    const second = await startRedisServer(port);
    await until(() => heard.has('while absent'));

    await second?.kill();
    doorbell.ring('image', ['while away']);
    expect(await doorbell.isHealthy()).toBe(false);

    const third = await startRedisServer(port);
    await until(async () => {
      doorbell.ring('image', ['after']);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return heard.has('after');
    }, 20_000);
    await doorbell.close(0);
    await third?.kill();
  });

  it('closes in time although Redis is away', async () => {
    const doorbell = await createTaskDoorbell(configOf({ REDIS_URL: 'redis://127.0.0.1:1' }), 'postgresql://unused');
    doorbell.listen('image', { concurrency: 1 }, async () => undefined);
    doorbell.ring('image', ['task_1']);
    const startMs = Date.now();
    await doorbell.close(100);
    expect(Date.now() - startMs).toBeLessThan(5_000);
  });

  doorbellContract(() =>
    createTaskDoorbell(configOf({ REDIS_URL: redisUrl, QUEUE_PREFIX: uniqueRedisPrefix() }), 'postgresql://unused'),
  );
});
