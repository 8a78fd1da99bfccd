import { GatewayError, type ErrorCode, type TextProvider, type TextReply } from '#contracts';
import { Cooldowns } from '#platform';
import { ControllableClock } from '#testing';
import { TextRouter, type RoutableCall } from './text-router.js';
import { type TextUpstream, TextUpstreams } from './text-upstreams.js';
import { UpstreamHealth } from './upstream-health.js';

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

/** A vendor that fails in turn as told, then replies. */
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
) {
  const clock = new ControllableClock();
  const upstreams = new TextUpstreams(
    vendors.map(([provider, settings]) => upstreamOf(provider, settings)),
    random,
  );
  const health = new UpstreamHealth(new Cooldowns(clock));
  const routing = new TextRouter(upstreams, health, clock, 10_000);
  return { clock, call: () => routing.call(CALL, new AbortController().signal) };
}

/** Lets everything pending run, then moves the time on, again and again. */
async function sleepThrough(clock: ControllableClock, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3_200);
  }
}

describe('TextRouter', () => {
  it.each<ErrorCode>(['upstream_error', 'overloaded', 'rate_limit_exceeded', 'upstream_timeout'])(
    'goes to the next upstream on %s, and does not ask the first again',
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

  it('asks again after a pause while the budget of time lasts, then tells the last failure', async () => {
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

  it('does not wait longer than its budget for an upstream that asks for more', async () => {
    const limited = new GatewayError('rate_limit_exceeded', 'x', { retryAfterMs: 60_000 });
    const { call } = router([[new ScriptedVendor('limited', [limited]), {}]]);
    await expect(call()).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterMs: 60_000 });
  });

  it('tells the caller its own mistake at once and asks nobody else', async () => {
    const second = new ScriptedVendor('second');
    const { call } = router([
      [new ScriptedVendor('first', ['invalid_parameter']), {}],
      [second, { priority: 1 }],
    ]);
    await expect(call()).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(second.asked).toBe(0);
  });

  it('asks an upstream of another protocol for what the first cannot say', async () => {
    const { call } = router([
      [new ScriptedVendor('first', ['unsupported_parameter']), {}],
      [new ScriptedVendor('second'), { priority: 1 }],
    ]);
    expect((await call()).upstreamId).toBe('second');
  });

  it('shares requests by weight within a priority, and leaves higher priorities alone', () => {
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

  it('names a near model for an unknown one', () => {
    const upstreams = new TextUpstreams([]);
    expect(() => upstreams.routes('vendor-6')).toThrow(/Did you mean "vendor-5"/);
    expect(() => upstreams.routes('vendor-5')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });
});

describe('TextUpstreams', () => {
  it('lead a request that is under way to the upstream that took the place of its own, and from one that is gone', () => {
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

describe('UpstreamHealth', () => {
  const failure = new GatewayError('upstream_error', 'x');
  const limited = (retryAfterMs: number) => new GatewayError('rate_limit_exceeded', 'x', { retryAfterMs });
  const a = upstreamOf(new ScriptedVendor('a'));

  function watch() {
    const clock = new ControllableClock();
    const cooldowns = new Cooldowns(clock);
    return { clock, health: new UpstreamHealth(cooldowns), other: new UpstreamHealth(cooldowns) };
  }
  const fail = (health: UpstreamHealth, times: number): void => {
    for (let count = 0; count < times; count += 1) health.failed(a, ADA, failure);
  };

  it('lets an upstream rest after three failures, admits one probe, and takes it back when that succeeds', async () => {
    const { clock, health } = watch();
    for (let count = 0; count < 3; count += 1) {
      expect(health.admits(a, ADA)).toBe(true);
      health.failed(a, ADA, failure);
    }
    expect(health.admits(a, ADA)).toBe(false);
    clock.advance(5_000);
    expect(await Promise.all([health.admits(a, ADA), health.admits(a, ADA)])).toEqual([true, false]);
    health.succeeded(a, ADA);
    expect([health.admits(a, ADA), health.admits(a, ADA)]).toEqual([true, true]);
  });

  it('doubles the rest when the probe fails', async () => {
    const { clock, health } = watch();
    fail(health, 3);
    clock.advance(5_000);
    expect(await health.admits(a, ADA)).toBe(true);
    health.failed(a, ADA, failure);
    expect(health.restMs(a, ADA)).toBe(10_000);
  });

  it('does not lengthen the rest for requests that were under way when it began, however many fail', () => {
    const { health } = watch();
    fail(health, 12);
    expect(health.restMs(a, ADA)).toBe(5_000);
  });

  it('needs three failures again after it was taken back', async () => {
    const { clock, health, other } = watch();
    fail(health, 3);
    clock.advance(5_000);
    await other.admits(a, ADA);
    other.succeeded(a, ADA);
    fail(health, 2);
    expect(health.admits(a, ADA)).toBe(true);
  });

  it('rests as long as a rate limit asks, whatever requests that came before it succeed', () => {
    const { health } = watch();
    health.failed(a, ADA, limited(42_000));
    health.succeeded(a, ADA);
    expect(health.restMs(a, ADA)).toBe(42_000);
  });

  it('keeps away from an upstream that another replica let rest', async () => {
    const { clock, health, other } = watch();
    health.failed(a, ADA, limited(1_000));
    expect(other.admits(a, ADA)).toBe(false);
    clock.advance(1_000);
    expect(await other.admits(a, ADA)).toBe(true);
    other.succeeded(a, ADA);
    expect(health.admits(a, ADA)).toBe(true);
  });

  it('begins anew for an upstream whose settings were changed', () => {
    const { health } = watch();
    fail(health, 3);
    expect(health.admits({ ...a, healthName: 'a@changed' }, ADA)).toBe(true);
  });

  it('rests for the account alone whose requests fail, and for all when those of three accounts do', () => {
    const { health } = watch();
    const failFor = (account: string): void => {
      for (let count = 0; count < 3; count += 1) health.failed(a, account, failure);
    };
    for (const account of ['one', 'two']) failFor(account);
    expect([health.admits(a, 'one'), health.admits(a, ADA), health.isCoolingForAll(a)]).toEqual([false, true, false]);
    failFor('three');
    expect([health.admits(a, ADA), health.isCoolingForAll(a)]).toEqual([false, true]);
  });

  it('counts no account against it whose failures a success of another disproved', () => {
    const { health } = watch();
    for (const account of ['one', 'two', 'three', 'four']) {
      for (let count = 0; count < 3; count += 1) health.failed(a, account, failure);
      health.succeeded(a, ADA);
    }
    expect([health.admits(a, ADA), health.admits(a, 'four'), health.isCoolingForAll(a)]).toEqual([true, false, false]);
  });

  it('comes back for all when the probe of any account succeeds', async () => {
    const { clock, health } = watch();
    const accounts = ['one', 'two', 'three'];
    for (const account of accounts) health.failed(a, account, limited(60_000));
    clock.advance(5_000);
    expect(await health.admits(a, ADA)).toBe(true);
    health.succeeded(a, ADA);
    expect([...accounts, ADA].map((account) => health.admits(a, account))).toEqual([true, true, true, true]);
  });

  it('is not kept away by the failed probes of one account alone', async () => {
    const { clock, health } = watch();
    for (const account of ['one', 'two', 'three']) health.failed(a, account, limited(1_000));
    for (let probe = 0; probe < 6; probe += 1) {
      clock.advance(120_000);
      expect(await health.admits(a, 'one')).toBe(true);
      health.failed(a, 'one', failure);
    }
    expect([health.restMs(a, 'one'), health.restMs(a, ADA)]).toEqual([120_000, 5_000]);
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
});
