import {
  ControllableClock,
  createTestDatabase,
  describeWithRedis,
  eventually,
  quickestOf,
  startRedisServer,
  type TestDatabase,
  uniqueRedisPrefix,
} from '#testing';
import { type Clock, systemClock } from '../../clock/clock.js';
import type { QueueConfig } from '../../redis/redis-address.js';
import { Cooldowns, type Probe } from '../../circuits/cooldowns.js';
import { createCooldowns } from '../cooldown-stores.js';

/** Another replica learns within a second; on a busy machine within this time, in milliseconds. */
const SHARED_WITHIN_MS = 4_000;
/** A store that is only slow decides: a replica that gave up waiting for it would decide alone, as it should. */
const claimTimeoutMs = 30_000;
/** No answer of a Redis that is away was waited for. */
const WITHOUT_WAITING_MS = 500;
/** A machine whose clock is an hour ahead. */
const fastClock: Clock = { ...systemClock, now: () => new Date(Date.now() + 3_600_000) };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function given(probe: Probe | undefined): Probe {
  if (!probe) throw new Error('another replica probes it');
  return probe;
}

/** Waits until `done` answers true, and answers how long that took in milliseconds. */
async function until(done: () => boolean): Promise<number> {
  const startedAt = Date.now();
  await eventually(done, { pauseMs: 5 });
  return Date.now() - startedAt;
}

describe('Cooldowns of a single process', () => {
  it('last as long as requested, and then let a single probe through', async () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    cooldowns.coolDown('a', 5_000);
    expect([cooldowns.stateOf('a'), cooldowns.coolingMs('a'), cooldowns.stateOf('b')]).toEqual([
      'cooling_down',
      5_000,
      'available',
    ]);
    expect(await cooldowns.claimProbe('a')).toBeUndefined();
    clock.advance(5_000);
    expect(cooldowns.stateOf('a')).toBe('half_open');
    const [probe, none] = await Promise.all([cooldowns.claimProbe('a'), cooldowns.claimProbe('a')]);
    expect(none).toBeUndefined();
    cooldowns.recovered(given(probe));
    expect(cooldowns.stateOf('a')).toBe('available');
  });

  it('last no longer although the time of day is set back by an hour meanwhile', () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    cooldowns.coolDown('a', 5_000);
    clock.setTimeOfDay(-3_600_000);
    clock.advance(5_000);
    expect(cooldowns.stateOf('a')).toBe('half_open');
  });

  it('count cooldowns that overlap as one, and keep the longest', () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    for (const ms of [1_000, 9_000, 2_000]) cooldowns.coolDown('a', ms);
    expect([cooldowns.cooldownsOf('a'), cooldowns.coolingMs('a')]).toEqual([1, 9_000]);
    clock.advance(9_000);
    cooldowns.coolDown('a', 1_000);
    expect(cooldowns.cooldownsOf('a')).toBe(2);
  });

  it('let another request probe when the first reported nothing, or never returned', async () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    cooldowns.coolDown('a', 1_000);
    clock.advance(1_000);
    cooldowns.releaseProbe(given(await cooldowns.claimProbe('a')));
    expect(await cooldowns.claimProbe('a')).toBeDefined();
    clock.advance(15_000);
    expect(await cooldowns.claimProbe('a')).toBeDefined();
  });

  it('ignore a probe that took so long that another request became the probe', async () => {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    cooldowns.coolDown('a', 1_000);
    clock.advance(1_000);
    const late = given(await cooldowns.claimProbe('a'));
    clock.advance(15_000);
    const probe = given(await cooldowns.claimProbe('a'));
    cooldowns.releaseProbe(late);
    cooldowns.recovered(late);
    expect([cooldowns.stateOf('a'), cooldowns.holds(late), cooldowns.holds(probe)]).toEqual(['half_open', false, true]);
    expect(await cooldowns.claimProbe('a')).toBeUndefined();
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

  it('shares a cooldown with the other replica within a second, although its clock is an hour ahead', async () => {
    const share = async (attempt: number): Promise<number> => {
      const upstream = `shared ${attempt}`;
      one.coolDown(upstream, 30_000);
      expect(one.stateOf(upstream)).toBe('cooling_down');
      const heardAfterMs = await until(() => other.stateOf(upstream) === 'cooling_down');
      return Math.max(heardAfterMs, Math.abs(other.coolingMs(upstream) - one.coolingMs(upstream)));
    };
    expect(await quickestOf(SHARED_WITHIN_MS, share)).toBeLessThan(SHARED_WITHIN_MS);
  });

  it('grants the probe to exactly one of many requests on both', async () => {
    one.coolDown('probed', 1_000);
    await until(() => [one, other].every((replica) => replica.stateOf('probed') === 'half_open'));
    const claims = Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).claimProbe('probed'));
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    await pause(700);
    const later = await Promise.all([one.claimProbe('probed'), other.claimProbe('probed')]);
    expect(later).toEqual([undefined, undefined]);
  });

  it('reopens for both when either succeeds', async () => {
    const reopen = async (attempt: number): Promise<number> => {
      const upstream = `reopened ${attempt}`;
      one.coolDown(upstream, 1_000);
      await until(() => [one, other].every((replica) => replica.stateOf(upstream) === 'half_open'));
      other.recovered(given(await other.claimProbe(upstream)));
      return until(() => one.stateOf(upstream) === 'available');
    };
    expect(await quickestOf(SHARED_WITHIN_MS, reopen)).toBeLessThan(SHARED_WITHIN_MS);
  });

  it('lengthens the cooldowns of both when the probe of either fails', async () => {
    one.coolDown('failing', 1_000);
    await until(() => other.stateOf('failing') === 'half_open');
    expect(await other.claimProbe('failing')).toBeDefined();
    other.coolDown('failing', 30_000);
    await until(() => one.cooldownsOf('failing') === 2);
    expect([one.cooldownsOf('failing'), other.cooldownsOf('failing')]).toEqual([2, 2]);
  });

  it('keeps a cooldown local that would end before the other replica learns of it', async () => {
    one.coolDown('short', 900);
    expect(one.stateOf('short')).toBe('cooling_down');
    await pause(600);
    expect(other.stateOf('short')).toBe('available');
  });

  it('lets the other replica probe when the probe of the first reported nothing', async () => {
    one.coolDown('released', 1_000);
    await until(() => [one, other].every((replica) => replica.stateOf('released') === 'half_open'));
    const probe = given(await one.claimProbe('released'));
    expect(await other.claimProbe('released')).toBeUndefined();
    one.releaseProbe(probe);
    await eventually(() => other.claimProbe('released'));
  });

  it.each([
    ['succeeds', (probe: Probe) => one.recovered(probe)],
    ['tells nothing', (probe: Probe) => one.releaseProbe(probe)],
  ])('keeps a newer cooldown of the other replica when the late probe of the first %s', async (what, end) => {
    const upstream = `late ${what}`;
    one.coolDown(upstream, 1_000);
    await until(() => [one, other].every((replica) => replica.stateOf(upstream) === 'half_open'));
    const probe = given(await one.claimProbe(upstream));
    const third = open();
    other.coolDown(upstream, 30_000);
    // It is in the store by now; the first one may not have read it since.
    await until(() => third.stateOf(upstream) === 'cooling_down');
    end(probe);
    await until(() => one.stateOf(upstream) === 'cooling_down');
    expect([one, other, third].map((replica) => replica.stateOf(upstream))).toEqual([
      'cooling_down',
      'cooling_down',
      'cooling_down',
    ]);
    expect(one.holds(probe)).toBe(false);
    await third.close();
  });
}

describe('Cooldowns that replicas share', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  describe('through Postgres', () => {
    sharesCooldowns((clock = systemClock) =>
      createCooldowns({ QUEUE_PREFIX: '{unused}' }, test.database, false, { clock, claimTimeoutMs }),
    );
  });

  describeWithRedis('through Redis', (redisUrl) => {
    const config: QueueConfig = { REDIS_URL: redisUrl, QUEUE_PREFIX: uniqueRedisPrefix() };
    sharesCooldowns((clock = systemClock) => createCooldowns(config, test.database, false, { clock, claimTimeoutMs }));

    it('are decided by each replica alone while Redis is away, without waiting, and stored when it is back', async () => {
      const redis = await startRedisServer();
      const away = { REDIS_URL: redis?.url ?? '', QUEUE_PREFIX: config.QUEUE_PREFIX };
      const [one, other] = [createCooldowns(away, test.database, false), createCooldowns(away, test.database, false)];
      one.coolDown('before', 20_000);
      await until(() => other.stateOf('before') === 'cooling_down');
      await redis?.kill();

      expect([one.stateOf('before'), other.stateOf('before')]).toEqual(['cooling_down', 'cooling_down']);
      other.coolDown('stored later', 30_000);
      const claiming = await quickestOf(WITHOUT_WAITING_MS, async (attempt) => {
        const began = performance.now();
        const upstream = `alone ${attempt}`;
        one.coolDown(upstream, 1);
        await until(() => one.stateOf(upstream) === 'half_open');
        expect(await Promise.all([one.claimProbe(upstream), one.claimProbe(upstream)])).toEqual([
          expect.objectContaining({ name: upstream }),
          undefined,
        ]);
        return performance.now() - began;
      });
      expect(claiming).toBeLessThan(WITHOUT_WAITING_MS);

      const back = await startRedisServer(Number(new URL(away.REDIS_URL).port));
      await until(() => one.stateOf('stored later') === 'cooling_down');
      await Promise.all([one.close(), other.close()]);
      await back?.kill();
    });
  });
});
