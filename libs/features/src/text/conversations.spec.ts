import { type ErrorCode, GatewayError, type TextProvider, type TextReply } from '#contracts';
import { configureLog, Cooldowns, signals } from '#platform';
import { ControllableClock, memoryRise } from '#testing';
import { type TextUpstream, TextUpstreams } from '../upstreams/text-upstreams.js';
import { TextCircuits } from '../upstreams/upstream-circuits.js';
import { conversationKey } from './conversation-key.js';
import { Conversations } from './conversations.js';
import { type RoutableCall, type RoutedReply, TextRouter } from './text-router.js';

const MINUTE = 60_000;

/** A vendor that fails as long as it is told to. */
class Vendor implements TextProvider {
  readonly protocol = 'chat';
  failure: GatewayError | undefined;
  asked = 0;
  /** The boundaries that came with what passed through. */
  readonly provenFrom: (string | undefined)[] = [];
  withoutProofs = false;

  constructor(readonly id: string) {}

  fails(code: ErrorCode | undefined): void {
    this.failure = code && new GatewayError(code, `${this.id} failed`);
  }

  call(call: Parameters<TextProvider['call']>[0]): Promise<TextReply> {
    this.asked += 1;
    if (this.failure) return Promise.reject(this.failure);
    const sent = call.native('mark');
    this.provenFrom.push(sent.kind === 'rewritten' ? (sent.body['provenFrom'] as string | undefined) : undefined);
    return Promise.resolve({
      kind: 'events',
      events: (async function* () {})(),
      ...(this.withoutProofs && { withoutProofs: 'left_out' as const }),
    });
  }
}

type Settings = Partial<TextUpstream>;

/** One API process. Its clock is that of all. */
function processOf(clock: ControllableClock, upstreams: TextUpstreams, minutes = 60) {
  const conversations = new Conversations(clock, minutes);
  const circuits = new TextCircuits(new Cooldowns(clock));
  const router = new TextRouter(upstreams, circuits, clock, 0, undefined, conversations);
  const route = ({
    session,
    account = 'ada',
    model = 'm',
    said = 'Hello',
    answered = true,
    bound = false,
    continues,
    proof,
    stream = false,
  }: Asked = {}): Promise<RoutedReply> => {
    const messages = [{ role: 'user', content: said }, ...(answered ? [{ role: 'assistant', content: 'Yes' }] : [])];
    const call: RoutableCall = {
      requestId: 'req_1',
      accountId: account,
      style: 'chat',
      stream,
      model,
      request: () => {
        throw new Error('not read here');
      },
      native: (_account, provenFrom) => ({ kind: 'rewritten', body: provenFrom === undefined ? {} : { provenFrom } }),
      headers: {},
      conversation: {
        key: () => conversationKey({ accountId: account, model, style: 'chat', session, body: { messages } }),
        continues,
        lastProof: () => proof,
        isBound: () => bound,
      },
    };
    return router.call(call, new AbortController().signal);
  };
  return {
    conversations,
    route,
    /** One request of a conversation, named by its session, or told by its beginning. */
    ask: async (asked: Asked = {}): Promise<string> => (await route(asked)).upstreamId,
  };
}

interface Asked {
  readonly session?: string;
  readonly account?: string;
  readonly model?: string;
  readonly said?: string;
  readonly answered?: boolean;
  readonly bound?: boolean;
  readonly continues?: { readonly upstream: string; readonly account: string };
  readonly proof?: string;
  readonly stream?: boolean;
}

const upstreamOf = (provider: TextProvider, settings: Settings = {}): TextUpstream => ({
  provider,
  healthName: provider.id,
  models: new Map([
    ['m', 'theirs'],
    ['n', 'theirs'],
  ]),
  weight: 1,
  priority: 0,
  access: 'key',
  ...settings,
});

/** Two vendor accounts for one model, and a process in front of them. */
function gateway(settings: { a?: Settings; b?: Settings } = {}, minutes?: number) {
  const clock = new ControllableClock();
  const [a, b] = [new Vendor('a'), new Vendor('b')];
  const upstreams = new TextUpstreams([upstreamOf(a, settings.a), upstreamOf(b, settings.b)]);
  const of = (id: string): Vendor => (id === 'a' ? a : b);
  return {
    ...processOf(clock, upstreams, minutes),
    clock,
    a,
    b,
    upstreams,
    of,
    other: (id: string): string => (id === 'a' ? 'b' : 'a'),
    /** Changes the settings of one of them, as an operator would. */
    change: (id: string, changed: Settings | 'removed') =>
      upstreams.exchange(
        upstreams.all.flatMap((upstream) => {
          if (upstream.provider.id !== id) return [upstream];
          return changed === 'removed' ? [] : [{ ...upstream, ...changed }];
        }),
      ),
  };
}

const SESSIONS = Array.from({ length: 1_000 }, (_, index) => `session ${index}`);

describe('A conversation', () => {
  it('stays at one upstream for all its turns, by its name and by its beginning', async () => {
    const { ask } = gateway();
    for (const asked of [{ session: 's' }, { said: 'alone' }]) {
      const first = await ask({ ...asked, answered: false });
      const turns = await Promise.all(Array.from({ length: 20 }, () => ask(asked)));
      expect(new Set(turns)).toEqual(new Set([first]));
    }
  });

  it('is its own of each account and each model, whatever they name it', async () => {
    const test = gateway();
    const first = await test.ask({ session: 's' });
    test.of(first).fails('overloaded');
    await test.ask({ session: 's' });
    test.of(first).fails(undefined);
    // Only the conversation that moved is remembered elsewhere.
    const [fresh] = [gateway()];
    for (const asked of [{ account: 'bob' }, { model: 'n' }])
      expect(await test.ask({ session: 's', ...asked })).toBe(await fresh.ask({ session: 's', ...asked }));
    expect(await test.ask({ session: 's' })).toBe(test.other(first));
  });

  it.each<ErrorCode>(['upstream_error', 'overloaded', 'upstream_rate_limited', 'upstream_timeout'])(
    'goes on at the next upstream in the same request when its own fails with %s, and stays there',
    async (code) => {
      const test = gateway();
      const first = await test.ask({ session: 's' });
      test.of(first).fails(code);
      expect(await test.ask({ session: 's' })).toBe(test.other(first));
      test.of(first).fails(undefined);
      const asked = test.of(first).asked;
      expect(await test.ask({ session: 's' })).toBe(test.other(first));
      expect(test.of(first).asked).toBe(asked);
    },
  );

  it.each<[string, Settings | 'removed']>([
    ['is switched off or removed', 'removed'],
    ['has no weight any more', { weight: 0 }],
    ['has another key', { access: 'other' }],
    ['no longer names the model', { models: new Map() }],
  ])('goes on at the other upstream when its own %s', async (_what, changed) => {
    const test = gateway();
    const first = await test.ask({ session: 's' });
    test.change(first, changed);
    expect(await test.ask({ session: 's' })).toBe(test.other(first));
  });

  it("stays where it is after a refusal that is the caller's", async () => {
    const test = gateway();
    const first = await test.ask({ session: 's' });
    test.of(first).fails('invalid_parameter');
    await expect(test.ask({ session: 's' })).rejects.toMatchObject({ code: 'invalid_parameter' });
    test.of(first).fails(undefined);
    expect([await test.ask({ session: 's' }), test.of(test.other(first)).asked]).toEqual([first, 0]);
  });

  it('is chosen anew behind a stream that its upstream broke, and not behind one that ended well', async () => {
    const test = gateway({ b: { weight: 0.000_001 } });
    const broken = new GatewayError('upstream_error', 'broke off');
    const { route } = test;
    test.a.fails('overloaded');
    expect((await route({ session: 's', stream: true })).upstreamId).toBe('b');
    test.a.fails(undefined);
    (await route({ session: 's', stream: true })).ended();
    expect(await test.ask({ session: 's' })).toBe('b');
    (await route({ session: 's', stream: true })).ended(new GatewayError('invalid_parameter', 'of the caller'));
    expect(await test.ask({ session: 's' })).toBe('b');
    (await route({ session: 's', stream: true })).ended(broken);
    expect(await test.ask({ session: 's' })).toBe('a');
  });

  it('is answered with the time to wait when all cool down, and served again later', async () => {
    const test = gateway();
    await test.ask({ session: 's' });
    for (const vendor of [test.a, test.b]) vendor.fails('upstream_rate_limited');
    await expect(test.ask({ session: 's' })).rejects.toMatchObject({ retryAfterMs: expect.any(Number) as number });
    for (const vendor of [test.a, test.b]) vendor.fails(undefined);
    await expect(test.ask({ session: 's' })).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: expect.any(Number) as number,
    });
    test.clock.advance(10_000);
    expect(['a', 'b']).toContain(await test.ask({ session: 's' }));
  });

  it('stays ten minutes at a worse priority when the better one is there again, then returns', async () => {
    const test = gateway({ b: { priority: 1 } });
    test.a.fails('upstream_rate_limited');
    expect(await test.ask({ session: 's' })).toBe('b');
    test.a.fails(undefined);
    for (const minutes of [3, 3, 3]) {
      test.clock.advance(minutes * MINUTE);
      expect(await test.ask({ session: 's' })).toBe('b');
    }
    expect(await test.ask({ session: 'new' })).toBe('a');
    test.clock.advance(MINUTE);
    expect([await test.ask({ session: 's' }), await test.ask({ session: 's' })]).toEqual(['a', 'a']);
  });

  it('stays at its worse priority while the better one still fails after ten minutes', async () => {
    const test = gateway({ b: { priority: 1 } });
    test.a.fails('upstream_rate_limited');
    await test.ask({ session: 's' });
    test.clock.advance(11 * MINUTE);
    expect(await test.ask({ session: 's' })).toBe('b');
  });

  it('is forgotten after its minutes, and not while it goes on', async () => {
    const test = gateway({ b: { weight: 0.000_001 } });
    test.a.fails('upstream_rate_limited');
    await test.ask({ session: 's' });
    test.a.fails(undefined);
    for (let turn = 0; turn < 5; turn += 1) {
      test.clock.advance(40 * MINUTE);
      expect(await test.ask({ session: 's' })).toBe('b');
    }
    test.clock.advance(61 * MINUTE);
    expect(await test.ask({ session: 's' })).toBe('a');
  });

  it('goes on at the upstream that wrote the stored response it continues', async () => {
    const test = gateway();
    for (const id of ['a', 'b', 'a'])
      expect(await test.ask({ session: 's', continues: { upstream: id, account: id } })).toBe(id);
    expect(['a', 'b']).toContain(await test.ask({ continues: { upstream: 'gone', account: 'gone' } }));
  });

  it('prefers another upstream of the same vendor account when its own is away', async () => {
    const clock = new ControllableClock();
    const vendors = ['a', 'b', 'c', 'd'].map((id) => new Vendor(id));
    const accounts = ['one', 'two', 'two', 'two'];
    const upstreams = new TextUpstreams(
      vendors.map((vendor, place) => upstreamOf(vendor, { vendorAccount: accounts[place] ?? '' })),
    );
    const { ask } = processOf(clock, upstreams);
    const left = new Set<string>();
    for (const session of SESSIONS.slice(0, 50)) {
      const first = await ask({ session });
      const vendor = vendors.find(({ id }) => id === first);
      vendor?.fails('overloaded');
      if (first !== 'a') left.add(await ask({ session }));
      vendor?.fails(undefined);
      clock.advance(MINUTE);
    }
    expect(left).toEqual(new Set(['b', 'c', 'd']));
  });
});

describe('Conversations over several upstreams', () => {
  const share = (chosen: readonly string[], id: string): number =>
    chosen.filter((one) => one === id).length / chosen.length;

  it('are shared out by weight where equal single requests name none', async () => {
    const { ask } = gateway({ a: { weight: 3 } });
    const chosen: string[] = [];
    for (let turn = 0; turn < 4_000; turn += 1) chosen.push(await ask({ answered: false }));
    expect(Math.abs(share(chosen, 'a') - 0.75)).toBeLessThan(0.05);
  });

  it('are shared out by weight and alike at processes that share nothing', async () => {
    const clock = new ControllableClock();
    const upstreams = new TextUpstreams([upstreamOf(new Vendor('a'), { weight: 3 }), upstreamOf(new Vendor('b'))]);
    const processes = [1, 2, 3].map(() => processOf(clock, upstreams));
    const chosen: string[] = [];
    for (const session of SESSIONS) {
      const places = await Promise.all(processes.map(({ ask }) => ask({ session })));
      expect(new Set(places).size).toBe(1);
      chosen.push(places[0] ?? '');
    }
    expect(Math.abs(share(chosen, 'a') - 0.75)).toBeLessThan(0.05);
  });

  it('move only as far as a new upstream takes its share of new ones', async () => {
    const vendors = ['a', 'b', 'c'].map((id) => upstreamOf(new Vendor(id)));
    const [before, after] = [vendors.slice(0, 2), vendors].map((all) =>
      processOf(new ControllableClock(), new TextUpstreams(all)),
    );
    const moved: string[] = [];
    for (const session of SESSIONS) {
      const [was, is] = [await before?.ask({ session }), await after?.ask({ session })];
      if (was !== is) moved.push(is ?? '');
    }
    expect(new Set(moved)).toEqual(new Set(['c']));
    expect(Math.abs(moved.length / SESSIONS.length - 1 / 3)).toBeLessThan(0.05);
  });

  it('leave an upstream that is away for all others, not for one of them', async () => {
    const clock = new ControllableClock();
    const vendors = ['a', 'b', 'c', 'd'].map((id) => new Vendor(id));
    const { ask } = processOf(clock, new TextUpstreams(vendors.map((vendor) => upstreamOf(vendor))));
    const ofA: string[] = [];
    for (const session of SESSIONS) if ((await ask({ session })) === 'a') ofA.push(session);
    vendors[0]?.fails('upstream_rate_limited');
    const chosen: string[] = [];
    for (const session of ofA) chosen.push(await ask({ session }));
    for (const id of ['b', 'c', 'd']) expect(share(chosen, id)).toBeGreaterThan(0.2);
  });

  it('do not stay at an upstream that is not sticky, and everywhere draw by chance when nothing is remembered', async () => {
    const { ask } = gateway({ a: { sticky: false }, b: { sticky: false } });
    const turns = await Promise.all(Array.from({ length: 100 }, () => ask({ session: 's' })));
    expect(new Set(turns)).toEqual(new Set(['a', 'b']));
  });

  it('are remembered up to 10,000 of one account, the latest ones, and 60,000 within 25 MB', async () => {
    const { conversations } = gateway();
    const binding = { upstream: 'a', account: 'a', sinceMs: 1 };
    const most = 25 * 1024 * 1024;
    const { bytes } = await memoryRise(most, () => {
      for (let index = 0; index < 60_000; index += 1)
        conversations.keep(index.toString(16).padStart(32, '0'), `account ${index % 3}`, { ...binding });
    });
    expect(bytes).toBeLessThan(most);
    const known = conversations as unknown as { routingOf: Conversations['routingOf'] };
    const stayOf = async (index: number) => {
      const key = index.toString(16).padStart(32, '0');
      const asked = { key: () => ({ key, isKnown: true }), lastProof: () => undefined, isBound: () => false };
      const asker = { requestId: 'r', accountId: `account ${index % 3}`, model: 'm' };
      const routing = await known.routingOf(asker, asked, 2);
      const routes = ['b', 'a'].map((id) => ({ upstream: upstreamOf(new Vendor(id)), upstreamModel: 'm' }));
      return routing?.order(routes)[0]?.upstream.provider.id;
    };
    expect([await stayOf(0), await stayOf(29_999), await stayOf(30_001), await stayOf(59_999)]).toEqual([
      'b',
      'b',
      'a',
      'a',
    ]);
  });
});

describe('What becomes of conversations', () => {
  const countsOf = async (): Promise<Record<string, number>> => {
    const [outcomes, moves] = await Promise.all([signals.conversations.get(), signals.conversationMoves.get()]);
    const counts = [
      ...outcomes.values.map(({ labels, value }) => [String(labels.outcome), value] as const),
      ...moves.values.map(({ labels, value }) => [String(labels.reason), value] as const),
    ];
    const sums: Record<string, number> = {};
    for (const [what, value] of counts) sums[what] = (sums[what] ?? 0) + value;
    return sums;
  };

  it.each<[string, (test: ReturnType<typeof gateway>) => void, string, string]>([
    ['a failure', ({ a }) => a.fails('upstream_error'), 'moved', 'upstream_error'],
    ['the limit of its vendor', ({ a }) => a.fails('upstream_rate_limited'), 'moved', 'upstream_rate_limited'],
    ['its removal', ({ change }) => change('a', 'removed'), 'void', 'gone'],
    ['another key', ({ change }) => change('a', { access: 'other' }), 'void', 'changed'],
  ])('is counted, and told in the log without its name, with the reason: %s', async (_why, end, outcome, reason) => {
    const lines: string[] = [];
    configureLog({ LOG_LEVEL: 'info' }, { write: (line) => void lines.push(line) });
    const test = gateway({ b: { priority: 1 } });
    const before = await countsOf();
    for (let turn = 0; turn < 3; turn += 1) await test.ask({ session: 'nobody-sees-this-session 1' });
    end(test);
    expect(await test.ask({ session: 'nobody-sees-this-session 1' })).toBe('b');
    const after = await countsOf();
    const counted = Object.entries(after).flatMap(([what, count]) => {
      const more = count - (before[what] ?? 0);
      return more === 0 ? [] : [[what, more] as const];
    });
    expect(Object.fromEntries(counted)).toEqual({ new: 1, kept: 2, [outcome]: 1, [reason]: 1 });
    const moved = lines
      .filter((line) => line.includes('"conversation.moved"'))
      .map((line) => JSON.parse(line) as object);
    const conversation = expect.stringMatching(/^[0-9a-f]{8}$/) as string;
    expect(moved).toEqual([expect.objectContaining({ conversation, model: 'm', from: 'a', to: 'b', reason })]);
    expect(lines.join('')).not.toContain('nobody-sees-this-session');
  });
});

describe('A conversation that cannot leave its vendor account', () => {
  it.each([
    ['because it refers to what is there alone', { bound: true }, {}],
    ['because its upstream keeps all of them', {}, { sticky: 'forced' as const }],
  ])('waits for it with 503 and a time, %s', async (_why, asked, settings) => {
    const test = gateway({ a: settings, b: settings });
    const first = await test.ask({ session: 's' });
    test.of(first).fails('upstream_rate_limited');
    const refused = { code: 'overloaded', retryAfterMs: expect.any(Number) as number };
    await expect(test.ask({ session: 's', ...asked })).rejects.toMatchObject(refused);
    await expect(test.ask({ session: 's', ...asked })).rejects.toMatchObject(refused);
    expect(test.of(test.other(first)).asked).toBe(0);
    test.of(first).fails(undefined);
    test.clock.advance(10_000);
    expect(await test.ask({ session: 's', ...asked })).toBe(first);
    test.change(first, 'removed');
    expect(await test.ask({ session: 's', ...asked })).toBe(test.other(first));
  });
});

describe('A conversation that refers to what one vendor account alone has, of which nobody knows where it lives', () => {
  const asked = { session: 's', bound: true };

  it('is asked at each until one takes it, and stays there', async () => {
    const test = gateway({ b: { priority: 1 } });
    test.a.fails('invalid_parameter');
    expect([await test.ask(asked), await test.ask(asked), test.a.asked]).toEqual(['b', 'b', 1]);
  });

  it('is refused once all have refused it, and answered with the time to wait while one is away', async () => {
    const test = gateway({ b: { priority: 1 } });
    for (const vendor of [test.a, test.b]) vendor.fails('invalid_parameter');
    await expect(test.ask(asked)).rejects.toMatchObject({ code: 'invalid_parameter' });
    test.b.fails('upstream_rate_limited');
    const waits = { code: 'overloaded', retryAfterMs: expect.any(Number) as number };
    await expect(test.ask(asked)).rejects.toMatchObject(waits);
    // Now it cools down.
    await expect(test.ask(asked)).rejects.toMatchObject(waits);
    expect([test.a.asked, test.b.asked]).toEqual([3, 2]);
  });

  it('is not sought at others where it refers to nothing of the kind', async () => {
    const test = gateway({ b: { priority: 1 } });
    test.a.fails('invalid_parameter');
    await expect(test.ask({ session: 's' })).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(test.b.asked).toBe(0);
  });
});

describe('Proofs of reasoning of a conversation', () => {
  it('are left behind where it moves to another account, up to the last one that was there then, and in every turn after', async () => {
    const test = gateway();
    const first = await test.ask({ session: 's', proof: 'one' });
    test.of(first).fails('overloaded');
    await test.ask({ session: 's', proof: 'two' });
    test.of(first).fails(undefined);
    await test.ask({ session: 's', proof: 'three' });
    expect(test.of(test.other(first)).provenFrom).toEqual(['two', 'two']);
    test.of(test.other(first)).fails('overloaded');
    await test.ask({ session: 's', proof: 'four' });
    expect(test.of(first).provenFrom).toEqual([undefined, 'four']);
  });

  it('go to every upstream of their vendor account', async () => {
    const settings = { vendorAccount: 'organisation' };
    const test = gateway({ a: settings, b: settings });
    const first = await test.ask({ session: 's' });
    test.of(first).fails('overloaded');
    await test.ask({ session: 's', proof: 'two' });
    expect(test.of(test.other(first)).provenFrom).toEqual([undefined]);
  });

  it('that an upstream refused are left behind in later turns', async () => {
    const test = gateway();
    const first = await test.ask({ session: 's' });
    test.of(first).withoutProofs = true;
    await test.ask({ session: 's', proof: 'lost' });
    test.of(first).withoutProofs = false;
    await test.ask({ session: 's', proof: 'new' });
    expect(test.of(first).provenFrom).toEqual([undefined, undefined, 'lost']);
  });

  it('are left behind also where one upstream is all that is left of two', async () => {
    const test = gateway();
    const first = await test.ask({ session: 's' });
    test.change(first, 'removed');
    await test.ask({ session: 's', proof: 'one' });
    await test.ask({ session: 's', proof: 'two' });
    expect(test.of(test.other(first)).provenFrom).toEqual(['one', 'one']);
  });
});
