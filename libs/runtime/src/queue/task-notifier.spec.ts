import { QueueConfig } from '#platform';
import {
  createTestDatabase,
  describeWithRedis,
  eventually,
  quickestOf,
  startRedisServer,
  type TestDatabase,
  uniqueRedisPrefix,
} from '#testing';
import { createTaskNotifier } from './create-task-notifier.js';
import type { TaskNotifier } from './task-notifier.js';

const configOf = (variables: Partial<QueueConfig>): QueueConfig => Object.assign(new QueueConfig(), variables);

const range = (count: number): string[] => Array.from({ length: count }, (_, index) => `task_${index}`);

/** The guarantees that hold wherever the queues are kept. */
function notifierContract(open: () => Promise<TaskNotifier>): void {
  let notifier: TaskNotifier;
  beforeEach(async () => {
    notifier = await open();
  });
  afterEach(() => notifier.close(0));

  it('wakes one listener for every task, and only in its own queue', async () => {
    const heard: string[] = [];
    const listen = () => notifier.listen('image', { concurrency: 5 }, async (taskId) => void heard.push(taskId));
    listen();
    listen();
    notifier.notify('video', ['task_of_video']);
    for (const taskId of range(1_200)) notifier.notify('image', [taskId]);
    await eventually(() => heard.length >= 1_200);
    expect(heard.toSorted()).toEqual(range(1_200).toSorted());
  });

  it('receives a wake-up promptly while it is idle', async () => {
    let heardAtMs = 0;
    notifier.listen('image', { concurrency: 1 }, async () => void (heardAtMs = Date.now()));
    // Far less than the longest that a listener sleeps by itself.
    const soonMs = 2_000;
    const notifyOnce = async (attempt: number): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      heardAtMs = 0;
      const rungAtMs = Date.now();
      notifier.notify('image', [`task_${attempt}`]);
      await eventually(() => heardAtMs > 0);
      return heardAtMs - rungAtMs;
    };
    expect(await quickestOf(soonMs, notifyOnce)).toBeLessThan(soonMs);
  });

  it('works on no more tasks at once than its concurrency', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    let goOn = (): void => undefined;
    const threeAtOnce = new Promise<void>((resolve) => (goOn = resolve));
    notifier.listen('image', { concurrency: 3 }, async () => {
      most = Math.max(most, (running += 1));
      await threeAtOnce;
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      done += 1;
    });
    notifier.notify('image', range(30));
    await eventually(() => running === 3);
    goOn();
    await eventually(() => done === 30);
    expect(most).toBe(3);
  });

  it('continues after a handler that throws, shows why, and keeps no answered wake-up', async () => {
    let heard = 0;
    notifier.listen('image', { concurrency: 10 }, async (taskId) => {
      heard += 1;
      if (taskId === 'task_0') throw new Error('broken');
    });
    notifier.notify('image', range(150));
    await eventually(() => heard >= 150);
    const image = notifier.queues().find(({ name }) => name === 'image');
    await eventually(async () => (await image?.getJobCountByTypes('waiting', 'active')) === 0);
    const kept = await image?.getJobCounts('completed', 'failed');
    expect(kept?.['completed']).toBe(0);
    // BullMQ's own bookkeeping of answered wake-ups may fail, by a deadlock or on a busy machine; nothing hangs on it.
    const broken = (await image?.getFailed())?.filter(({ failedReason }) => failedReason === 'broken');
    expect(broken?.map(({ data }) => data as unknown)).toEqual([{ taskId: 'task_0' }]);
  });

  it('answers as many wake-ups of this process as it has room for without the queue, and leaves the others to it', async () => {
    const busy: string[] = [];
    let goOn = (): void => undefined;
    const over = new Promise<void>((resolve) => (goOn = resolve));
    const room = (): number => 2;
    const listening = notifier.listen('image', { concurrency: 1, room }, async (taskId) => {
      busy.push(taskId);
      await over;
    });
    notifier.notifyHereFirst('video', ['task_of_video']);
    notifier.notifyHereFirst('image', ['task_0']);
    notifier.notifyHereFirst('image', range(4).slice(1));
    // At once: nothing was waited for.
    expect(busy).toEqual(['task_0', 'task_1']);
    await eventually(() => busy.length === 3);
    const image = notifier.queues().find(({ name }) => name === 'image');
    expect(await image?.getJobCounts('waiting', 'active')).toEqual({ waiting: 1, active: 1 });
    goOn();
    await eventually(() => busy.length === 4);
    await listening.stop(1_000);
    notifier.notifyHereFirst('image', ['task_4']);
    expect(busy).toHaveLength(4);
    await eventually(async () => (await image?.getJobCountByTypes('waiting')) === 1);
  });

  it('lets running work end within the grace period before it closes', async () => {
    let ended = false;
    let started = false;
    notifier.listen('image', { concurrency: 1 }, async () => {
      started = true;
      await new Promise((resolve) => setTimeout(resolve, 300));
      ended = true;
    });
    notifier.notify('image', ['task_1']);
    await eventually(() => started);
    await notifier.close(5_000);
    expect(ended).toBe(true);
  });

  it('aborts work that outlasts the grace period', async () => {
    let started = false;
    let aborted = false;
    notifier.listen('image', { concurrency: 1 }, async (_taskId, signal) => {
      started = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted = true;
    });
    notifier.notify('image', ['task_1']);
    await eventually(() => started);
    await notifier.close(50);
    expect(aborted).toBe(true);
  });

  it('is healthy while its server responds, and silent after it was closed', async () => {
    await eventually(() => notifier.isHealthy());
    await notifier.close(0);
    expect(() => notifier.notify('image', ['task_1'])).not.toThrow();
    expect(await notifier.isHealthy()).toBe(false);
  });
}

describe('the notifier on Postgres', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  notifierContract(() => createTaskNotifier(new QueueConfig(), test.url));

  it('sends again after every connection was cut', async () => {
    const notifier = await createTaskNotifier(new QueueConfig(), test.url);
    const heard = new Set<string>();
    notifier.listen('image', { concurrency: 5 }, async (taskId) => void heard.add(taskId));
    notifier.notify('image', ['before']);
    await eventually(() => heard.has('before'));
    await test.database.query({
      text: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    });
    await eventually(
      () => {
        notifier.notify('image', ['after']);
        return heard.has('after');
      },
      { pauseMs: 100 },
    );
    expect(await notifier.isHealthy()).toBe(true);
    await notifier.close(0);
  });

  it('prepares its schema once when many processes start together', async () => {
    const fresh = await createTestDatabase();
    const notifiers = await Promise.all(range(5).map(() => createTaskNotifier(new QueueConfig(), fresh.url)));
    expect(await Promise.all(notifiers.map((notifier) => notifier.isHealthy()))).toEqual(Array(5).fill(true));
    await Promise.all(notifiers.map((notifier) => notifier.close(0)));
    await fresh.remove();
  });
});

describeWithRedis('the notifier on Redis', (redisUrl) => {
  it('survives a Redis that is absent at the start, goes away and comes back', async () => {
    const first = await startRedisServer();
    const port = Number(new URL(first?.url ?? '').port);
    await first?.kill();

    const notifier = await createTaskNotifier(
      configOf({ REDIS_URL: `redis://127.0.0.1:${port}` }),
      'postgresql://unused',
    );
    const heard = new Set<string>();
    notifier.listen('image', { concurrency: 5 }, async (taskId) => void heard.add(taskId));
    notifier.notify('image', ['while absent']);
    expect(await notifier.isHealthy()).toBe(false);

    const second = await startRedisServer(port);
    await eventually(() => heard.has('while absent'));

    await second?.kill();
    notifier.notify('image', ['while away']);
    expect(await notifier.isHealthy()).toBe(false);

    const third = await startRedisServer(port);
    await eventually(
      () => {
        notifier.notify('image', ['after']);
        return heard.has('after');
      },
      { pauseMs: 100 },
    );
    await notifier.close(0);
    await third?.kill();
  });

  it('closes although Redis is unavailable', async () => {
    const notifier = await createTaskNotifier(configOf({ REDIS_URL: 'redis://127.0.0.1:1' }), 'postgresql://unused');
    notifier.listen('image', { concurrency: 1 }, async () => undefined);
    notifier.notify('image', ['task_1']);
    await expect(notifier.close(100)).resolves.toBeUndefined();
  });

  notifierContract(() =>
    createTaskNotifier(configOf({ REDIS_URL: redisUrl, QUEUE_PREFIX: uniqueRedisPrefix() }), 'postgresql://unused'),
  );
});
