import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import {
  describeWithRedis,
  eventually,
  FaultProxy,
  type RedisServer,
  type RedisServerOptions,
  startRedisServer,
} from '#testing';
import { Outage, REQUEST_LIMIT_MS, type Timed } from './testing/outage.js';

const TAKES_NO_WORK = 'queue: the queue takes no work';
/** At this many microseconds for each of the keys, reading the file takes far longer than a test. */
const KEYS = 2_000;
const SLOW_DISK = ['--key-load-delay', '50000', '--loading-process-events-interval-bytes', '1024'];

describeWithRedis('A Redis that keeps its data on disk', () => {
  let folder: string;
  let operator: Redis;
  let proxy: FaultProxy;
  let outage: Outage;
  const servers: RedisServer[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'redis-on-disk-'));
    const url = await start();
    outage = await Outage.prepare(
      async () => (proxy = await FaultProxy.start(url)),
      () => ({ redisUrl: proxy.urlOf(url) }),
    );
  });
  afterEach(async () => {
    operator.disconnect();
    await outage.close();
    await Promise.all(servers.splice(0).map((server) => server.kill()));
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a server on the folder, with a connection for its operator. */
  async function start(options?: RedisServerOptions): Promise<string> {
    const server = await startRedisServer(undefined, { folder, ...options });
    if (server) servers.push(server);
    const url = server?.url ?? '';
    operator = new Redis(url, { enableReadyCheck: false });
    return url;
  }

  /** Requests are served, the process reports degraded, and tasks are made, all while Redis is as it is. */
  async function untouchedBy(begin: () => Promise<unknown>): Promise<Timed[]> {
    const answered = await outage.during('pass', async () => {
      await begin();
      await outage.untilDegraded(TAKES_NO_WORK);
      await outage.untilImagesAreMade();
    });
    const wrong = answered.filter(({ status, tookMs }) => ![200, 401].includes(status) || tookMs > REQUEST_LIMIT_MS);
    expect(wrong).toEqual([]);
    return answered;
  }

  /** Waits until all is well; answers what was lost on the way. */
  async function lossesUntilWell(answered: readonly Timed[]): Promise<unknown[]> {
    await outage.untilIt('ready');
    await outage.untilImagesAreMade();
    return outage.losses(answered);
  }

  it('MISCONF, because it cannot write its file: requests are served, and all is well once it can', async () => {
    const inTheWay = join(folder, 'dump.rdb');
    const answered = await untouchedBy(async () => {
      mkdirSync(inTheWay);
      await operator.config('SET', 'save', '3600 1');
      await operator.bgsave();
      await eventually(async () => (await operator.info('persistence')).includes('rdb_last_bgsave_status:err'));
    });
    rmdirSync(inTheWay);
    await operator.bgsave();
    expect(await lossesUntilWell(answered)).toEqual([]);
  });

  it('LOADING after a restart: requests are served, and all is well once the data is there', async () => {
    const answered = await untouchedBy(async () => {
      await operator.eval(`for i = 1, ${KEYS} do redis.call('SET', 'of-others-' .. i, string.rep('x', 100)) end`, 0);
      await operator.save();
      operator.disconnect();
      await servers.pop()?.kill();
      proxy.leadTo(await start({ settings: SLOW_DISK, startedAt: 'Loading RDB' }));
      proxy.cut();
    });
    expect(await operator.info('persistence')).toContain('loading:1');
    await operator.config('SET', 'key-load-delay', '0');
    expect(await lossesUntilWell(answered)).toEqual([]);
  });
});
