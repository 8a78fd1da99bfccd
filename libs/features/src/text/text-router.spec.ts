import { GatewayError, type ErrorCode, type TextProvider, type TextReply } from '#contracts';
import { Cooldowns } from '#platform';
import { ControllableClock } from '#testing';
import { TextRouter, type RoutableCall } from './text-router.js';
import { type TextUpstream, TextUpstreams } from '../upstreams/text-upstreams.js';
import { TextCircuits } from '../upstreams/upstream-circuits.js';

const ADA = 'acc_ada';

const CALL: RoutableCall = {
  requestId: 'req_1',
  accountId: ADA,
  style: 'responses',
  stream: false,
  model: 'vendor-5',
  request: () => {
    throw new Error('not read here');
  },
  native: () => ({ kind: 'rewritten', body: {} }),
  headers: {},
};
const REPLY: TextReply = { kind: 'events', events: (async function* () {})() };

/** A vendor that fails in turn as scripted, then replies. */
class ScriptedVendor implements TextProvider {
  readonly protocol = 'chat';
  asked = 0;

  constructor(
    readonly id: string,
    readonly failures: (ErrorCode | GatewayError)[] = [],
  ) {}

  call(): Promise<TextReply> {
    this.asked += 1;
    const failure = this.failures.shift();
    if (failure === undefined) return Promise.resolve(REPLY);
    return Promise.reject(failure instanceof GatewayError ? failure : new GatewayError(failure, `${this.id} failed`));
  }
}

const upstreamOf = (provider: TextProvider, { weight = 1, priority = 0 } = {}): TextUpstream => ({
  provider,
  healthName: provider.id,
  models: undefined,
  weight,
  priority,
});

function router(
  vendors: readonly (readonly [ScriptedVendor, { weight?: number; priority?: number }])[],
  random = () => 0.5,
  asked: Partial<RoutableCall> = {},
) {
  const clock = new ControllableClock();
  const upstreams = new TextUpstreams(
    vendors.map(([provider, settings]) => upstreamOf(provider, settings)),
    random,
  );
  const health = new TextCircuits(new Cooldowns(clock));
  const routing = new TextRouter(upstreams, health, clock, 10_000);
  return { clock, call: () => routing.call({ ...CALL, ...asked }, new AbortController().signal) };
}

/** Lets everything pending run, then moves the time on, repeatedly. */
async function sleepThrough(clock: ControllableClock, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3_200);
  }
}

describe('TextRouter', () => {
  it.each<ErrorCode>(['upstream_error', 'overloaded', 'upstream_rate_limited', 'upstream_timeout'])(
    'tries the next upstream on %s, and does not ask the first again',
    async (code) => {
      const first = new ScriptedVendor('first', [code]);
      const second = new ScriptedVendor('second');
      const { call } = router([
        [first, {}],
        [second, { priority: 1 }],
      ]);
      expect((await call()).upstreamId).toBe('second');
      expect([first.asked, second.asked]).toEqual([1, 1]);
    },
  );

  it('prefers the upstream of the reply that it goes on after, and tries others when it fails or is gone', async () => {
    const first = new ScriptedVendor('first');
    const second = new ScriptedVendor('second');
    const ask = async (upstreamId: string): Promise<string> => {
      const vendors = [[first, { priority: 0 }] as const, [second, { priority: 1 }] as const];
      return (await router(vendors, undefined, { goesOnAfter: { upstreamId } }).call()).upstreamId;
    };
    expect([await ask('second'), await ask('first'), await ask('gone')]).toEqual(['second', 'first', 'first']);
    second.failures.push('overloaded');
    expect(await ask('second')).toBe('first');
  });

  it('retries after a pause within the time budget, then reports the last failure', async () => {
    const passing = new ScriptedVendor('passing', ['overloaded', 'overloaded']);
    const { clock, call } = router([[passing, {}]]);
    const pending = call();
    await sleepThrough(clock, 2);
    expect((await pending).upstreamId).toBe('passing');

    const lasting = new ScriptedVendor(
      'lasting',
      Array.from({ length: 20 }, () => 'overloaded' as const),
    );
    const other = router([[lasting, {}]]);
    const failing = other.call().catch((error: unknown) => error);
    await sleepThrough(other.clock, 10);
    expect(await failing).toMatchObject({ code: 'overloaded' });
    expect(lasting.asked).toBeLessThanOrEqual(4);
  });

  it('asks an upstream once whose replies nobody can read, and others as often as usual', async () => {
    const unreadable = (): GatewayError => new GatewayError('upstream_error', 'x', { isUnreadable: true });
    const garbled = new ScriptedVendor('garbled', [unreadable(), unreadable()]);
    await expect(router([[garbled, {}]]).call()).rejects.toMatchObject({ code: 'upstream_error' });
    expect(garbled.asked).toBe(1);
    const busy = new ScriptedVendor('busy', ['overloaded', 'overloaded']);
    const beside = new ScriptedVendor('beside', [unreadable(), unreadable()]);
    const { clock, call } = router([
      [beside, {}],
      [busy, { priority: 1 }],
    ]);
    const pending = call();
    await sleepThrough(clock, 2);
    expect([(await pending).upstreamId, beside.asked, busy.asked]).toEqual(['busy', 1, 3]);
  });

  it('does not wait longer than its budget for an upstream that asks for more', async () => {
    const limited = new GatewayError('upstream_rate_limited', 'x', { retryAfterMs: 60_000 });
    const { call } = router([[new ScriptedVendor('limited', [limited]), {}]]);
    await expect(call()).rejects.toMatchObject({ code: 'upstream_rate_limited', retryAfterMs: 60_000 });
  });

  it('reports a mistake of the caller at once and asks no other upstream', async () => {
    const second = new ScriptedVendor('second');
    const { call } = router([
      [new ScriptedVendor('first', ['invalid_parameter']), {}],
      [second, { priority: 1 }],
    ]);
    await expect(call()).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(second.asked).toBe(0);
  });

  it('tries an upstream of another protocol when the first cannot express the request', async () => {
    const { call } = router([
      [new ScriptedVendor('first', ['unsupported_parameter']), {}],
      [new ScriptedVendor('second'), { priority: 1 }],
    ]);
    expect((await call()).upstreamId).toBe('second');
  });

  it.each([
    ['You may not do this.', undefined, 'second'],
    ['Your input was flagged.', undefined, undefined],
    ['No.', 'content_policy_violation', undefined],
  ])('asks another account where one may not do it: "%s" %s', async (message, upstreamCode, served) => {
    const denied = new GatewayError('permission_denied', message, upstreamCode === undefined ? {} : { upstreamCode });
    const second = new ScriptedVendor('second');
    const { call } = router([
      [new ScriptedVendor('first', [denied]), {}],
      [second, { priority: 1 }],
    ]);
    const outcome = await call().catch((error: unknown) => error);
    expect(outcome).toMatchObject(served === undefined ? { code: 'permission_denied' } : { upstreamId: served });
    expect(second.asked).toBe(served === undefined ? 0 : 1);
    const alone = router([[new ScriptedVendor('first', [denied]), {}]]);
    await expect(alone.call()).rejects.toMatchObject({ code: 'permission_denied', publicMessage: message });
  });

  it('distributes requests by weight within the best priority', () => {
    let turn = 0;
    const upstreams = new TextUpstreams(
      [
        upstreamOf(new ScriptedVendor('heavy'), { weight: 9, priority: 0 }),
        upstreamOf(new ScriptedVendor('light'), { weight: 1, priority: 0 }),
        upstreamOf(new ScriptedVendor('spare'), { weight: 100, priority: 1 }),
        upstreamOf(new ScriptedVendor('off'), { weight: 0, priority: 0 }),
      ],
      () => ((turn += 1) * 0.618_033_988_75) % 1,
    );
    const firsts = Array.from({ length: 2_000 }, () => upstreams.routes('vendor-5')[0]?.upstream.provider.id);
    const share = firsts.filter((id) => id === 'heavy').length / firsts.length;
    expect(share).toBeGreaterThan(0.85);
    expect(share).toBeLessThan(0.95);
    expect(new Set(firsts)).toEqual(new Set(['heavy', 'light']));
  });

  it('counts a request once, however often it asks', async () => {
    const vendor = new ScriptedVendor(
      'a',
      Array.from({ length: 8 }, () => 'upstream_error' as const),
    );
    const { clock, call } = router([[vendor, {}]]);
    for (const asked of [4, 8]) {
      const failing = call().catch((error: unknown) => error);
      await sleepThrough(clock, 6);
      expect([await failing, vendor.asked]).toMatchObject([{ code: 'upstream_error' }, asked]);
    }
    expect((await call()).upstreamId).toBe('a');
  });

  it('cools down an upstream whose streams break in the middle, and resets the count at a completed one', async () => {
    const vendor = new ScriptedVendor('a');
    const { clock, call } = router([[vendor, {}]], undefined, { stream: true });
    const broken = new GatewayError('upstream_error', 'broke off');
    for (const failure of [broken, broken, undefined, broken, broken, broken]) (await call()).ended(failure);
    const failing = call().catch((error: unknown) => error);
    await sleepThrough(clock, 6);
    expect(vendor.asked).toBeGreaterThanOrEqual(6);
    expect(await failing).toMatchObject({ upstreamId: 'a' });
  });

  it('suggests a similar model for an unknown one', () => {
    const upstreams = new TextUpstreams([]);
    expect(() => upstreams.routes('vendor-6')).toThrow(/Did you mean "vendor-5"/);
    expect(() => upstreams.routes('vendor-5')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });
});

describe('TextUpstreams', () => {
  it('move a running request to the replacement of its upstream, and away from a removed one', () => {
    const [old, spare, replacement] = ['a', 'b', 'a'].map((id) => upstreamOf(new ScriptedVendor(id))) as [
      TextUpstream,
      TextUpstream,
      TextUpstream,
    ];
    const upstreams = new TextUpstreams([old, spare]);
    const [toOld, toSpare] = upstreams
      .routes('vendor-5')
      .toSorted((one, other) => one.upstream.provider.id.localeCompare(other.upstream.provider.id));
    if (!toOld || !toSpare) throw new Error('two upstreams give two routes');
    expect(upstreams.current(toOld, 'vendor-5')).toBe(toOld);
    upstreams.exchange([replacement]);
    expect(upstreams.current(toOld, 'vendor-5')?.upstream).toBe(replacement);
    expect(upstreams.current(toSpare, 'vendor-5')).toBeUndefined();
  });
});
