import { MediaFailure } from '#contracts';
import { eventually, quickestOf, untilBlocked } from '#testing';
import { FakeVendor } from '../../run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from '../../run/testing/task-bench.js';
import { SET_RUNNING } from '../../start/start-statements.js';
import { REQUEST_CANCEL } from '../../task-statements.js';
import { POLLING, UpstreamPoller } from '../upstream-poller.js';

const never = new AbortController().signal;

describe('Asking a vendor how its work goes', () => {
  let vendor: FakeVendor;
  let bench: TaskBench;
  let poller: UpstreamPoller;
  beforeAll(async () => {
    vendor = new FakeVendor();
    bench = await openTaskBench(vendor);
    poller = new UpstreamPoller(vendor.id, bench.deps);
    poller.start();
  });
  afterAll(async () => {
    await poller.stop(1_000);
    await bench.close();
  });

  async function running(): Promise<string> {
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), never);
    return taskId;
  }

  async function until(taskId: string, state: string): Promise<string> {
    await eventually(async () => (await bench.row(taskId)).state === state);
    return state;
  }

  async function scheduled(taskId: string): Promise<{ cancel_requested: boolean }[]> {
    const text = 'select cancel_requested from task_poll where task_id = $1';
    return (await bench.database.query<{ cancel_requested: boolean }>({ text, values: [taskId] })).rows;
  }

  it('still learns that the work is done while the vendor cannot cancel it', async () => {
    let asked = 0;
    vendor.cancel = () => Promise.reject(new Error('the cancel endpoint is away'));
    vendor.check = async () => ((asked += 1) < 2 ? { state: 'pending' } : { state: 'succeeded', outputs: [] });
    const taskId = await running();
    await bench.transitions.requestCancel(taskId, 'acct_bench');
    expect(await until(taskId, 'storing')).toBe('storing');
  });

  it('asks the vendor to stop again after it gave no answer to the first wish', async () => {
    let wishes = 0;
    vendor.cancel = async () => {
      if ((wishes += 1) < 2) throw new Error('the cancel endpoint is away');
      return 'cancelled';
    };
    vendor.check = async () => ({ state: 'pending', pollDelayMs: 3_600_000 });
    const taskId = await running();
    await bench.transitions.requestCancel(taskId, 'acct_bench');
    expect(await until(taskId, 'cancelled')).toBe('cancelled');
    expect(await scheduled(taskId)).toEqual([]);
  });

  it('fails only the task whose vendor names files that cannot be stored', async () => {
    vendor.check = async () => ({ state: 'pending' });
    const outputOf = (url: string) => [{ role: 'output', contentType: 'image/png', url } as const];
    const broken = await running();
    const sound = await running();
    const brokenOrder = JSON.stringify((await bench.row(broken)).operation);
    vendor.check = async (operation) => {
      const url = JSON.stringify(operation) === brokenOrder ? 'https://vendor.example/\0' : 'https://v.example/';
      return { state: 'succeeded', outputs: outputOf(url) };
    };
    expect(await until(sound, 'storing')).toBe('storing');
    expect(await until(broken, 'failed')).toBe('failed');
    expect(await bench.row(broken)).toMatchObject({ error_code: 'upstream_error', charged_micros: 0n });
  });

  it('does not ask again while a question is still open, and asks again once it was answered', async () => {
    let asked = 0;
    let answer = (): void => undefined;
    vendor.check = () => {
      asked += 1;
      return asked === 1
        ? new Promise((resolve) => (answer = () => resolve({ state: 'pending' })))
        : Promise.resolve({ state: 'succeeded', outputs: [] });
    };
    const taskId = await running();
    await new Promise((resolve) => setTimeout(resolve, 2 * POLLING.steadyDelayMs));
    expect(asked).toBe(1);
    answer();
    expect(await until(taskId, 'storing')).toBe('storing');
  });

  async function turnOf(taskId: string) {
    const text = `select polls, (extract(epoch from next_poll_at - now()) * 1000)::float8 as due_ms from task_poll where task_id = $1`;
    return (await bench.database.query<{ polls: number; due_ms: number }>({ text, values: [taskId] })).rows[0];
  }

  /** A running task that has been polled for a while, with its schedule and how often its vendor was asked since. */
  async function steady() {
    const asked = new Map<string, number>();
    vendor.check = async (operation) => {
      const order = JSON.stringify(operation);
      asked.set(order, (asked.get(order) ?? 0) + 1);
      return { state: 'pending' };
    };
    const taskId = await running();
    const order = JSON.stringify((await bench.row(taskId)).operation);
    await bench.database.query({
      text: `update task_poll set polls = 20, next_poll_at = now() where task_id = $1`,
      values: [taskId],
    });
    asked.clear();
    return { taskId, turn: () => turnOf(taskId), polls: () => asked.get(order) ?? 0 };
  }

  it('polls several times for one write when the vendor is simply not done, and at a steady pace', async () => {
    const scheduledAgain: string[] = [];
    const again = bench.schedule.again.bind(bench.schedule);
    bench.schedule.again = (poll, delayMs) => {
      scheduledAgain.push(poll.taskId);
      return again(poll, delayMs);
    };
    const { taskId, turn, polls } = await steady();
    await eventually(() => polls() >= 3);
    bench.schedule.again = again;
    expect(scheduledAgain).not.toContain(taskId);
    const { polls: written = 0, due_ms: dueMs } = (await turn()) ?? {};
    expect(written - 20).toBeLessThan(polls());
    // If this process dies, the next claimer polls within the rest of the lease.
    expect(dueMs).toBeLessThan(POLLING.holdMs);
  });

  it('takes an operation from the schedule again when its hold is over', async () => {
    const { turn, polls } = await steady();
    const claims = async (): Promise<number> => ((await turn())?.polls ?? 0) - 20;
    await eventually(async () => (await claims()) >= 2);
    expect(polls()).toBeGreaterThan(await claims());
  });

  it('tells the vendor at once of a wish to cancel what it holds', async () => {
    vendor.cancel = async () => 'cancelled';
    const wish = async (): Promise<number> => {
      const { taskId, polls } = await steady();
      await eventually(() => polls() > 0);
      const wishedAtMs = performance.now();
      await bench.transitions.requestCancel(taskId, 'acct_bench');
      expect(await until(taskId, 'cancelled')).toBe('cancelled');
      return performance.now() - wishedAtMs;
    };
    const beforeNextPollMs = POLLING.steadyDelayMs;
    expect(await quickestOf(beforeNextPollMs, wish)).toBeLessThan(beforeNextPollMs);
  });

  it('gives back what it holds when it stops, so that others poll in time', async () => {
    const { turn, polls } = await steady();
    await eventually(() => polls() > 0);
    await poller.stop(1_000);
    expect((await turn())?.due_ms).toBeLessThanOrEqual(POLLING.steadyDelayMs);
    poller = new UpstreamPoller(vendor.id, bench.deps);
    poller.start();
  });

  it.each([
    ['that was just asked', () => true],
    ['that got the lease for being slow', (dueMs: number) => dueMs > POLLING.holdMs],
  ])('gives back a poll %s and is not answered when it stops, so that others ask in time', async (_what, isSo) => {
    let asking: AbortSignal | undefined;
    vendor.check = (_operation, { signal }) => {
      asking = signal;
      return new Promise(() => undefined);
    };
    const taskId = await running();
    const dueMs = async (): Promise<number> => (await turnOf(taskId))?.due_ms ?? 0;
    await eventually(async () => asking !== undefined && isSo(await dueMs()));
    await poller.stop(10);
    expect(asking?.aborted).toBe(true);
    expect(await dueMs()).toBeLessThanOrEqual(POLLING.steadyDelayMs);
    vendor.check = async () => ({ state: 'succeeded', outputs: [] });
    poller = new UpstreamPoller(vendor.id, bench.deps);
    poller.start();
    expect(await until(taskId, 'storing')).toBe('storing');
  });

  it('tells the vendor of a wish that came in the very moment the vendor took the order', async () => {
    await poller.stop(1_000);
    const taskId = await bench.submit();
    const { attempt } = await bench.claim(taskId);
    const wish = await bench.database.transaction(async (transaction) => {
      await transaction.query({
        text: SET_RUNNING,
        values: [taskId, attempt, { order: 1 }, 'sandbox', 300, null, null, null, false, null, null],
      });
      const waiting = bench.database.query({ text: REQUEST_CANCEL, values: [taskId, 'acct_bench'] });
      await untilBlocked(bench.database);
      return { waiting };
    });
    expect((await wish.waiting).rowCount).toBe(1);
    expect(await scheduled(taskId)).toEqual([{ cancel_requested: true }]);
  });

  it('lets other work continue while many polls are due at once', async () => {
    await poller.stop(1_000);
    const due = 5 * POLLING.inOneGo;
    await bench.database.query({
      text: `insert into task_poll (task_id, provider, operation, next_poll_at)
        select 'task_due_' || place, 'sandbox', '{}', now() from generate_series(1, $1::integer) as place`,
      values: [due],
    });
    const inOneGo = [0];
    vendor.check = async () => {
      inOneGo[0] = (inOneGo[0] ?? 0) + 1;
      return { state: 'pending' };
    };
    const asked = (): number => inOneGo.reduce((sum, count) => sum + count, 0);
    const otherWork = (): void => {
      inOneGo.unshift(0);
      if (asked() < due) setImmediate(otherWork);
    };
    otherWork();
    poller = new UpstreamPoller(vendor.id, bench.deps);
    poller.start();
    await eventually(() => asked() >= due);
    await bench.database.query({ text: `delete from task_poll where task_id like 'task_due_%'` });
    expect(Math.max(...inOneGo)).toBeLessThanOrEqual(POLLING.inOneGo);
  });

  it('leaves a vendor alone that is asked too often and names no time, and polls on later', async () => {
    vendor.check = async () => ({ state: 'pending' });
    const taskId = await running();
    const order = JSON.stringify((await bench.row(taskId)).operation);
    let asked = 0;
    vendor.check = async (operation) => {
      if (JSON.stringify(operation) !== order) return { state: 'pending' };
      asked += 1;
      if (asked === 1) throw new MediaFailure('busy', 'busy', { vendor: { status: 429 } });
      return { state: 'succeeded', outputs: [] };
    };
    await eventually(async () => (await bench.limits.pausedMs(vendor.id, 'check')) > 0);
    expect(asked).toBe(1);
    expect(await until(taskId, 'storing')).toBe('storing');
  });

  it('forgets a task that ended before its question was answered', async () => {
    const taskId = await running();
    await bench.settlement.failUnclaimed({ id: taskId, outputs: null }, ['running'], 'deadline_exceeded', 'Too late.');
    await bench.database.query({
      text: `insert into task_poll (task_id, provider, operation, next_poll_at) values ($1, 'sandbox', '{}', now())`,
      values: [taskId],
    });
    await bench.schedule.drop(taskId);
    expect(await scheduled(taskId)).toEqual([]);
  });
});
