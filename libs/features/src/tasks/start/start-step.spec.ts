import { MediaFailure } from '#contracts';
import { FakeVendor, intentOf } from '../run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

const never = new AbortController().signal;

describe('Submitting an order to a vendor', () => {
  const vendor = new FakeVendor();
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(vendor);
  });
  afterAll(() => bench.close());

  async function attempt(taskId: string): Promise<void> {
    await bench.start.run(await bench.claim(taskId), never);
  }

  it('keeps the record of a first attempt that may have been taken, when a second is certainly refused', async () => {
    const taskId = await bench.submit();
    vendor.start = () => Promise.reject(new MediaFailure('ambiguous', 'unanswered'));
    await attempt(taskId);
    vendor.start = () => Promise.reject(new MediaFailure('busy', 'busy', { retryAfterMs: 1 }));
    await attempt(taskId);
    const task = await bench.row(taskId);
    expect([task.state, task.start_intent_at]).toEqual(['submitting', expect.any(Date)]);
    expect(await bench.settlement.cancelUnstarted(taskId)).toBe(false);
  });

  it('retries an unavailable vendor until the deadline, with growing delays, and counts no failure', async () => {
    const taskId = await bench.submit();
    vendor.start = () => Promise.reject(new MediaFailure('unavailable', 'away'));
    const waits = async (): Promise<number> => {
      await attempt(taskId);
      const text = 'select extract(epoch from lease_until - now())::float8 as seconds from task where id = $1';
      return (await bench.database.query<{ seconds: number }>({ text, values: [taskId] })).rows[0]?.seconds ?? 0;
    };
    const first = await waits();
    for (let turn = 0; turn < 8; turn += 1) await waits();
    expect(first).toBeLessThan(1.3);
    expect(await waits()).toBeGreaterThan(40);
    expect(await bench.row(taskId)).toMatchObject({
      state: 'queued',
      failures: 0,
      last_failure: 'The vendor does not respond.',
    });
    vendor.start = async (order) => vendor.take(order);
    await attempt(taskId);
    expect(await bench.row(taskId)).toMatchObject({ state: 'running' });
  });

  describe('that can be asked for it', () => {
    beforeEach(() => {
      vendor.repeatStart = 'lookup';
      vendor.find = async () => null;
    });
    afterEach(() => {
      vendor.repeatStart = 'idempotent';
      delete vendor.find;
    });

    /** Moves the times of the first call into the past. */
    const ago = (taskId: string, column: 'start_intent_at' | 'start_ended_at', ms: number) =>
      bench.change(taskId, `${column} = now() - interval '${ms} milliseconds'`);
    const times = (taskId: string) => vendor.taken.filter((taken) => taken === taskId).length;

    it('aborts a hanging call, and counts from its end until the order must show up', async () => {
      const taskId = await bench.submit();
      vendor.startTimeoutMs = 100;
      vendor.start = (order, { signal }) => {
        vendor.take(order);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
      };
      await attempt(taskId);
      vendor.start = async (order) => vendor.take(order);
      await ago(taskId, 'start_intent_at', 60_000);
      await ago(taskId, 'start_ended_at', 500);
      await attempt(taskId);
      expect(times(taskId)).toBe(1);
      expect(await bench.row(taskId)).toMatchObject({ state: 'submitting' });
      await ago(taskId, 'start_ended_at', 1_500);
      await attempt(taskId);
      expect(times(taskId)).toBe(2);
    });

    it('assumes that a call whose worker died lasted as long as a call may', async () => {
      const taskId = await bench.submit();
      vendor.startTimeoutMs = 5_000;
      vendor.start = async (order) => vendor.take(order);
      await bench.transitions.recordStartIntent(await bench.claim(taskId), intentOf(vendor));
      await ago(taskId, 'start_intent_at', 5_500);
      await attempt(taskId);
      expect(times(taskId)).toBe(0);
      await ago(taskId, 'start_intent_at', 6_500);
      await attempt(taskId);
      expect(times(taskId)).toBe(1);
    });
  });

  it.each(['idempotent', 'lookup'] as const)(
    'neither sends an order again nor asks for it where its upstream has another key or server since: %s',
    async (repeatStart) => {
      const taskId = await bench.submit();
      vendor.repeatStart = repeatStart;
      vendor.access = 'before';
      vendor.start = () => Promise.reject(new MediaFailure('ambiguous', 'unanswered'));
      await attempt(taskId);
      vendor.access = 'after';
      let asked = 0;
      vendor.find = async () => ((asked += 1), null);
      vendor.start = async (order) => ((asked += 1), vendor.take(order));
      await attempt(taskId);
      expect(asked).toBe(0);
      expect(await bench.row(taskId)).toMatchObject({ state: 'submitting', start_intent_at: expect.any(Date) });
      vendor.access = 'before';
      await bench.change(taskId, `start_ended_at = now() - interval '1 hour'`);
      await attempt(taskId);
      expect(asked).toBe(repeatStart === 'lookup' ? 2 : 1);
      expect(await bench.row(taskId)).toMatchObject({ state: 'running' });
      vendor.repeatStart = 'idempotent';
      vendor.access = undefined;
      delete vendor.find;
    },
  );

  it('pauses a busy vendor for a while when it names no time', async () => {
    const taskId = await bench.submit();
    vendor.start = () => Promise.reject(new MediaFailure('busy', 'busy', { retryAfterMs: 0 }));
    await attempt(taskId);
    const { rows } = await bench.database.query<{ waits: boolean }>({
      text: `select lease_until > now() + interval '300 milliseconds' as waits from task where id = $1`,
      values: [taskId],
    });
    expect(rows).toEqual([{ waits: true }]);
    expect(await bench.limits.pausedMs(vendor.id, 'start')).toBeGreaterThan(300);
  });
});
