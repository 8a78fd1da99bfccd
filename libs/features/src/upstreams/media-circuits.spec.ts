import { Cooldowns, systemClock } from '#platform';
import { MediaFailure } from '#contracts';
import { type ConfiguredMediaUpstream, MediaUpstreamEntry, openMediaUpstreams, TextConfig } from '#providers';
import { ControllableClock } from '#testing';
import { MediaCircuits } from './upstream-circuits.js';

const ARK = {
  id: 'ark',
  protocol: 'ark-video',
  key: 'a-key',
  vendor_account: 'byteplus',
  models: { 'alpha-2.0': 'ep-1' },
};
const ORDER = { model: 'alpha-2.0', accountId: 'acct_1' };

describe('A cooldown of a media upstream', () => {
  const media = openMediaUpstreams({ text: new TextConfig() }, {});
  const opened: ConfiguredMediaUpstream[] = [];
  afterAll(async () => {
    await Promise.all(opened.map(({ upstream }) => upstream.close()));
    await media.close();
  });

  /** The entry as a process finds it in UPSTREAMS_FILE when it starts. */
  function openWith(changes: object): ConfiguredMediaUpstream {
    const configured = media.open(Object.assign(new MediaUpstreamEntry(), ARK, changes));
    opened.push(configured);
    return configured;
  }

  async function unfit(failure: MediaFailure): Promise<MediaCircuits> {
    const circuits = new MediaCircuits(new Cooldowns(systemClock));
    const before = openWith({});
    const admission = await circuits.admits(before, ORDER);
    if (!admission) throw new Error('not admitted');
    circuits.markMisconfigured(before, failure, admission);
    return circuits;
  }

  it('after a wrong key ends with that key, and with that address', async () => {
    const circuits = await unfit(new MediaFailure('unfit', 'wrong_key'));
    expect(circuits.isCooling(openWith({}))).toBe(true);
    expect(circuits.isCooling(openWith({ id: 'images', protocol: 'ark-image', models: 'all' }))).toBe(true);
    expect(circuits.isCooling(openWith({ key: 'another-key' }))).toBe(false);
    expect(circuits.isCooling(openWith({ base_url: 'https://ark.cn-beijing.volces.com/api/v3' }))).toBe(false);
  });

  it.each([
    ['a quota that ends on a day', 5 * 3_600_000, 5 * 3_600_000],
    ['a quota that ends next month: at most a day', 20 * 86_400_000, 86_400_000],
    ['what an operator has to mend, though a moment is named', 3_000, 600_000],
  ])('after %s lasts until then', async (_, retryAfterMs, restMs) => {
    const circuits = await unfit(new MediaFailure('unfit', 'not_paid', { retryAfterMs }));
    const leftMs = circuits.coolingForAllMs(openWith({}));
    expect([leftMs <= restMs, leftMs > restMs - 10_000]).toEqual([true, true]);
  });

  it('after work that failed lets one order through at a time, each later than the last, until one is delivered', async () => {
    const clock = new ControllableClock();
    const circuits = new MediaCircuits(new Cooldowns(clock));
    const ark = openWith({});
    for (let turn = 0; turn < 3; turn += 1) circuits.recordFailedWork(ark, ORDER);
    for (const restMs of [5_000, 10_000, 20_000]) {
      expect(circuits.coolingForMs(ark, ORDER)).toBe(restMs);
      expect(await circuits.admits(ark, { ...ORDER, accountId: 'acct_2' })).toBeDefined();
      clock.advance(restMs);
      const admission = await circuits.admits(ark, ORDER);
      if (!admission) throw new Error('not admitted');
      expect(await circuits.admits(ark, ORDER)).toBeUndefined();
      circuits.recordSuccess(ark, admission);
    }
    circuits.recordDelivery(ark, ORDER);
    expect(await circuits.admits(ark, ORDER)).toMatchObject({ probes: [] });
  });

  const fail = async (circuits: MediaCircuits, routed: ConfiguredMediaUpstream, ...accounts: string[]) => {
    const admissions = await Promise.all(accounts.map((accountId) => circuits.admits(routed, { ...ORDER, accountId })));
    for (const admission of admissions) if (admission) circuits.recordFailure(routed, admission);
  };

  it('begins for all accounts after three failures of two of them, and for one account after three of its own', async () => {
    const [one, two] = [new MediaCircuits(new Cooldowns(systemClock)), new MediaCircuits(new Cooldowns(systemClock))];
    const ark = openWith({});
    await fail(one, ark, 'a', 'a', 'a');
    expect([one.isCooling(ark), one.coolingForMs(ark, { ...ORDER, accountId: 'a' }) > 0]).toEqual([false, true]);
    await fail(two, ark, 'a', 'b', 'a');
    expect(two.isCooling(ark)).toBe(true);
  });

  it('does not last longer because orders fail that were under way when it began', async () => {
    const circuits = new MediaCircuits(new Cooldowns(new ControllableClock()));
    const ark = openWith({});
    await fail(circuits, ark, ...Array.from({ length: 12 }, () => ORDER.accountId));
    expect(circuits.coolingForMs(ark, ORDER)).toBe(5_000);
  });

  it('after an unknown model ends with that name of the model', async () => {
    const circuits = await unfit(new MediaFailure('unfit', 'wrong_key', { scope: 'model' }));
    expect(circuits.isCooling(openWith({ weight: 3 }), ORDER.model)).toBe(true);
    expect(circuits.isCooling(openWith({ models: { 'alpha-2.0': 'ep-2' } }), ORDER.model)).toBe(false);
  });

  const of = (accountId: string) => ({ ...ORDER, accountId });

  it('after refusals of two accounts ends with the next order of another that is taken, and lasts where that is refused too', async () => {
    const clock = new ControllableClock();
    const circuits = new MediaCircuits(new Cooldowns(clock));
    const ark = openWith({});
    const refused = new MediaFailure('unfit', 'not_served', { vendor: { status: 403 } });
    for (const accountId of ['a', 'b']) {
      const admission = await circuits.admits(ark, of(accountId));
      circuits.markMisconfigured(ark, refused, admission!);
    }
    expect(await circuits.admits(ark, of('c'))).toBeUndefined();
    clock.advance(5_000);
    expect([await circuits.admits(ark, of('a')), await circuits.admits(ark, of('b'))]).toEqual([undefined, undefined]);
    const probe = await circuits.admits(ark, of('c'));
    circuits.recordSuccess(ark, probe!);
    expect(circuits.coolingForMs(ark, of('d'))).toBe(0);
    expect([circuits.coolingForMs(ark, of('a')), circuits.coolingForMs(ark, of('b'))]).toEqual([595_000, 595_000]);
    const others = await Promise.all([circuits.admits(ark, of('d')), circuits.admits(ark, of('e'))]);
    for (const admission of others) circuits.markMisconfigured(ark, refused, admission!);
    clock.advance(5_000);
    circuits.markMisconfigured(ark, refused, (await circuits.admits(ark, of('f')))!);
    expect(circuits.coolingForMs(ark, of('g'))).toBe(600_000);
  });

  it('after failures of two accounts ends with the next order of another that works, which none of theirs can forestall', async () => {
    const clock = new ControllableClock();
    const circuits = new MediaCircuits(new Cooldowns(clock));
    const ark = openWith({});
    for (const accountId of ['a', 'b', 'a']) circuits.recordFailedWork(ark, of(accountId));
    clock.advance(5_000);
    expect([await circuits.admits(ark, of('a')), await circuits.admits(ark, of('b'))]).toEqual([undefined, undefined]);
    circuits.recordSuccess(ark, (await circuits.admits(ark, of('c')))!);
    circuits.recordDelivery(ark, of('c'));
    expect([circuits.coolingForMs(ark, of('d')), circuits.coolingForMs(ark, of('a'))]).toEqual([0, 5_000]);
    clock.advance(5_000);
    expect(await circuits.admits(ark, of('a'))).toBeDefined();
  });
});
