import { Cooldowns, systemClock } from '#platform';
import { MediaFailure } from '#contracts';
import { type ConfiguredMediaUpstream, MediaUpstreamEntry, openMediaUpstreams, TextConfig } from '#providers';
import { ControllableClock } from '#testing';
import { MediaHealth } from './media-health.js';

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

  async function unfit(failure: MediaFailure): Promise<MediaHealth> {
    const health = new MediaHealth(new Cooldowns(systemClock));
    const before = openWith({});
    const admission = await health.admits(before, ORDER);
    if (!admission) throw new Error('not admitted');
    health.wasUnfit(before, failure, admission);
    return health;
  }

  it('after a wrong key ends with that key, and with that address', async () => {
    const health = await unfit(new MediaFailure('unfit', 'wrong_key'));
    expect(health.isCooling(openWith({}))).toBe(true);
    expect(health.isCooling(openWith({ id: 'images', protocol: 'ark-image', models: 'all' }))).toBe(true);
    expect(health.isCooling(openWith({ key: 'another-key' }))).toBe(false);
    expect(health.isCooling(openWith({ base_url: 'https://ark.cn-beijing.volces.com/api/v3' }))).toBe(false);
  });

  it('after work that failed lets one order through at a time, each later than the last, until one is delivered', async () => {
    const clock = new ControllableClock();
    const health = new MediaHealth(new Cooldowns(clock));
    const ark = openWith({});
    for (let turn = 0; turn < 3; turn += 1) health.failedWorkOf(ark, ORDER);
    for (const restMs of [5_000, 10_000, 20_000]) {
      expect(health.coolingForMs(ark, ORDER)).toBe(restMs);
      expect(await health.admits(ark, { ...ORDER, accountId: 'acct_2' })).toBeDefined();
      clock.advance(restMs);
      const admission = await health.admits(ark, ORDER);
      if (!admission) throw new Error('not admitted');
      expect(await health.admits(ark, ORDER)).toBeUndefined();
      health.answered(ark, admission);
    }
    health.delivered(ark, ORDER);
    expect(await health.admits(ark, ORDER)).toMatchObject({ probes: [] });
  });

  it('after an unknown model ends with that name of the model', async () => {
    const health = await unfit(new MediaFailure('unfit', 'wrong_key', { scope: 'model' }));
    expect(health.isCooling(openWith({ weight: 3 }), ORDER.model)).toBe(true);
    expect(health.isCooling(openWith({ models: { 'alpha-2.0': 'ep-2' } }), ORDER.model)).toBe(false);
  });
});
