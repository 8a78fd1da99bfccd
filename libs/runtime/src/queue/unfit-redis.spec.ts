import { Redis } from 'ioredis';
import { describeWithRedis, eventually, FaultProxy, type RedisServer, startRedisServer } from '#testing';
import { BullmqTaskNotifier } from './bullmq-task-notifier.js';
import { RedisStore } from './create-task-notifier.js';

const HEALED_WITHIN_MS = 45_000;

async function startServer(): Promise<RedisServer> {
  const server = await startRedisServer();
  if (!server) throw new Error('redis-server is missing');
  return server;
}

async function ask(server: RedisServer, command: string, ...values: string[]): Promise<void> {
  const redis = new Redis(server.url);
  await redis.call(command, ...values);
  redis.disconnect();
}

describeWithRedis('A Redis that responds but cannot work', () => {
  let server: RedisServer;
  let proxy: FaultProxy;
  let notifier: BullmqTaskNotifier;
  beforeEach(async () => {
    server = await startServer();
    proxy = await FaultProxy.start(server.url);
    notifier = new BullmqTaskNotifier(new RedisStore(proxy.urlOf(server.url), '{unfit}'));
  });
  afterEach(async () => {
    await notifier.close(0);
    await proxy.close();
    await server.kill();
  });

  const healed = (isTrue: () => Promise<boolean> | boolean): Promise<boolean> =>
    eventually(isTrue, { limitMs: HEALED_WITHIN_MS });

  it('is reported unhealthy while it has no memory left, and healthy once it has some again', async () => {
    await healed(() => notifier.isHealthy());
    await ask(server, 'CONFIG', 'SET', 'maxmemory', '1');
    await healed(async () => !(await notifier.isHealthy()));
    await ask(server, 'CONFIG', 'SET', 'maxmemory', '0');
    await healed(() => notifier.isHealthy());
    expect(await notifier.isHealthy()).toBe(true);
  });

  it('names a policy that drops keys, while it is set', async () => {
    await healed(() => notifier.isHealthy());
    expect(await notifier.unfitness()).toBeNull();
    await ask(server, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await notifier.unfitness()).toMatch(/maxmemory-policy is allkeys-lru, and must be noeviction/);
    await ask(server, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect(await notifier.unfitness()).toBeNull();
  });

  it('is replaced by the new master when it has become a replica', async () => {
    const heard = new Set<string>();
    notifier.listen('image', { concurrency: 1 }, async (taskId) => void heard.add(taskId));
    const rungUntilHeard = (taskId: string): Promise<boolean> =>
      healed(() => {
        notifier.notify('image', [taskId]);
        return heard.has(taskId);
      });
    await rungUntilHeard('task_before');
    const next = await startServer();
    try {
      proxy.leadTo(next.url);
      await ask(server, 'REPLICAOF', '127.0.0.1', new URL(next.url).port);
      await rungUntilHeard('task_after');
      expect(await notifier.isHealthy()).toBe(true);
    } finally {
      await next.kill();
    }
  });
});
