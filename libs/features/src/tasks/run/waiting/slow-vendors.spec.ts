import { failedBecause } from '#contracts';
import { createWorker } from '#runtime';
import { eventually } from '#testing';
import { MediaUpstreams } from '../../../upstreams/media-upstreams.js';
import { MediaWorker } from '../media-worker.js';
import { MediaWorkerModule } from '../media-worker.module.js';
import { ScriptedUpstream } from '../testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from '../testing/task-bench.js';

/** In the long form a thousand tasks go to their end at five a minute, in the short one the first few of them. */
const IS_LONG = process.env['SLOW_VENDOR'] === 'whole';
const QUEUED = IS_LONG ? 1_000 : 100;
const STARTS = IS_LONG ? QUEUED : 6;
/** Of the long form, whose two hundred minutes go by some twenty times as fast. */
const LONGEST_MS = IS_LONG ? 2_400_000 : 100_000;
/** Of the pass of time, at each look. */
const STEP_SECONDS = IS_LONG ? 4 : 2;
/** So many go to their end. */
const TO_THE_END = 24;
const AT_ONCE = 3;

describe('A vendor that starts five orders a minute', () => {
  const upstreams = new MediaUpstreams();
  const vendor = new ScriptedUpstream('slow');
  let bench: TaskBench;
  let workers: MediaWorker[] = [];
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
    vendor.traits = { ...vendor.traits, firstCheckMs: 20, checkEveryMs: 20 };
    vendor.onCheck = async () => failedBecause('content_refused');
    upstreams.exchange([vendor.routed({ limits: { startsPerMinute: 5 } })]);
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop(200)));
    await bench.close();
  });

  async function fillQueue(): Promise<void> {
    const like = await bench.submit({ deadlineSeconds: 86_400 });
    await bench.database.query({
      text: `insert into task select (jsonb_populate_record(t, jsonb_build_object('id', t.id || '-' || n))).*
        from task t, generate_series(2, ${QUEUED}) n where t.id = $1`,
      values: [like],
    });
    // Each of them holds what the first does.
    for (const payer of ['account', 'api_key'])
      await bench.database.query({ text: `update ${payer} set held_micros = held_micros * ${QUEUED}` });
  }

  let passedMs = 0;
  /** Some seconds go by for the vendor's limits and the queue, while all else goes at its own pace. */
  async function timePasses(): Promise<void> {
    passedMs += STEP_SECONDS * 1_000;
    const earlier = `- interval '${STEP_SECONDS} seconds'`;
    await bench.database.query({
      text: `update upstream_limit set next_call_at = next_call_at ${earlier}, paused_until = paused_until ${earlier}`,
    });
    await bench.database.query({
      text: `update task set lease_until = lease_until ${earlier} where state = 'queued' and lease_until > now()`,
    });
  }

  async function claims(): Promise<{ all: number; most: number; open: number }> {
    const { rows } = await bench.database.query<{ all: number; most: number; open: number }>({
      text: `select sum(attempt)::integer as all, max(attempt) as most,
        count(*) filter (where finished_at is null)::integer as open from task`,
    });
    return rows[0] ?? { all: 0, most: 0, open: 0 };
  }

  it(
    'is claimed for no sooner than it starts, by two workers, until all that waits has ended',
    async () => {
      await fillQueue();
      const open = () => createWorker(MediaWorkerModule.register('image', 16, bench.platform, upstreams), MediaWorker);
      workers = [await open(), await open()];
      for (const worker of workers) worker.start();
      const until = (isOver: () => boolean | Promise<boolean>) =>
        eventually(
          async () => {
            await timePasses();
            return isOver();
          },
          { pauseMs: 100, limitMs: LONGEST_MS, shows: () => `${vendor.taken.length} of ${QUEUED} were taken` },
        );
      const beganMs = performance.now();
      await until(() => vendor.taken.length >= STARTS);
      const starts = vendor.taken.length;
      const { all, most } = await claims();
      const minutes = (passedMs + performance.now() - beganMs) / 60_000;
      expect(starts).toBeLessThanOrEqual(1 + 5 * minutes);
      expect(most).toBeLessThanOrEqual(2);
      // Besides those that went, each of the two keeps one in hand.
      expect(all).toBeLessThanOrEqual(starts + 4);
      // The vendor's customer pays for more.
      upstreams.exchange([vendor.routed({ limits: { startsPerMinute: 10_000 } })]);
      await until(async () => (await claims()).open === 0);
      expect((await claims()).most).toBeLessThanOrEqual(2);
      expect(vendor.taken).toHaveLength(QUEUED);
      expect(new Set(vendor.taken).size).toBe(QUEUED);
    },
    LONGEST_MS,
  );
});

describe('A vendor that works on three orders at once', () => {
  const upstreams = new MediaUpstreams();
  const vendor = new ScriptedUpstream('narrow');
  const underWay = new Set<string>();
  let mostUnderWay = 0;
  let bench: TaskBench;
  let workers: MediaWorker[] = [];
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
    vendor.traits = { ...vendor.traits, firstCheckMs: 20, checkEveryMs: 20 };
    vendor.onStart = async (order) => {
      underWay.add(order.taskId);
      mostUnderWay = Math.max(mostUnderWay, underWay.size);
      return vendor.take(order);
    };
    // The vendor is done when it says so: only then has it room for another.
    vendor.onCheck = async ({ ticket }) => {
      underWay.delete(ticket['taskId'] as string);
      return failedBecause('content_refused');
    };
    upstreams.exchange([vendor.routed({ limits: { running: AT_ONCE } })]);
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop(200)));
    await bench.close();
  });

  it('gets no fourth order from two workers, and every order once, until none is left', async () => {
    const tasks = await Promise.all(Array.from({ length: TO_THE_END }, () => bench.submit()));
    const open = () => createWorker(MediaWorkerModule.register('image', 16, bench.platform, upstreams), MediaWorker);
    workers = [await open(), await open()];
    for (const worker of workers) worker.start();
    await eventually(
      async () => {
        await bench.database.query({
          text: `update upstream_limit set paused_until = now() where paused_until > now()`,
        });
        await bench.database.query({
          text: `update task set lease_until = now() where state = 'queued' and lease_until > now()`,
        });
        const { rows } = await bench.database.query({ text: 'select from task where finished_at is null' });
        return rows.length === 0;
      },
      { pauseMs: 100 },
    );
    expect(vendor.taken.toSorted()).toEqual(tasks.toSorted());
    expect(mostUnderWay).toBe(AT_ONCE);
    const { rows } = await bench.database.query({ text: 'select distinct held_micros from account' });
    expect(rows).toEqual([{ held_micros: 0n }]);
  });
});
