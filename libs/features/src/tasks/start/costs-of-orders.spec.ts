import { Readable } from 'node:stream';
import type { VendorCost } from '#contracts';
import { pngSample } from '#testing';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { attempt, order, orderTogether } from '../run/testing/order-tasks.js';
import { ScriptedUpstream } from '../run/testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

const never = new AbortController().signal;

describe('What handing over costs', () => {
  const upstreams = new MediaUpstreams();
  let first: ScriptedUpstream;
  let second: ScriptedUpstream;
  let bench: TaskBench;
  let round = 0;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
  });
  afterAll(() => bench.close());
  beforeEach(() => {
    // Of other names each time, so that no cooldown or pause of an earlier test counts.
    round += 1;
    first = new ScriptedUpstream(`first-${round}`);
    second = new ScriptedUpstream(`second-${round}`);
    upstreams.exchange([first.routed()]);
  });

  describe('at an upstream that answers with the files', () => {
    beforeEach(() => {
      first.traits = { ...first.traits, style: 'call' };
    });

    it.each<[what: string, reported: VendorCost | undefined, delivered: number, cost: object]>([
      ['what was configured, for what was delivered', undefined, 3, { cost_micros: 30n, cost_worth_micros: 21n }],
      ['a share of it when part is missing', undefined, 2, { cost_micros: 20n, cost_worth_micros: 14n }],
      [
        'what the vendor reported, whole',
        { micros: 500n, unit: 'tokens', worthMicros: 9n },
        2,
        { cost_micros: 500n, cost_unit: 'tokens', cost_worth_micros: 9n },
      ],
      [
        'what the vendor reported, at the worth that was configured where its unit has none',
        { micros: 500n, unit: 'tokens' },
        1,
        { cost_micros: 500n, cost_unit: 'tokens', cost_worth_micros: 7n },
      ],
    ])('writes down beside the charge %s', async (_, reported, delivered, cost) => {
      first.onPlan = () => ({
        ticket: { upstream: 'first', model: 'm' },
        slots: 1,
        cost: { micros: 30n, unit: 'CNY', worthMicros: 21n },
      });
      first.onStart = async (_order, call) => {
        if (reported) call.note({ cost: reported });
        const keep = async (ordinal: number) => ({
          role: 'output' as const,
          contentType: 'image/png',
          url: await call.spool.keep(ordinal, Readable.from([pngSample({ width: 8, height: 8 })])),
        });
        return { kind: 'finished', outputs: await Promise.all([...Array(delivered).keys()].map(keep)) };
      };
      const billing = { unit: 'image', variant: 'default', settle: 'per-output', quantity: 3 } as const;
      const parameters = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K', n: 3 };
      const taskId = await bench.submit({ billing, parameters, holdMicros: 105_000n });
      await attempt(bench, taskId);
      await bench.store.run(await bench.claim(taskId), never);
      const { rows } = await bench.database.query({
        text: `select status, amount_micros, quantity, cost_micros, cost_unit, cost_worth_micros from usage_record where task_id = $1`,
        values: [taskId],
      });
      const charged = { status: 'completed', amount_micros: 35_000n * BigInt(delivered), quantity: BigInt(delivered) };
      expect(rows).toEqual([{ ...charged, cost_unit: 'CNY', ...cost }]);
    });

    it.each<[what: string, reported: VendorCost | undefined, cost: object]>([
      ['no cost of work that failed and of which the vendor said nothing', undefined, { cost_micros: null }],
      ['what the vendor took for work that failed', { micros: 9n, unit: 'USD', worthMicros: 9n }, { cost_micros: 9n }],
    ])('writes down %s', async (_, reported, cost) => {
      const plan = { ticket: { upstream: 'first', model: 'm' }, slots: 1 };
      first.onPlan = () => ({ ...plan, cost: { micros: 30n, unit: 'USD', worthMicros: 30n } });
      first.onStart = async (_order, call) => {
        if (reported) call.note({ cost: reported });
        return { kind: 'finished', outputs: [] };
      };
      const [taskId] = await order(bench);
      await bench.store.run(await bench.claim(taskId), never);
      const { rows } = await bench.database.query({
        text: 'select status, amount_micros, cost_micros, cost_worth_micros from usage_record where task_id = $1',
        values: [taskId],
      });
      const { cost_micros: worth } = cost as { cost_micros: bigint | null };
      expect(rows).toEqual([{ status: 'failed', amount_micros: 0n, cost_worth_micros: worth, ...cost }]);
    });
  });

  describe('within an allowance', () => {
    const plan = { slots: 1, cost: { micros: 400n, unit: 'USD' } };
    const within = (allowance: object) => upstreams.exchange([first.routed({ limits: { allowance } })]);
    const used = async (): Promise<object[]> => {
      const text = 'select orders, spend_micros from upstream_allowance where upstream = $1 order by period';
      return (await bench.database.query({ text, values: [first.id] })).rows;
    };
    beforeEach(() => {
      first.onPlan = () => ({ ...plan, ticket: { upstream: first.id, model: 'm' } });
    });

    it.each([
      ['orders of a day', { ordersPerDay: 3 }],
      ['orders of a month', { ordersPerMonth: 3, ordersPerDay: 100 }],
      ['what a day may cost', { spendPerDayMicros: 1_599n }],
      ['what a month may cost', { spendPerMonthMicros: 1_200n }],
    ])('is never handed more, with any number of concurrent workers: %s', async (_, allowance) => {
      within(allowance);
      const states = await orderTogether(bench, 6);
      expect([first.taken.length, states.filter((state) => state === 'running').length]).toEqual([3, 3]);
      expect(await used()).toEqual([
        { orders: 3n, spend_micros: 1_200n },
        { orders: 3n, spend_micros: 1_200n },
      ]);
    });

    it.each(['busy', 'unavailable', 'unfit', 'unsupported', 'refused'] as const)(
      'gives back what was certainly not taken: %s',
      async (kind) => {
        within({ ordersPerDay: 1 });
        first.fail(kind);
        await order(bench);
        expect(await used()).toEqual([
          { orders: 0n, spend_micros: 0n },
          { orders: 0n, spend_micros: 0n },
        ]);
      },
    );

    it('counts what may have been taken, and once however often it is sent again', async () => {
      within({ ordersPerDay: 1 });
      first.traits = { ...first.traits, repeatStart: 'idempotent' };
      first.fail('ambiguous');
      const [taskId] = await order(bench);
      first.onStart = async (asked) => first.take(asked);
      expect(await attempt(bench, taskId)).toBe('running');
      expect(await used()).toEqual([
        { orders: 1n, spend_micros: 400n },
        { orders: 1n, spend_micros: 400n },
      ]);
    });

    it('sends what has no room to the next upstream, and lets claims pass it over meanwhile', async () => {
      upstreams.exchange([
        first.routed({ limits: { allowance: { ordersPerDay: 1 } } }),
        second.routed({ priority: 1 }),
      ]);
      await order(bench);
      const [, state] = await order(bench);
      expect([state, first.taken.length, second.taken.length]).toEqual(['running', 1, 1]);
      upstreams.exchange([first.routed({ limits: { allowance: { ordersPerDay: 1 } } })]);
      expect((await bench.admissions.claimLimits('image')).closed).toContain('eta-image-2.0');
    });
  });
});
