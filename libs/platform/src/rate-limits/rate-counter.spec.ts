import {
  createTestDatabase,
  describeWithRedis,
  eventually,
  startRedisServer,
  type TestDatabase,
  uniqueRedisPrefix,
} from '#testing';
import type { StatementRunner } from '../database/database.js';
import type { QueueConfig } from '../redis/redis-address.js';
import { createRateCounter, type RateCounter } from './rate-counter.js';

const onPostgres: QueueConfig = { QUEUE_PREFIX: '{unused}' };

function countsPoints(open: () => RateCounter): void {
  let counter: RateCounter;
  beforeAll(async () => {
    counter = open();
    await untilReady(counter);
  });
  afterAll(() => counter.close());

  it('adds up the points of one window, and of each key apart', async () => {
    expect(await counter.add('requests:a', 1)).toMatchObject({ points: 1 });
    expect(await counter.add('requests:a', 4)).toMatchObject({ points: 5 });
    expect(await counter.add('requests:b', 1)).toMatchObject({ points: 1 });
  });

  it('can be read without adding', async () => {
    await counter.add('tokens:a', 7);
    expect((await counter.add('tokens:a', 0)).points).toBe(7);
  });

  it('reports when the window ends', async () => {
    const { resetsInMs } = await counter.add('requests:c', 1);
    expect(resetsInMs).toBeGreaterThan(50_000);
    expect(resetsInMs).toBeLessThanOrEqual(60_000);
  });

  it('counts concurrent requests exactly, and so allows exactly the limit', async () => {
    const counts = await Promise.all(Array.from({ length: 200 }, () => counter.add('requests:d', 1)));
    expect(counts.map(({ points }) => points).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 200 }, (_, index) => index + 1),
    );
    expect(counts.filter(({ points }) => points <= 120)).toHaveLength(120);
    expect((await counter.add('requests:d', 0)).points).toBe(200);
  });
}

describe('Counting requests', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  describe('in memory', () => {
    countsPoints(() => createRateCounter(onPostgres, test.database, true));
  });

  describe('in Postgres', () => {
    countsPoints(() => createRateCounter(onPostgres, test.database, false));

    it('queries the database a few times for many requests of one key', async () => {
      let statements = 0;
      const noting: StatementRunner = {
        query: (statement) => {
          statements += 1;
          return test.database.query(statement);
        },
      };
      const counter = createRateCounter(onPostgres, noting, false);
      await Promise.all(Array.from({ length: 200 }, () => counter.add('requests:busy', 1)));
      expect((await counter.add('requests:busy', 0)).points).toBe(200);
      expect(statements).toBeLessThan(10);
      counter.close();
    });

    it('returns no number twice across replicas', async () => {
      const replicas = [1, 2, 3].map(() => createRateCounter(onPostgres, test.database, false));
      const adding = replicas.flatMap((replica) => Array.from({ length: 60 }, () => replica.add('requests:shared', 1)));
      const points = (await Promise.all(adding)).map((count) => count.points).sort((one, other) => one - other);
      expect(points).toEqual(Array.from({ length: 180 }, (_, index) => index + 1));
    });
  });

  describeWithRedis('in Redis', (redisUrl) => {
    const config = { REDIS_URL: redisUrl, QUEUE_PREFIX: uniqueRedisPrefix() };
    countsPoints(() => createRateCounter(config, test.database, false));

    it('fails when Redis is gone, and does not wait until it is back', async () => {
      const redis = await startRedisServer();
      const counter = createRateCounter({ ...config, REDIS_URL: redis?.url ?? '' }, test.database, false);
      await untilReady(counter);
      await redis?.kill();
      await expect(counter.add('requests:a', 1)).rejects.toThrow();
      counter.close();
    });
  });
});

const untilReady = (counter: RateCounter): Promise<boolean> =>
  eventually(() =>
    counter.add('ready', 0).then(
      () => true,
      () => false,
    ),
  );
