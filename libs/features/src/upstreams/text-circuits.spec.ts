import { GatewayError, type TextProvider } from '#contracts';
import { type Admission, Cooldowns, FREELY } from '#platform';
import { ControllableClock } from '#testing';
import type { TextUpstream } from './text-upstreams.js';
import { TextCircuits } from './upstream-circuits.js';

const ADA = 'acc_ada';
const FIRST_COOLDOWN_MS = 5_000;

const failure = new GatewayError('upstream_error', 'x');
const limited = (retryAfterMs: number) => new GatewayError('upstream_rate_limited', 'x', { retryAfterMs });

const provider: TextProvider = { id: 'a', protocol: 'chat', call: () => Promise.reject(failure) };
const a: TextUpstream = { provider, healthName: 'a', models: undefined, weight: 1, priority: 0 };

function watch() {
  const clock = new ControllableClock();
  const cooldowns = new Cooldowns(clock);
  return { clock, circuits: new TextCircuits(cooldowns), other: new TextCircuits(cooldowns) };
}

/** Requests that were admitted while it still worked. */
const fail = (circuits: TextCircuits, times: number, account = ADA): void => {
  for (let count = 0; count < times; count += 1) circuits.recordFailure(a, account, failure);
};

async function admitted(circuits: TextCircuits, account = ADA): Promise<Admission> {
  const admission = await circuits.admits(a, account);
  if (!admission) throw new Error('it may not be asked now');
  return admission;
}

const isOpen = async (circuits: TextCircuits, account = ADA): Promise<boolean> =>
  (await circuits.admits(a, account)) === FREELY;

describe('TextCircuits', () => {
  it('cools down an upstream after three failures, admits one probe, and closes the circuit when that succeeds', async () => {
    const { clock, circuits } = watch();
    for (let count = 0; count < 3; count += 1) circuits.recordFailure(a, ADA, failure, await admitted(circuits));
    expect(circuits.admits(a, ADA)).toBeUndefined();
    clock.advance(FIRST_COOLDOWN_MS);
    const [probe, none] = await Promise.all([circuits.admits(a, ADA), circuits.admits(a, ADA)]);
    expect(none).toBeUndefined();
    circuits.recordSuccess(a, ADA, probe ?? FREELY);
    expect([await isOpen(circuits), await isOpen(circuits)]).toEqual([true, true]);
  });

  it.each([
    ['the day that it names', 7 * 3_600_000, 7 * 3_600_000],
    ['a day, however far away the time is that it names', 30 * 86_400_000, 86_400_000],
  ])('leaves an upstream alone for all until %s', async (_, namedMs, restMs) => {
    const { clock, circuits } = watch();
    for (const error of [limited(namedMs), new GatewayError('upstream_error', 'x', { retryAfterMs: namedMs })]) {
      circuits.recordFailure(a, ADA, error, await admitted(circuits));
      expect([circuits.coolingMs(a), circuits.admits(a, 'acc_other')]).toEqual([restMs, undefined]);
      clock.advance(restMs);
      circuits.recordSuccess(a, ADA, await admitted(circuits));
      expect(await isOpen(circuits)).toBe(true);
    }
  });

  it('does not count replies that the model itself ended, and lets the next probe go', async () => {
    const { clock, circuits } = watch();
    const ended = new GatewayError('upstream_error', 'x', { isByModel: true });
    for (let count = 0; count < 9; count += 1) circuits.recordFailure(a, ADA, ended);
    expect(await isOpen(circuits)).toBe(true);
    fail(circuits, 3);
    clock.advance(FIRST_COOLDOWN_MS);
    circuits.recordFailure(a, ADA, ended, await admitted(circuits));
    expect(circuits.coolingMs(a, ADA)).toBe(0);
    await admitted(circuits);
  });

  it('doubles the cooldown when the probe fails', async () => {
    const { clock, circuits } = watch();
    fail(circuits, 3);
    clock.advance(FIRST_COOLDOWN_MS);
    circuits.recordFailure(a, ADA, failure, await admitted(circuits));
    expect(circuits.coolingMs(a, ADA)).toBe(10_000);
  });

  it('does not lengthen the cooldown for requests that were under way when it began, however many fail', () => {
    const { circuits } = watch();
    fail(circuits, 12);
    expect(circuits.coolingMs(a, ADA)).toBe(FIRST_COOLDOWN_MS);
  });

  it('ignores requests that began before the cooldown while another probes, whether they fail, end or leave', async () => {
    const { clock, circuits } = watch();
    const before = await admitted(circuits);
    fail(circuits, 3);
    clock.advance(FIRST_COOLDOWN_MS);
    const probe = await admitted(circuits);
    circuits.recordFailure(a, ADA, failure, before);
    expect(circuits.coolingMs(a, ADA)).toBe(0);
    circuits.release(before);
    circuits.recordSuccess(a, ADA, before);
    expect(await circuits.admits(a, ADA)).toBeUndefined();
    circuits.recordSuccess(a, ADA, probe);
    expect(await isOpen(circuits)).toBe(true);
  });

  it('lets another request probe when the first reports nothing', async () => {
    const { clock, circuits } = watch();
    for (const account of ['one', 'two', 'three']) fail(circuits, 3, account);
    clock.advance(FIRST_COOLDOWN_MS);
    circuits.release(await admitted(circuits, 'one'));
    circuits.recordSuccess(a, ADA, await admitted(circuits));
    expect(circuits.isCoolingForAll(a)).toBe(false);
  });

  it('needs three failures again after it recovered', async () => {
    const { clock, circuits, other } = watch();
    fail(circuits, 3);
    clock.advance(FIRST_COOLDOWN_MS);
    other.recordSuccess(a, ADA, await admitted(other));
    fail(circuits, 2);
    expect(await isOpen(circuits)).toBe(true);
  });

  it('counts failures in a row: a completed reply resets the count, one that only began does not', async () => {
    const { circuits } = watch();
    fail(circuits, 2);
    circuits.recordSuccess(a, ADA, FREELY);
    circuits.recordCompletion(a, ADA);
    fail(circuits, 2);
    expect(await isOpen(circuits)).toBe(true);
    circuits.recordSuccess(a, ADA, FREELY);
    fail(circuits, 1);
    expect(await isOpen(circuits)).toBe(false);
  });

  it('cools down as long as a rate limit asks, even if earlier requests succeed', () => {
    const { circuits } = watch();
    circuits.recordFailure(a, ADA, limited(42_000));
    circuits.recordSuccess(a, ADA, FREELY);
    expect(circuits.coolingMs(a, ADA)).toBe(42_000);
  });

  it('avoids an upstream that another replica cooled down', async () => {
    const { clock, circuits, other } = watch();
    circuits.recordFailure(a, ADA, limited(1_000));
    expect(other.admits(a, ADA)).toBeUndefined();
    clock.advance(1_000);
    other.recordSuccess(a, ADA, await admitted(other));
    expect(await isOpen(circuits)).toBe(true);
  });

  it('resets for an upstream whose settings were changed', () => {
    const { circuits } = watch();
    fail(circuits, 3);
    expect(circuits.admits({ ...a, healthName: 'a@changed' }, ADA)).toBe(FREELY);
  });

  it('cools down for one account when its requests fail, and for all when those of three accounts do', async () => {
    const { circuits } = watch();
    for (const account of ['one', 'two']) fail(circuits, 3, account);
    expect([await isOpen(circuits, 'one'), await isOpen(circuits), circuits.isCoolingForAll(a)]).toEqual([
      false,
      true,
      false,
    ]);
    fail(circuits, 3, 'three');
    expect([await isOpen(circuits), circuits.isCoolingForAll(a)]).toEqual([false, true]);
  });

  it('does not cool down for all because one account fails repeatedly at several replicas', async () => {
    const { clock, circuits, other } = watch();
    for (let round = 0; round < 4; round += 1) {
      for (const replica of [circuits, other]) fail(replica, 3, 'hostile');
      expect([await isOpen(circuits), await isOpen(other), circuits.isCoolingForAll(a)]).toEqual([true, true, false]);
      clock.advance(120_000);
      for (const replica of [circuits, other]) {
        const probe = await replica.admits(a, 'hostile');
        if (probe) replica.recordFailure(a, 'hostile', failure, probe);
      }
    }
    expect([circuits.isCoolingForAll(a), other.isCoolingForAll(a)]).toEqual([false, false]);
  });

  it('does not count accounts whose failures were followed by a success of another', async () => {
    const { circuits } = watch();
    for (const account of ['one', 'two', 'three', 'four']) {
      fail(circuits, 3, account);
      circuits.recordSuccess(a, ADA, FREELY);
    }
    expect([await isOpen(circuits), await isOpen(circuits, 'four'), circuits.isCoolingForAll(a)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('recovers for all when the probe of any account succeeds', async () => {
    const { clock, circuits } = watch();
    const accounts = ['one', 'two', 'three'];
    for (const account of accounts) circuits.recordFailure(a, account, limited(60_000));
    clock.advance(FIRST_COOLDOWN_MS);
    circuits.recordSuccess(a, ADA, await admitted(circuits));
    for (const account of [...accounts, ADA]) expect(await isOpen(circuits, account)).toBe(true);
  });

  it('is not kept closed by failed probes of one account alone', async () => {
    const { clock, circuits } = watch();
    for (const account of ['one', 'two', 'three']) circuits.recordFailure(a, account, limited(1_000));
    for (let probe = 0; probe < 6; probe += 1) {
      clock.advance(120_000);
      circuits.recordFailure(a, 'one', failure, await admitted(circuits, 'one'));
    }
    expect([circuits.coolingMs(a, 'one'), circuits.coolingMs(a, ADA)]).toEqual([120_000, FIRST_COOLDOWN_MS]);
  });
});
