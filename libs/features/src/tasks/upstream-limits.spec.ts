import type { Database } from '#platform';
import { eventually, skewClock } from '#testing';
import { FakeVendor } from './run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './run/testing/task-bench.js';
import { UpstreamLimits } from './upstream-limits.js';

describe('The shared rate limit of a vendor', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  interface Moment {
    readonly take: () => ReturnType<UpstreamLimits['take']>;
    /** Lets time pass for the rates. */
    readonly later: (ms: number) => Promise<unknown>;
  }

  /** What is asked in one moment: inside a transaction the clock of the database stands still. */
  const inOneMoment = (
    account: string,
    wanted: number,
    perSecond: number,
    ask: (moment: Moment) => Promise<void>,
  ): Promise<void> =>
    bench.database.transaction((stopped) => {
      const limits = new UpstreamLimits(stopped as Database);
      const text = `update upstream_limit set next_call_at = next_call_at - $2::integer * interval '1 millisecond' where provider = $1`;
      return ask({
        take: () => limits.take(account, 'start', wanted, perSecond),
        later: (ms) => stopped.query({ text, values: [account, ms] }),
      });
    });

  it('grants one call at a time for a rate below one a second, and says when the next is allowed', () =>
    inOneMoment('five-a-minute', 3, 5 / 60, async ({ take, later }) => {
      expect(await take()).toMatchObject({ calls: 1 });
      expect(await take()).toEqual({ calls: 0, waitMs: 12_000 });
      await later(12_000);
      expect(await take()).toMatchObject({ calls: 1 });
      await later(600_000);
      expect(await take()).toMatchObject({ calls: 1 });
    }));

  it('ends a pause after its time, although the time of day is set back by an hour meanwhile', async () => {
    const limits = new UpstreamLimits(bench.database);
    await limits.pause('paused', 'start', 1_500);
    const setRight = skewClock(-3_600_000);
    try {
      expect(await limits.pausedMs('paused', 'start')).toBeGreaterThan(0);
      await eventually(async () => (await limits.pausedMs('paused', 'start')) === 0);
    } finally {
      setRight();
    }
  });

  it('holds a longer pause at every process although a shorter one has not ended, and never shortens one', async () => {
    const limits = new UpstreamLimits(bench.database);
    const elsewhere = () => new UpstreamLimits(bench.database).pausedMs('asked-again', 'start');
    for (const pauseMs of [60_000, 90_000, 5_000]) await limits.pause('asked-again', 'start', pauseMs);
    expect(await elsewhere()).toBeGreaterThan(80_000);
  });

  it('writes a pause once that hundreds of calls are told at the same time', async () => {
    let written = 0;
    const query: Database['query'] = (statement) => {
      if (statement.text.includes('insert')) written += 1;
      return bench.database.query(statement);
    };
    const limits = new UpstreamLimits({ query } as Database);
    for (let call = 0; call < 200; call += 1) await limits.pause('told-often', 'start', 60_000);
    expect(written).toBe(1);
  });

  it('grants a second of calls at once where the rate allows several', () =>
    inOneMoment('ten-a-second', 30, 10, async ({ take }) => {
      expect(await take()).toMatchObject({ calls: 10 });
      expect(await take()).toEqual({ calls: 0, waitMs: 100 });
    }));
});
