import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Cooldowns, QueueConfig, RedisCooldownStore, systemClock } from '#platform';
import { describeWithRedis, eventually, freePort } from '#testing';
import { createTaskNotifier } from './create-task-notifier.js';
import type { TaskNotifier } from './task-notifier.js';

const freePorts = (count: number): Promise<number[]> => Promise.all(Array.from({ length: count }, freePort));

/** Runs one command on one server. */
async function ask(port: number, ...command: [string, ...string[]]): Promise<string> {
  const redis = new Redis({ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return String(await redis.call(...command));
  } finally {
    redis.disconnect();
  }
}

const answers = (port: number): Promise<boolean> =>
  ask(port, 'PING').then(
    () => true,
    () => false,
  );

describeWithRedis('The notifier on several Redis servers', () => {
  let folder: string;
  const servers: ChildProcess[] = [];
  const notifiers: TaskNotifier[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'redis-topologies-'));
  });
  afterAll(async () => {
    await Promise.all(notifiers.map((notifier) => notifier.close(0)));
    for (const server of servers) server.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  async function startServer(port: number, ...options: string[]): Promise<ChildProcess> {
    const files = ['--dir', folder, '--save', '', '--appendonly', 'no'];
    const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', ...files, ...options], {
      stdio: 'ignore',
    });
    servers.push(server);
    await eventually(() => answers(port));
    return server;
  }

  async function openNotifier(redisUrl: string): Promise<{ heard: Set<string>; notifier: TaskNotifier }> {
    const notifier = await createTaskNotifier(Object.assign(new QueueConfig(), { REDIS_URL: redisUrl }), '');
    notifiers.push(notifier);
    const heard = new Set<string>();
    for (const queue of ['video', 'image'] as const) {
      notifier.listen(queue, { concurrency: 5 }, async (taskId) => void heard.add(taskId));
    }
    return { heard, notifier };
  }

  /** Rings until it was heard, as submissions and sweepers together do. */
  async function notifyUntilHeard(notifier: TaskNotifier, heard: Set<string>, taskId: string): Promise<void> {
    await eventually(
      () => {
        notifier.notify('image', [taskId]);
        return heard.has(taskId);
      },
      { pauseMs: 200 },
    );
  }

  it('sends wake-ups in a Redis Cluster of three nodes, where replicas also share cooldowns', async () => {
    const ports = await freePorts(6);
    const nodes = ports.slice(0, 3).map((port, index) => ({ port, busPort: ports[index + 3] ?? 0, index }));
    for (const { port, busPort, index } of nodes) {
      const files = ['--cluster-config-file', `nodes-${index}.conf`, '--cluster-node-timeout', '2000'];
      await startServer(port, '--cluster-enabled', 'yes', '--cluster-port', String(busPort), ...files);
    }
    const slots = [
      ['0', '5460'],
      ['5461', '10922'],
      ['10923', '16383'],
    ] as const;
    const [first] = nodes;
    for (const { port, busPort, index } of nodes) {
      await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', ...(slots[index] ?? []));
      await ask(first?.port ?? 0, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort));
    }
    for (const { port } of nodes) {
      await eventually(async () =>
        /cluster_state:ok[^]*cluster_known_nodes:3/.test(await ask(port, 'CLUSTER', 'INFO')),
      );
    }
    const clusterUrl = `redis-cluster://127.0.0.1:${first?.port},127.0.0.1:${nodes[1]?.port}`;
    const { heard, notifier } = await openNotifier(clusterUrl);
    await notifyUntilHeard(notifier, heard, 'task_in_a_cluster');
    notifier.notify('video', ['another_queue']);
    await eventually(() => heard.has('another_queue'));
    expect(await notifier.isHealthy()).toBe(true);

    const replicas = [1, 2].map(() => new Cooldowns(systemClock, new RedisCooldownStore(clusterUrl, '{gateway}')));
    replicas[0]?.coolDown('an-upstream', 60_000);
    await eventually(() => replicas[1]?.stateOf('an-upstream') === 'cooling_down');
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  it('finds the new master behind a Sentinel when the old one dies', async () => {
    const [master = 0, replica = 0, sentinel = 0] = await freePorts(3);
    const masterServer = await startServer(master);
    await startServer(replica, '--replicaof', '127.0.0.1', String(master));
    const configuration = join(folder, 'sentinel.conf');
    const rules = [
      `port ${sentinel}`,
      'bind 127.0.0.1',
      `sentinel monitor gateway 127.0.0.1 ${master} 1`,
      'sentinel down-after-milliseconds gateway 500',
      'sentinel failover-timeout gateway 5000',
    ];
    await writeFile(configuration, `${rules.join('\n')}\n`);
    servers.push(spawn('redis-server', [configuration, '--sentinel'], { stdio: 'ignore', cwd: folder }));
    await eventually(() => answers(sentinel));
    await eventually(async () => (await ask(sentinel, 'SENTINEL', 'replicas', 'gateway')).includes(String(replica)));

    const { heard, notifier } = await openNotifier(`redis-sentinel://127.0.0.1:${sentinel}/gateway`);
    await notifyUntilHeard(notifier, heard, 'task_before');
    masterServer.kill('SIGKILL');
    await notifyUntilHeard(notifier, heard, 'task_after');
    expect(await ask(replica, 'ROLE')).toContain('master');
  });
});
