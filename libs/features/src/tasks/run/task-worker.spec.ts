import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaOrder, Started } from '#contracts';
import { signals } from '#platform';
import { eventually } from '#testing';
import { TaskTransitions } from '../task-transitions.js';
import { createTaskSteps } from './testing/create-task-steps.js';
import { TaskWorker } from './task-worker.js';
import { FakeVendor } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const LEASE_MS = 1_500;

describe('A worker', () => {
  const vendor = new FakeVendor();
  let bench: TaskBench;
  const workers: TaskWorker[] = [];
  beforeAll(async () => {
    bench = await openTaskBench(vendor);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    await bench.database.query({ text: 'truncate task cascade' });
    vendor.taken.length = 0;
    vendor.startTimeoutMs = 300;
    vendor.start = async (order) => vendor.take(order);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(500)));
  });

  function startWorker(name: string, concurrency: number): TaskWorker {
    const { database, upstreams, cooldowns, platform } = bench;
    const { failpoints, taskSignals, notifier } = platform;
    const transitions = new TaskTransitions(database, taskSignals, name, LEASE_MS);
    const bounds = { maxBytes: 1_000_000, downloadMs: 300, stepMs: 300 };
    const { advance, admissions } = createTaskSteps(platform, {
      transitions,
      upstreams,
      cooldowns,
      leaseMs: LEASE_MS,
      bounds,
    });
    const worker = new TaskWorker('image', concurrency, transitions, advance, notifier, failpoints, admissions);
    workers.push(worker);
    worker.start();
    return worker;
  }

  const stateOf = async (taskId: string): Promise<string> => (await bench.row(taskId)).state;
  const abandoned = async (step: string): Promise<number> =>
    (await signals.stepsAbandoned.get()).values.find(({ labels }) => labels.step === step)?.value ?? 0;

  it('gets its slot back from a start that never ends, and lets another start the task', async () => {
    const before = await abandoned('start');
    vendor.start = (order) => {
      if (vendor.taken.length > 0) return Promise.resolve(vendor.take(order));
      vendor.take(order);
      return new Promise(() => undefined);
    };
    const hanging = await bench.submit();
    const worker = startWorker('hung', 1);
    await eventually(() => vendor.taken.length === 1);
    const next = await bench.submit();
    await eventually(async () => (await stateOf(next)) === 'running' && (await stateOf(hanging)) === 'running');
    expect(vendor.taken.filter((taken) => taken === hanging)).toHaveLength(2);
    await eventually(() => worker.inHand === 0);
    expect(await abandoned('start')).toBe(before + 1);
  });

  it('ignores a late start once another worker has the task, and cancels or records that work', async () => {
    let answerLate: ((started: Started) => void) | undefined;
    vendor.start = (order: MediaOrder) => {
      if (answerLate) return Promise.resolve(vendor.take(order));
      vendor.take(order);
      return new Promise((resolve) => (answerLate = resolve));
    };
    const taskId = await bench.submit();
    startWorker('late', 2);
    await eventually(async () => (await stateOf(taskId)) === 'running');
    const { operation } = await bench.row(taskId);
    answerLate?.({ kind: 'operation', operation: { order: 'late' } });
    const orphans = async (): Promise<unknown[]> =>
      (
        await bench.database.query({
          text: 'select operation from upstream_orphan where task_id = $1',
          values: [taskId],
        })
      ).rows;
    await eventually(async () => (await orphans()).length > 0);
    expect(await orphans()).toEqual([{ operation: { order: 'late' } }]);
    expect((await bench.row(taskId)).operation).toEqual(operation);
  });

  it('gets its slot back from a hanging store, and stores the files once at the next attempt', async () => {
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), new AbortController().signal);
    const output = { role: 'output', contentType: 'image/png', url: 'sandbox' } as const;
    await bench.schedule.finish(taskId, [output]);
    vendor.open = () => new Promise(() => undefined);
    const worker = startWorker('stuck', 1);
    await eventually(() => worker.inHand === 1);
    await eventually(async () => (await bench.row(taskId)).failures > 0);
    await eventually(() => worker.inHand === 0);
    expect(await bench.row(taskId)).toMatchObject({ state: 'storing' });
    delete vendor.open;
  });

  it('stops within its grace although a step does not, and gives the task back at once', async () => {
    vendor.startTimeoutMs = 600_000;
    vendor.start = (order) => {
      vendor.take(order);
      return new Promise(() => undefined);
    };
    const taskId = await bench.submit();
    const worker = startWorker('stopped', 1);
    await eventually(() => vendor.taken.length === 1);
    workers.splice(workers.indexOf(worker), 1);
    await worker.stop(2_000);
    const { rows } = await bench.database.query<{ lease_owner: string | null }>({
      text: 'select lease_owner from task where id = $1 and lease_until <= now()',
      values: [taskId],
    });
    expect(rows).toEqual([{ lease_owner: null }]);
    vendor.start = async (order) => vendor.take(order);
    startWorker('next', 1);
    await eventually(async () => (await stateOf(taskId)) === 'running');
    expect(await bench.row(taskId)).toMatchObject({ crash_count: 0 });
  });

  it('runs a suspected task while it works on nothing else', async () => {
    let underWay = 0;
    const beside = new Map<string, number>();
    vendor.startTimeoutMs = 5_000;
    vendor.start = async (order) => {
      underWay += 1;
      await sleep(50);
      beside.set(order.taskId, underWay);
      underWay -= 1;
      return vendor.take(order);
    };
    const suspects = [await bench.submit(), await bench.submit()];
    for (const taskId of suspects) await bench.change(taskId, 'lapses = 2');
    const others: string[] = [];
    const worker = startWorker('careful', 4);
    await eventually(async () => {
      others.push(await bench.submit());
      const states = await Promise.all(suspects.map(stateOf));
      return states.every((state) => state === 'running');
    });
    expect(suspects.map((taskId) => beside.get(taskId))).toEqual([1, 1]);
    await eventually(async () => (await Promise.all(others.map(stateOf))).every((state) => state === 'running'));
    await eventually(() => worker.inHand === 0);
  });
});
