import { Redis } from 'ioredis';
import { describeWithRedis, FaultProxy, type RedisServer, startRedisServer } from '#testing';
import { Outage, REQUEST_LIMIT_MS } from './testing/outage.js';

/** A master whose address no sentinel knows. */
const NOWHERE = ['127.0.0.1', '1'];

/** What a Redis is asked for so that it refuses what workers and queues want of it, and to be well again. */
const REFUSALS: Readonly<Record<string, { readonly begin: string[][]; readonly end: string[][] }>> = {
  'READONLY, as a replica does after a failover': {
    begin: [['REPLICAOF', ...NOWHERE]],
    end: [['REPLICAOF', 'NO', 'ONE']],
  },
  'MASTERDOWN, as a replica does that lost its master': {
    begin: [
      ['CONFIG', 'SET', 'replica-serve-stale-data', 'no'],
      ['REPLICAOF', ...NOWHERE],
    ],
    end: [['REPLICAOF', 'NO', 'ONE']],
  },
  'OOM, without memory': {
    begin: [['CONFIG', 'SET', 'maxmemory', '1']],
    end: [['CONFIG', 'SET', 'maxmemory', '0']],
  },
  'OOM, full of what others keep there': {
    begin: [
      ['SETRANGE', 'of-others', '30000000', 'x'],
      ['CONFIG', 'SET', 'maxmemory', '20mb'],
    ],
    end: [['UNLINK', 'of-others']],
  },
  'NOAUTH, because its password was changed': {
    begin: [
      ['CONFIG', 'SET', 'requirepass', 'changed'],
      ['AUTH', 'changed'],
      ['CLIENT', 'KILL', 'SKIPME', 'yes'],
    ],
    end: [['CONFIG', 'SET', 'requirepass', '']],
  },
};

describeWithRedis('A Redis that refuses', () => {
  let server: RedisServer | undefined;
  let operator: Redis;
  let outage: Outage;
  beforeEach(async () => {
    server = await startRedisServer();
    const url = server?.url ?? '';
    operator = new Redis(url);
    outage = await Outage.prepare(
      () => FaultProxy.start(url),
      (proxy) => ({ redisUrl: proxy.urlOf(url) }),
    );
  });
  afterEach(async () => {
    operator.disconnect();
    await outage.close();
    await server?.kill();
  });

  const told = async (commands: readonly string[][]): Promise<void> => {
    for (const [name = '', ...args] of commands) await operator.call(name, ...args);
  };

  it.each(Object.entries(REFUSALS))(
    '%s: requests are served, the process says degraded, tasks are made meanwhile, and all is well soon after',
    async (_how, { begin, end }) => {
      const answered = await outage.during('pass', async () => {
        await told(begin);
        await outage.untilDegraded('queue: the queue takes no work');
        await outage.untilImagesAreMade();
      });
      await told(end);
      const wrong = answered.filter(({ status, tookMs }) => ![200, 401].includes(status) || tookMs > REQUEST_LIMIT_MS);
      expect(wrong).toEqual([]);
      await outage.untilIt('ready');
      await outage.untilImagesAreMade();
      expect(await outage.losses(answered)).toEqual([]);
    },
  );
});
