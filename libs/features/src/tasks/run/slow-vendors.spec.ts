import { createWorker } from '#runtime';
import { eventually } from '#testing';
import { MediaUpstreams } from '../../media-upstreams/media-upstreams.js';
import { MediaWorker } from './media-worker.js';
import { MediaWorkerModule } from './media-worker.module.js';
import { ScriptedUpstream } from './testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const QUEUED = 1_000;
const STARTS = 6;

describe('A vendor that starts five orders a minute', () => {
  const upstreams = new MediaUpstreams();
  const vendor = new ScriptedUpstream('slow');
  let bench: TaskBench;
  let workers: MediaWorker[] = [];
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
    upstreams.exchange([vendor.routed({ limits: { startsPerMinute: 5 } })]);
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop(200)));
    await bench.close();
  });

  async function fillQueue(): Promise<void> {
    const like = await bench.submit();
    await bench.database.query({
      text: `insert into task select (jsonb_populate_record(t, jsonb_build_object('id', t.id || '-' || n))).*
        from task t, generate_series(2, ${QUEUED}) n where t.id = $1`,
      values: [like],
    });
  }

  /** Two seconds go by for the vendor's limits and the queue, while all else goes at its own pace. */
  async function timePasses(): Promise<void> {
    const earlier = `- interval '2 seconds'`;
    await bench.database.query({
      text: `update upstream_limit set next_call_at = next_call_at ${earlier}, paused_until = paused_until ${earlier}`,
    });
    await bench.database.query({
      text: `update task set lease_until = lease_until ${earlier} where state = 'queued' and lease_until > now()`,
    });
  }

  async function claims(): Promise<{ all: number; most: number }> {
    const { rows } = await bench.database.query<{ all: number; most: number }>({
      text: 'select sum(attempt)::integer as all, max(attempt) as most from task',
    });
    return rows[0] ?? { all: 0, most: 0 };
  }

  it('has a thousand tasks wait before it without being claimed in vain, by two workers', async () => {
    await fillQueue();
    const open = () => createWorker(MediaWorkerModule.register('image', 16, bench.platform, upstreams), MediaWorker);
    workers = [await open(), await open()];
    for (const worker of workers) worker.start();
    await eventually(
      async () => {
        await timePasses();
        return vendor.taken.length >= STARTS;
      },
      { pauseMs: 100 },
    );
    const starts = vendor.taken.length;
    const { all, most } = await claims();
    expect(new Set(vendor.taken).size).toBe(starts);
    expect(most).toBeLessThanOrEqual(2);
    // A worker hears of the other's start within half a second.
    expect(all).toBeLessThanOrEqual(3 * starts);
  });
});
