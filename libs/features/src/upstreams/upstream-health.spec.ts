import { GatewayError, type TextProvider } from '#contracts';
import { Cooldowns } from '#platform';
import { ControllableClock } from '#testing';
import type { TextUpstream } from './text-upstreams.js';
import { type Admission, FREELY, UpstreamHealth } from './upstream-health.js';

const ADA = 'acc_ada';
const FIRST_COOLDOWN_MS = 5_000;

const failure = new GatewayError('upstream_error', 'x');
const limited = (retryAfterMs: number) => new GatewayError('rate_limit_exceeded', 'x', { retryAfterMs });

const provider: TextProvider = { id: 'a', protocol: 'chat', call: () => Promise.reject(failure) };
const a: TextUpstream = { provider, healthName: 'a', models: undefined, weight: 1, priority: 0 };

function watch() {
  const clock = new ControllableClock();
  const cooldowns = new Cooldowns(clock);
  return { clock, health: new UpstreamHealth(cooldowns), other: new UpstreamHealth(cooldowns) };
}

/** Requests that were admitted while it still worked. */
const fail = (health: UpstreamHealth, times: number, account = ADA): void => {
  for (let count = 0; count < times; count += 1) health.failed(a, account, failure);
};

async function admitted(health: UpstreamHealth, account = ADA): Promise<Admission> {
  const admission = await health.admits(a, account);
  if (!admission) throw new Error('it may not be asked now');
  return admission;
}

const isOpen = async (health: UpstreamHealth, account = ADA): Promise<boolean> =>
  (await health.admits(a, account)) === FREELY;

describe('UpstreamHealth', () => {
  it('cools down an upstream after three failures, admits one probe, and closes the circuit when that succeeds', async () => {
    const { clock, health } = watch();
    for (let count = 0; count < 3; count += 1) health.failed(a, ADA, failure, await admitted(health));
    expect(health.admits(a, ADA)).toBeUndefined();
    clock.advance(FIRST_COOLDOWN_MS);
    const [probe, none] = await Promise.all([health.admits(a, ADA), health.admits(a, ADA)]);
    expect(none).toBeUndefined();
    health.answered(a, ADA, probe ?? FREELY);
    expect([await isOpen(health), await isOpen(health)]).toEqual([true, true]);
  });

  it('doubles the cooldown when the probe fails', async () => {
    const { clock, health } = watch();
    fail(health, 3);
    clock.advance(FIRST_COOLDOWN_MS);
    health.failed(a, ADA, failure, await admitted(health));
    expect(health.coolingMs(a, ADA)).toBe(10_000);
  });

  it('does not lengthen the cooldown for requests that were under way when it began, however many fail', () => {
    const { health } = watch();
    fail(health, 12);
    expect(health.coolingMs(a, ADA)).toBe(FIRST_COOLDOWN_MS);
  });

  it('ignores requests that began before the cooldown while another probes, whether they fail, end or leave', async () => {
    const { clock, health } = watch();
    const before = await admitted(health);
    fail(health, 3);
    clock.advance(FIRST_COOLDOWN_MS);
    const probe = await admitted(health);
    health.failed(a, ADA, failure, before);
    expect(health.coolingMs(a, ADA)).toBe(0);
    health.released(before);
    health.answered(a, ADA, before);
    expect(await health.admits(a, ADA)).toBeUndefined();
    health.answered(a, ADA, probe);
    expect(await isOpen(health)).toBe(true);
  });

  it('lets another request probe when the first reports nothing', async () => {
    const { clock, health } = watch();
    for (const account of ['one', 'two', 'three']) fail(health, 3, account);
    clock.advance(FIRST_COOLDOWN_MS);
    health.released(await admitted(health, 'one'));
    health.answered(a, ADA, await admitted(health));
    expect(health.isCoolingForAll(a)).toBe(false);
  });

  it('needs three failures again after it recovered', async () => {
    const { clock, health, other } = watch();
    fail(health, 3);
    clock.advance(FIRST_COOLDOWN_MS);
    other.answered(a, ADA, await admitted(other));
    fail(health, 2);
    expect(await isOpen(health)).toBe(true);
  });

  it('counts failures in a row: a completed reply resets the count, one that only began does not', async () => {
    const { health } = watch();
    fail(health, 2);
    health.answered(a, ADA, FREELY);
    health.completed(a, ADA);
    fail(health, 2);
    expect(await isOpen(health)).toBe(true);
    health.answered(a, ADA, FREELY);
    fail(health, 1);
    expect(await isOpen(health)).toBe(false);
  });

  it('cools down as long as a rate limit asks, even if earlier requests succeed', () => {
    const { health } = watch();
    health.failed(a, ADA, limited(42_000));
    health.answered(a, ADA, FREELY);
    expect(health.coolingMs(a, ADA)).toBe(42_000);
  });

  it('avoids an upstream that another replica cooled down', async () => {
    const { clock, health, other } = watch();
    health.failed(a, ADA, limited(1_000));
    expect(other.admits(a, ADA)).toBeUndefined();
    clock.advance(1_000);
    other.answered(a, ADA, await admitted(other));
    expect(await isOpen(health)).toBe(true);
  });

  it('resets for an upstream whose settings were changed', () => {
    const { health } = watch();
    fail(health, 3);
    expect(health.admits({ ...a, healthName: 'a@changed' }, ADA)).toBe(FREELY);
  });

  it('cools down for one account when its requests fail, and for all when those of three accounts do', async () => {
    const { health } = watch();
    for (const account of ['one', 'two']) fail(health, 3, account);
    expect([await isOpen(health, 'one'), await isOpen(health), health.isCoolingForAll(a)]).toEqual([
      false,
      true,
      false,
    ]);
    fail(health, 3, 'three');
    expect([await isOpen(health), health.isCoolingForAll(a)]).toEqual([false, true]);
  });

  it('does not cool down for all because one account fails repeatedly at several replicas', async () => {
    const { clock, health, other } = watch();
    for (let round = 0; round < 4; round += 1) {
      for (const replica of [health, other]) fail(replica, 3, 'hostile');
      expect([await isOpen(health), await isOpen(other), health.isCoolingForAll(a)]).toEqual([true, true, false]);
      clock.advance(120_000);
      for (const replica of [health, other]) {
        const probe = await replica.admits(a, 'hostile');
        if (probe) replica.failed(a, 'hostile', failure, probe);
      }
    }
    expect([health.isCoolingForAll(a), other.isCoolingForAll(a)]).toEqual([false, false]);
  });

  it('does not count accounts whose failures were followed by a success of another', async () => {
    const { health } = watch();
    for (const account of ['one', 'two', 'three', 'four']) {
      fail(health, 3, account);
      health.answered(a, ADA, FREELY);
    }
    expect([await isOpen(health), await isOpen(health, 'four'), health.isCoolingForAll(a)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('recovers for all when the probe of any account succeeds', async () => {
    const { clock, health } = watch();
    const accounts = ['one', 'two', 'three'];
    for (const account of accounts) health.failed(a, account, limited(60_000));
    clock.advance(FIRST_COOLDOWN_MS);
    health.answered(a, ADA, await admitted(health));
    for (const account of [...accounts, ADA]) expect(await isOpen(health, account)).toBe(true);
  });

  it('is not kept closed by failed probes of one account alone', async () => {
    const { clock, health } = watch();
    for (const account of ['one', 'two', 'three']) health.failed(a, account, limited(1_000));
    for (let probe = 0; probe < 6; probe += 1) {
      clock.advance(120_000);
      health.failed(a, 'one', failure, await admitted(health, 'one'));
    }
    expect([health.coolingMs(a, 'one'), health.coolingMs(a, ADA)]).toEqual([120_000, FIRST_COOLDOWN_MS]);
  });
});
