import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describeWithRedis, eventually, ownTimeMs, type RedisServer, startRedisServer } from '#testing';
import { parseRedisAddress } from '../redis-address.js';
import { connect, FAIL_FAST, WAIT_FOR_SERVER } from '../redis-connection.js';

/** With 50 ms for each of the keys its file takes minutes to read, and it estimates as much. */
const KEYS = 4_000;
const SLOW_DISK = ['--key-load-delay', '50000', '--loading-process-events-interval-bytes', '1024'];
/** Within this the connection must be ready, in milliseconds; the client by itself looks again after up to ten seconds. */
const READY_WITHIN_MS = 7_000;

describeWithRedis('A Redis that reads its data after a restart', () => {
  let folder: string;
  let server: RedisServer | undefined;
  let operator: Redis;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'loading-redis-'));
    server = await startRedisServer(undefined, { folder });
    operator = new Redis(server?.url ?? '');
    await operator.eval(`for i = 1, ${KEYS} do redis.call('SET', 'key-' .. i, string.rep('x', 100)) end`, 0);
    await operator.save();
    operator.disconnect();
    await server?.kill();
  });
  beforeEach(async () => {
    server = await startRedisServer(undefined, { folder, settings: SLOW_DISK, startedAt: 'Loading RDB' });
    operator = new Redis(server?.url ?? '', { enableReadyCheck: false });
  });
  afterEach(async () => {
    operator.disconnect();
    await server?.kill();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['senders', FAIL_FAST],
    ['listeners', WAIT_FOR_SERVER],
  ] as const)(
    'is used by %s soon after it has them, however long it expected that to take',
    async (_who, behaviour) => {
      const redis = connect(parseRedisAddress(server?.url ?? ''), behaviour);
      try {
        await eventually(() => redis.status === 'connect');
        // The connection has been told how long it will take.
        await eventually(async () => /loading_eta_seconds:[1-9]\d/.test(await operator.info('persistence')));
        await eventually(async () =>
          /cmdstat_info:calls=[2-9]|cmdstat_info:calls=\d\d/.test(await operator.info('commandstats')),
        );
        await operator.config('SET', 'key-load-delay', '0');
        const beganMs = ownTimeMs();
        await eventually(() => redis.status === 'ready');
        expect(ownTimeMs() - beganMs).toBeLessThan(READY_WITHIN_MS);
        expect(redis.status).toBe('ready');
      } finally {
        redis.disconnect();
      }
    },
  );
});
