import {
  atBest,
  ControllableClock,
  createTestDatabase,
  describeWithRedis,
  quickestOf,
  startRedisServer,
  type TestDatabase,
  uniqueRedisPrefix,
} from '#testing';
import { type Clock, systemClock } from '../clock/clock.js';
import type { QueueConfig } from '../redis/queue.config.js';
import { Cooldowns } from './cooldowns.js';
import { createCooldowns } from './create-cooldowns.js';

/** Another replica learns within this time, in milliseconds. */
const SHARED_WITHIN_MS = 1_000;
/** No answer of a Redis that is away was waited for. */
const WITHOUT_WAITING_MS = 500;
/** A machine whose clock is an hour ahead. */
const fastClock: Clock = { ...systemClock, now: () => new Date(Date.now() + 3_600_000) };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `done` answers true, and answers how long that took in milliseconds. */
async function until(done: () => boolean, limitMs = 5_000): Promise<number> {
  const startedAt = Date.now();
  while (!done()) {
    if (Date.now() - startedAt > limitMs) throw new Error(`it did not happen within ${limitMs} ms`);
    await pause(5);
  }
  return Date.now() - startedAt;
}

describe('Cooldowns of a single process', () => {
  it('last as long as they are told, and then let a single probe through', async () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    cooldowns.rest('a', 5_000);
    expect([cooldowns.stateOf('a'), cooldowns.restMs('a'), cooldowns.stateOf('b')]).toEqual(['resting', 5_000, 'open']);
    expect(await cooldowns.claimProbe('a')).toBe(false);
    clock.advance(5_000);
    expect(cooldowns.stateOf('a')).toBe('half_open');
    expect(await Promise.all([cooldowns.claimProbe('a'), cooldowns.claimProbe('a')])).toEqual([true, false]);
    cooldowns.clear('a');
    expect(cooldowns.stateOf('a')).toBe('open');
  });

  it('count rests that overlap as one, and keep the longest', () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    for (const ms of [1_000, 9_000, 2_000]) cooldowns.rest('a', ms);
    expect([cooldowns.restsOf('a'), cooldowns.restMs('a')]).toEqual([1, 9_000]);
    clock.advance(9_000);
    cooldowns.rest('a', 1_000);
    expect(cooldowns.restsOf('a')).toBe(2);
  });

  it('let another request probe when the first told nothing, or never came back', async () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    cooldowns.rest('a', 1_000);
    clock.advance(1_000);
    expect(await cooldowns.claimProbe('a')).toBe(true);
    cooldowns.releaseProbe('a');
    expect(await cooldowns.claimProbe('a')).toBe(true);
    clock.advance(15_000);
    expect(await cooldowns.claimProbe('a')).toBe(true);
  });
});

function sharesCooldowns(open: (clock?: Clock) => Cooldowns): void {
  let one: Cooldowns;
  let other: Cooldowns;
  beforeAll(() => {
    one = open();
    other = open(fastClock);
  });
  afterAll(() => Promise.all([one.close(), other.close()]));

  it('makes a rest of one replica the rest of the other within a second, though its clock is an hour ahead', async () => {
    const share = async (attempt: number): Promise<number> => {
      const upstream = `shared ${attempt}`;
      one.rest(upstream, 30_000);
      expect(one.stateOf(upstream)).toBe('resting');
      const heardAfterMs = await until(() => other.stateOf(upstream) === 'resting');
      return Math.max(heardAfterMs, Math.abs(other.restMs(upstream) - one.restMs(upstream)));
    };
    expect(await quickestOf(SHARED_WITHIN_MS, share)).toBeLessThan(SHARED_WITHIN_MS);
  });

  it('gives the probe to exactly one of many requests on both', async () => {
    one.rest('probed', 1_000);
    await until(() => [one, other].every((replica) => replica.stateOf('probed') === 'half_open'));
    const claims = Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).claimProbe('probed'));
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    await pause(700);
    expect(await Promise.all([one.claimProbe('probed'), other.claimProbe('probed')])).toEqual([false, false]);
  });

  it('reopens for both when either succeeds', async () => {
    const reopen = async (attempt: number): Promise<number> => {
      const upstream = `reopened ${attempt}`;
      one.rest(upstream, 1_000);
      await until(() => [one, other].every((replica) => replica.stateOf(upstream) === 'half_open'));
      expect(await other.claimProbe(upstream)).toBe(true);
      other.clear(upstream);
      return until(() => one.stateOf(upstream) === 'open');
    };
    expect(await quickestOf(SHARED_WITHIN_MS, reopen)).toBeLessThan(SHARED_WITHIN_MS);
  });

  it('lengthens the rests of both when the probe of either fails', async () => {
    one.rest('failing', 1_000);
    await until(() => other.stateOf('failing') === 'half_open');
    expect(await other.claimProbe('failing')).toBe(true);
    other.rest('failing', 30_000);
    await until(() => one.stateOf('failing') === 'resting');
    expect([one.restsOf('failing'), other.restsOf('failing')]).toEqual([2, 2]);
  });

  it('keeps a rest to one replica that would be over before the other heard of it', async () => {
    one.rest('short', 900);
    expect(one.stateOf('short')).toBe('resting');
    await pause(600);
    expect(other.stateOf('short')).toBe('open');
  });

  it('lets the other replica probe when the probe of the first told nothing', async () => {
    one.rest('released', 1_000);
    await until(() => [one, other].every((replica) => replica.stateOf('released') === 'half_open'));
    expect(await one.claimProbe('released')).toBe(true);
    expect(await other.claimProbe('released')).toBe(false);
    one.releaseProbe('released');
    await pause(SHARED_WITHIN_MS);
    expect(await other.claimProbe('released')).toBe(true);
  });
}

describe('Cooldowns that replicas share', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  describe('through Postgres', () => {
    sharesCooldowns((clock) => createCooldowns({ QUEUE_PREFIX: '{unused}' }, test.database, false, clock));
  });

  describeWithRedis('through Redis', (redisUrl) => {
    const config: QueueConfig = { REDIS_URL: redisUrl, QUEUE_PREFIX: uniqueRedisPrefix() };
    sharesCooldowns((clock) => createCooldowns(config, test.database, false, clock));

    it('are decided by each replica alone while Redis is away, without waiting, and told when it is back', async () => {
      const redis = await startRedisServer();
      const away = { REDIS_URL: redis?.url ?? '', QUEUE_PREFIX: config.QUEUE_PREFIX };
      const [one, other] = [createCooldowns(away, test.database, false), createCooldowns(away, test.database, false)];
      one.rest('before', 20_000);
      await until(() => other.stateOf('before') === 'resting');
      await redis?.kill();

      expect([one.stateOf('before'), other.stateOf('before')]).toEqual(['resting', 'resting']);
      other.rest('told later', 30_000);
      const claiming = await atBest(WITHOUT_WAITING_MS, async (attempt) => {
        const upstream = `alone ${attempt}`;
        one.rest(upstream, 1);
        await until(() => one.stateOf(upstream) === 'half_open');
        expect(await Promise.all([one.claimProbe(upstream), one.claimProbe(upstream)])).toEqual([true, false]);
      });
      expect(claiming).toBeLessThan(WITHOUT_WAITING_MS);

      const back = await startRedisServer(Number(new URL(away.REDIS_URL).port));
      await until(() => one.stateOf('told later') === 'resting', 10_000);
      await Promise.all([one.close(), other.close()]);
      await back?.kill();
    });
  });
});
