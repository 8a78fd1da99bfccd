import { Readable } from 'node:stream';
import { failedBecause, MediaFailure, type MediaReason } from '#contracts';
import { type Database, signals } from '#platform';
import { eventually, pngSample } from '#testing';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { fleetSources } from '../../operations/fleet-sources.js';
import { UpstreamPoller } from '../poll/upstream-poller.js';
import { DeadlineKeeper } from '../run/deadline-keeper.js';
import { attempt, order, orderTogether } from '../run/testing/order-tasks.js';
import { ScriptedUpstream } from '../run/testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

async function addPayer(database: Database, id: string): Promise<void> {
  await database.query({
    text: `insert into account (id, name, available_micros) values ($1::text, $1::text, 1000000000)`,
    values: [id],
  });
  await database.query({
    text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key_' || $1::text, $1::text, 'k', 'sk', convert_to($1::text, 'UTF8'))`,
    values: [id],
  });
}

const never = new AbortController().signal;

describe('Offering an order to several upstreams', () => {
  const upstreams = new MediaUpstreams();
  let first: ScriptedUpstream;
  let second: ScriptedUpstream;
  let bench: TaskBench;
  let round = 0;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
    for (const account of ['acct_other', 'acct_third']) await addPayer(bench.database, account);
  });
  afterAll(() => bench.close());
  beforeEach(() => {
    // Of other names each time, so that no cooldown or pause of an earlier test counts.
    round += 1;
    first = new ScriptedUpstream(`first-${round}`);
    second = new ScriptedUpstream(`second-${round}`);
    upstreams.exchange([first.routed(), second.routed({ priority: 1 })]);
  });

  const calls = async (taskId: string, times: number): Promise<{ upstream: string; outcome: string }[]> => {
    const text = 'select upstream, outcome from task_call where task_id = $1 order by id';
    return eventually(async () => {
      const { rows } = await bench.database.query<{ upstream: string; outcome: string }>({ text, values: [taskId] });
      return rows.length >= times && rows;
    });
  };

  it.each(['busy', 'unavailable', 'unfit', 'unsupported'] as const)(
    'tries the next at once when one has certainly not taken it: %s',
    async (kind) => {
      first.fail(kind);
      const [taskId, state] = await order(bench);
      expect([state, second.taken]).toEqual(['running', [taskId]]);
      expect(await bench.row(taskId)).toMatchObject({ upstream_id: second.id, failures: 0 });
    },
  );

  it('leaves one alone that is busy until tomorrow, and asks it for no order meanwhile', async () => {
    first.fail('busy', { retryAfterMs: 20 * 3_600_000 });
    await order(bench);
    const [taskId] = await order(bench);
    expect([first.asked, second.taken.at(-1)]).toEqual([1, taskId]);
  });

  it('counts orders by upstream and outcome, and the running work of each upstream', async () => {
    first.fail('busy');
    await order(bench);
    const counted = (await signals.mediaOrders.get()).values.map(({ labels, value }) => ({ ...labels, value }));
    expect(counted).toEqual(
      expect.arrayContaining([
        { upstream: first.id, outcome: 'busy', value: 1 },
        { upstream: second.id, outcome: 'taken', value: 1 },
      ]),
    );
    const atUpstreams = fleetSources(bench.database).find(({ name }) => name === 'orders_at_upstreams');
    await atUpstreams?.collect();
    expect((await signals.mediaOpen.get()).values).toContainEqual(
      expect.objectContaining({ labels: { upstream: second.id, state: 'running' }, value: 1 }),
    );
  });

  it.each(['busy', 'unavailable', 'unfit'] as const)(
    'waits when none has room, and counts no failure: %s',
    async (kind) => {
      first.fail(kind);
      second.fail(kind);
      const [taskId] = await order(bench);
      expect(await bench.row(taskId)).toMatchObject({ state: 'queued', failures: 0, start_intent_at: null });
    },
  );

  it('fails when none supports the order, and asks none again', async () => {
    first.fail('unsupported');
    second.fail('unsupported');
    const [taskId, state] = await order(bench);
    expect([state, first.asked, second.asked]).toEqual(['failed', 1, 1]);
    expect(await bench.row(taskId)).toMatchObject({ charged_micros: 0n });
  });

  it('never tries another when one may have taken it: the task fails at once, uncharged, with its cost noted', async () => {
    const cost = { micros: 40_000n, unit: 'USD' };
    first.onPlan = () => ({ ticket: { upstream: first.id, model: 'm' }, slots: 1, cost });
    first.fail('ambiguous');
    const [taskId] = await order(bench);
    expect(await bench.row(taskId)).toMatchObject({
      state: 'failed',
      error_code: 'upstream_unknown',
      charged_micros: 0n,
      upstream_id: first.id,
    });
    expect(second.asked).toBe(0);
    const text = 'select outcome, cost_micros, cost_unit from task_call where task_id = $1';
    const noted = { outcome: 'ambiguous', cost_micros: 40_000n, cost_unit: 'USD' };
    const calls = await eventually(async () => {
      const { rows } = await bench.database.query<typeof noted>({ text, values: [taskId] });
      return rows.length > 0 && rows;
    });
    expect(calls).toEqual([noted]);
  });

  it('waits where the vendor calls back of what it may have taken', async () => {
    upstreams.exchange([first.routed({ callbacks: true }), second.routed({ priority: 1 })]);
    first.fail('ambiguous');
    const [taskId, state] = await order(bench);
    expect([state, second.asked]).toEqual(['submitting', 0]);
    expect(await bench.row(taskId)).toMatchObject({ upstream_id: first.id, start_intent_at: expect.any(Date) });
  });

  it('waits for a call that outlived its time, and keeps the order that it tells of', async () => {
    first.traits = { ...first.traits, startTimeoutMs: 10 };
    let answer: (() => void) | undefined;
    first.onStart = async (placed) => {
      await new Promise<void>((resolve) => (answer = resolve));
      return first.take(placed);
    };
    const [taskId, state] = await order(bench);
    expect([state, second.asked]).toEqual(['submitting', 0]);
    answer?.();
    await eventually(async () => (await bench.row(taskId)).state === 'running');
  });

  it('fails at once what a process that died may have handed over', async () => {
    first.onStart = () => new Promise(() => undefined);
    const taskId = await bench.submit();
    const stopped = new AbortController();
    const dying = bench.start.run(await bench.claim(taskId), stopped.signal);
    await eventually(() => Promise.resolve(first.asked === 1));
    await bench.change(taskId, `lease_until = now() - interval '1 second'`);
    expect(await attempt(bench, taskId)).toBe('failed');
    expect(await bench.row(taskId)).toMatchObject({ error_code: 'upstream_unknown', charged_micros: 0n });
    stopped.abort();
    await dying;
    expect((await bench.row(taskId)).state).toBe('failed');
  });

  it('asks no other upstream for what one refuses, and reports it in our words', async () => {
    first.fail('refused', { param: 'size', vendor: { message: 'account 4711 may not' } });
    const [taskId, state] = await order(bench);
    expect([state, second.asked]).toEqual(['failed', 0]);
    expect((await bench.row(taskId)).error_message).not.toContain('4711');
  });

  it('skips upstreams that cannot make it, and those that serve only other accounts', async () => {
    first.onPlan = () => ({ cannot: 'No watermark there.', param: 'watermark' });
    const third = new ScriptedUpstream(`third-${round}`);
    upstreams.exchange([
      first.routed(),
      third.routed({ onlyAccounts: new Set(['acct_other']) }),
      second.routed({ priority: 5 }),
    ]);
    await order(bench);
    expect([first.asked, third.asked, second.taken.length]).toEqual([0, 0, 1]);
  });

  it('pauses one that is busy for a model for that model only', async () => {
    upstreams.exchange([first.routed()]);
    first.fail('busy', { scope: 'model', retryAfterMs: 60_000 });
    await order(bench);
    expect(await bench.admissions.claimLimits('image')).toMatchObject({ closed: ['eta-image-2.0'] });
    await order(bench);
    expect(first.asked).toBe(1);
    const other = {
      model: 'eta-image-2.0-pro',
      parameters: { ...bench.newTask().parameters, model: 'eta-image-2.0-pro' },
    };
    await attempt(bench, await bench.submit(other));
    expect(first.asked).toBe(2);
  });

  it('does not claim what every upstream is closed for, and continues with the rest', async () => {
    upstreams.exchange([
      first.routed({ models: new Set(['eta-image-2.0']) }),
      second.routed({ models: new Set(['x']) }),
    ]);
    first.fail('busy', { retryAfterMs: 60_000 });
    await order(bench);
    const waiting = await bench.submit();
    await bench.change(waiting, `lease_until = now() - interval '1 second'`);
    expect(await bench.transitions.claimDue('image', 10, await bench.admissions.claimLimits('image'))).toEqual([]);
    expect(await bench.row(waiting)).toMatchObject({ state: 'queued', attempt: 0 });
  });

  const asAccount = (accountId: string, turn: number): Promise<string> =>
    bench.submit(turn % 2 === 0 ? {} : { accountId, apiKeyId: `key_${accountId}` });

  it('cools down one that is unavailable three times in a row, and probes it with one order', async () => {
    first.fail('unavailable');
    for (let turn = 0; turn < 4; turn += 1) await attempt(bench, await asAccount('acct_other', turn));
    expect(first.asked).toBe(3);
    expect(second.taken).toHaveLength(4);
  });

  it.each(['unavailable', 'ambiguous'] as const)(
    'does not cool down an upstream for other accounts because of failing orders of one: %s',
    async (kind) => {
      upstreams.exchange([first.routed()]);
      first.fail(kind);
      for (let turn = 0; turn < 5; turn += 1) await order(bench);
      expect(first.asked).toBe(3);
      first.onStart = async (taken) => first.take(taken);
      expect(await attempt(bench, await asAccount('acct_other', 1))).toBe('running');
    },
  );

  describe('that takes all and fails what it has taken', () => {
    let poller: UpstreamPoller;
    beforeEach(() => {
      first.traits = { ...first.traits, firstCheckMs: 0 };
      poller = new UpstreamPoller(first.id, bench.deps);
      poller.start();
    });
    afterEach(() => poller.stop(1_000));

    /** Hands over so many orders of two accounts in turn, or of one, and waits for their ends. */
    async function fail(times: number, of: (turn: number) => Promise<string>): Promise<void> {
      for (let turn = 0; turn < times; turn += 1) {
        const taskId = await of(turn);
        await attempt(bench, taskId);
        expect(first.taken).toContain(taskId);
        await eventually(async () => (await bench.row(taskId)).state === 'failed');
      }
    }
    const own = () => bench.submit();
    const failing = (reason: MediaReason) => () => Promise.resolve(failedBecause(reason));
    const upstreamOf = async (taskId: string): Promise<string | null> => {
      await attempt(bench, taskId);
      return (await bench.row(taskId)).upstream_id;
    };

    it('rests for all after three in a row of two accounts, and another makes the orders', async () => {
      first.onCheck = failing('work_failed');
      await fail(3, (turn) => asAccount('acct_other', turn));
      await eventually(async () => (await upstreamOf(await asAccount('acct_third', 1))) === second.id);
      expect(second.taken.length).toBeGreaterThan(0);
    });

    it('rests for all as well when it is not done with them by their deadlines', async () => {
      const { transitions, settlement, database, circuits } = bench;
      const keeper = new DeadlineKeeper('image', transitions, settlement, upstreams, database, circuits);
      keeper.start();
      for (let turn = 0; turn < 3; turn += 1) {
        const taskId = await asAccount('acct_other', turn);
        expect(await attempt(bench, taskId)).toBe('running');
        await bench.change(taskId, `deadline_at = now()`);
        await eventually(async () => (await bench.row(taskId)).state === 'failed');
      }
      await eventually(async () => (await upstreamOf(await asAccount('acct_third', 1))) === second.id);
      await keeper.stop();
    });

    it('rests for the account alone whose orders failed', async () => {
      first.onCheck = failing('work_failed');
      await fail(3, own);
      await eventually(async () => (await upstreamOf(await own())) === second.id);
      expect(await upstreamOf(await asAccount('acct_third', 1))).toBe(first.id);
    });

    it.each(['content_refused', 'result_refused', 'reference_unusable'] as const)(
      'does not rest for what lies in the orders: %s',
      async (reason) => {
        first.onCheck = failing(reason);
        await fail(4, (turn) => asAccount('acct_other', turn));
        expect(await upstreamOf(await own())).toBe(first.id);
      },
    );
  });

  it('does not close an upstream for other accounts because it refuses to serve one', async () => {
    upstreams.exchange([first.routed()]);
    const take = first.onStart;
    first.onStart = () => Promise.reject(new MediaFailure('unfit', 'not_served', { vendor: { status: 403 } }));
    await order(bench);
    await order(bench);
    expect(first.asked).toBe(1);
    first.onStart = take;
    expect(await attempt(bench, await asAccount('acct_other', 1))).toBe('running');
  });

  it('does not close it for what it refuses two accounts, where it takes the order of a third in between', async () => {
    upstreams.exchange([first.routed()]);
    const take = first.onStart;
    const refuse = () => Promise.reject(new MediaFailure('unfit', 'not_served', { vendor: { status: 403 } }));
    first.onStart = refuse;
    await order(bench);
    first.onStart = take;
    expect(await attempt(bench, await asAccount('acct_third', 1))).toBe('running');
    first.onStart = refuse;
    await attempt(bench, await asAccount('acct_other', 1));
    first.onStart = take;
    expect(await attempt(bench, await asAccount('acct_third', 1))).toBe('running');
  });

  it('closes an upstream that refuses to serve a second account, too', async () => {
    upstreams.exchange([first.routed(), second.routed({ priority: 1 })]);
    first.onStart = () => Promise.reject(new MediaFailure('unfit', 'not_served', { vendor: { status: 403 } }));
    for (let turn = 0; turn < 2; turn += 1) await attempt(bench, await asAccount('acct_other', turn));
    await attempt(bench, await asAccount('acct_third', 1));
    expect(first.asked).toBe(2);
  });

  it('starts no more in a minute than the vendor account allows', async () => {
    upstreams.exchange([first.routed({ limits: { startsPerMinute: 5 } })]);
    const states = await orderTogether(bench, 3);
    expect(first.asked).toBe(1);
    expect(states.toSorted()).toEqual(['queued', 'queued', 'running']);
  });

  it('never exceeds the running orders of a vendor account, under concurrent starts', async () => {
    const account = `together-${round}`;
    const one = new ScriptedUpstream(`one-${round}`, account);
    const other = new ScriptedUpstream(`other-${round}`, account);
    upstreams.exchange([one.routed({ limits: { running: 3 } }), other.routed({ limits: { running: 3 } })]);
    await orderTogether(bench, 8);
    expect(one.taken.length + other.taken.length).toBe(3);
  });

  it('does not give the sandbox an order sold for an upstream that this process has not loaded yet', async () => {
    upstreams.exchange([first.routed({ isFallback: true })], 'makes');
    const added = `insert into upstream (id, kind, protocol, models, weight, priority, settings)
      values ('new', 'media', 'sandbox', '{}', 1, 0, '{}')`;
    await bench.database.query({ text: added });
    const [taskId, state] = await order(bench);
    expect([state, first.asked]).toEqual(['queued', 0]);
    await bench.database.query({ text: `delete from upstream where id = 'new'` });
    await eventually(async () => (await attempt(bench, taskId)) === 'running');
    expect(first.taken).toEqual([taskId]);
  });

  it('records every try, with the reply of the vendor', async () => {
    first.fail('unfit', { vendor: { status: 401, code: 'bad_key' } });
    const [taskId] = await order(bench);
    expect(await calls(taskId, 2)).toEqual([
      { upstream: first.id, outcome: 'unfit' },
      { upstream: second.id, outcome: 'taken' },
    ]);
  });

  it('keeps polling a draining upstream, and gives it no new orders', async () => {
    const [taskId] = await order(bench);
    upstreams.exchange([first.routed({ isDraining: true }), second.routed()]);
    await order(bench);
    expect([first.taken, second.taken.length]).toEqual([[taskId], 1]);
    expect(upstreams.byId(first.id)?.upstream).toBe(first);
  });

  describe('that answers with the files', () => {
    beforeEach(() => {
      first.traits = { ...first.traits, style: 'call' };
      upstreams.exchange([first.routed()]);
    });

    it('stores files from inside the reply', async () => {
      first.onStart = async (_, call) => {
        const url = await call.spool.keep(0, Readable.from([pngSample({ width: 8, height: 8 })]));
        call.note({ cost: { micros: 12_000n, unit: 'USD' } });
        return { kind: 'finished', outputs: [{ role: 'output', contentType: 'image/jpeg', url }] };
      };
      const [taskId, state] = await order(bench);
      expect(state).toBe('storing');
      await bench.store.run(await bench.claim(taskId), never);
      expect(await bench.row(taskId)).toMatchObject({ state: 'completed', cost_micros: 12_000n, cost_unit: 'USD' });
      const { rows } = await bench.database.query({
        text: 'select cost_micros, cost_unit from usage_record where task_id = $1',
        values: [taskId],
      });
      expect(rows).toEqual([{ cost_micros: 12_000n, cost_unit: 'USD' }]);
    });

    it('delivers no file of another task, whatever address a vendor returns', async () => {
      const other = { key: 'media/task_other/0.png', contentType: 'image/png', bytes: 1, sha256: '' };
      const url = `kept:${JSON.stringify(other)}`;
      const outputs = [{ role: 'output', contentType: 'image/png', url }] as const;
      await bench.platform.store.put(other.key, Readable.from([pngSample({ width: 8, height: 8 })]), {
        maxBytes: 1_000_000,
      } as never);
      first.onStart = () => Promise.resolve({ kind: 'finished', outputs });
      const [taskId] = await order(bench);
      await bench.store.run(await bench.claim(taskId), never);
      expect(await bench.row(taskId)).toMatchObject({ state: 'storing', finished_at: null });
    });

    it('fails a task whose call was lost at once, and charges nothing', async () => {
      first.fail('ambiguous');
      const [taskId] = await order(bench);
      expect(await bench.row(taskId)).toMatchObject({
        state: 'failed',
        error_code: 'upstream_unknown',
        charged_micros: 0n,
      });
    });

    it('repeats a lost call once where the operator configured it', async () => {
      upstreams.exchange([first.routed({ lostCalls: 'repeat_once' })]);
      first.fail('ambiguous');
      const [taskId, state] = await order(bench);
      expect(state).toBe('queued');
      expect(await attempt(bench, taskId)).toBe('failed');
      expect(first.asked).toBe(2);
    });
  });
});
