import { createWorker } from '#runtime';
import { eventually } from '#testing';
import { MediaUpstreams } from '../../../upstreams/media-upstreams.js';
import { UpstreamPoller } from '../../poll/upstream-poller.js';
import { MediaWorker } from '../media-worker.js';
import { MediaWorkerModule } from '../media-worker.module.js';
import { ScriptedUpstream } from '../testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from '../testing/task-bench.js';

const FINISHED = {
  kind: 'finished',
  outputs: [{ role: 'output', contentType: 'image/png', url: 'https://v.invalid/1.png' }],
} as const;

describe('Long calls to vendors', () => {
  const upstreams = new MediaUpstreams();
  let vendor: ScriptedUpstream;
  let bench: TaskBench;
  let workers: MediaWorker[] = [];
  let round = 0;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    await bench.database.query({ text: 'truncate task cascade' });
    round += 1;
    vendor = new ScriptedUpstream(`slow-${round}`);
    upstreams.exchange([vendor.routed()]);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(200)));
  });

  /** A worker as its process has it, with one slot by default. */
  async function startWorker(concurrency = 1, callGraceSeconds = 1): Promise<MediaWorker> {
    bench.platform.config.worker.CALL_GRACE_SECONDS = callGraceSeconds;
    const module = MediaWorkerModule.register('image', concurrency, bench.platform, upstreams);
    const worker = await createWorker(module, MediaWorker);
    workers.push(worker);
    worker.start();
    return worker;
  }
  const statesOf = async (): Promise<string[]> => {
    const { rows } = await bench.database.query<{ state: string }>({ text: 'select state from task order by state' });
    return rows.map(({ state }) => state);
  };
  /** Of the style that answers with the files; each call lasts until it is answered. */
  function answersLate(): { answer: () => void } {
    vendor.traits = { ...vendor.traits, style: 'call', startTimeoutMs: 600_000 };
    const waiting: (() => void)[] = [];
    vendor.onStart = (_, { signal }) =>
      new Promise((resolve, reject) => {
        waiting.push(() => resolve(FINISHED));
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    return { answer: () => waiting.splice(0).forEach((answer) => answer()) };
  }

  it('free their slot for other tasks', async () => {
    const { answer } = answersLate();
    await startWorker(1);
    for (let order = 0; order < 3; order += 1) await bench.submit();
    await eventually(() => vendor.asked === 3);
    expect(await statesOf()).toEqual(['submitting', 'submitting', 'submitting']);
    answer();
    await eventually(async () => (await statesOf()).every((state) => state === 'storing'));
  });

  it('get CALL_GRACE_SECONDS when the worker stops, so that paid work is kept', async () => {
    const { answer } = answersLate();
    const taskId = await bench.submit();
    const worker = await startWorker(1, 300);
    await eventually(() => vendor.asked === 1);
    workers = [];
    const beganMs = performance.now();
    const stopped = worker.stop(100);
    // Longer than any other step has, with the time for giving it up.
    await eventually(() => performance.now() - beganMs > 1_500);
    answer();
    await stopped;
    expect(await bench.row(taskId)).toMatchObject({ state: 'storing', crash_count: 0 });
    expect(vendor.asked).toBe(1);
  });

  it('are given up when CALL_GRACE_SECONDS are over, and the worker ends', async () => {
    answersLate();
    const taskId = await bench.submit();
    const worker = await startWorker(1, 1);
    await eventually(() => vendor.asked === 1);
    workers = [];
    await worker.stop(100);
    expect(await bench.row(taskId)).toMatchObject({ state: 'failed', charged_micros: 0n, lease_owner: null });
  });

  it('complete a check that takes longer than half a lease, asked once', async () => {
    const leaseMs = 4_000;
    vendor.traits = { ...vendor.traits, checkTimeoutMs: 10_000 };
    let asked = 0;
    vendor.onCheck = async () => {
      asked += 1;
      const beganMs = performance.now();
      await eventually(() => performance.now() - beganMs > leaseMs * 1.5);
      return { state: 'succeeded', outputs: FINISHED.outputs };
    };
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), new AbortController().signal);
    const poller = new UpstreamPoller(vendor.id, { ...bench.deps, leaseMs });
    poller.start();
    await eventually(async () => (await bench.row(taskId)).state === 'storing');
    await poller.stop(1_000);
    expect(asked).toBe(1);
  });

  it('never exceed the running orders of a vendor account, over two workers', async () => {
    upstreams.exchange([vendor.routed({ limits: { running: 2 } })]);
    await Promise.all([startWorker(4), startWorker(4)]);
    const ids = await Promise.all(Array.from({ length: 6 }, () => bench.submit()));
    const seen: number[] = [];
    let done = false;
    vendor.onCheck = async () => {
      seen.push((await statesOf()).filter((state) => state === 'running').length);
      return done ? { state: 'failed', code: 'upstream_error', publicReason: 'over' } : { state: 'pending' };
    };
    await eventually(() => seen.length >= 4);
    expect(vendor.taken).toHaveLength(2);
    done = true;
    await eventually(async () => (await statesOf()).every((state) => state === 'failed'));
    expect(vendor.taken.toSorted()).toEqual(ids.toSorted());
    expect(Math.max(...seen)).toBeLessThanOrEqual(2);
  });
});
