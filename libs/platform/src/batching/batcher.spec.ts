import { mock } from 'node:test';
import { Batcher, type BatcherOptions } from './batcher.js';

const OPTIONS = { maxItems: 3, maxRunsInFlight: 1 };

/** Lets all that may run at once run. */
const untilIdle = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Runs `test` at a time that only `pass` moves. */
async function atHandTurnedTime(test: (pass: (milliseconds: number) => void) => Promise<void>): Promise<void> {
  let nowMs = 1_000;
  mock.method(performance, 'now', () => nowMs);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    await test((milliseconds) => {
      nowMs += milliseconds;
      mock.timers.tick(milliseconds);
    });
  } finally {
    mock.timers.reset();
    mock.restoreAll();
  }
}

describe('Batcher', () => {
  it('gives each item its own result, in order', async () => {
    const batcher = new Batcher(async (items: readonly number[]) => items.map((item) => item * 10), OPTIONS);
    await expect(Promise.all([1, 2, 3, 4].map((item) => batcher.add(item)))).resolves.toEqual([10, 20, 30, 40]);
  });

  it('batches what arrives together, up to the limit', async () => {
    const runs: number[] = [];
    const batcher = new Batcher(async (items: readonly number[]) => {
      runs.push(items.length);
      return items;
    }, OPTIONS);
    await Promise.all([1, 2, 3, 4].map((item) => batcher.add(item)));
    expect(runs).toEqual([3, 1]);
  });

  it('begins at once when idle, and not before its pause after a run that just began', () =>
    atHandTurnedTime(async (pass) => {
      const runs: number[] = [];
      const batcher = new Batcher(
        async (items: readonly number[]) => {
          runs.push(items.length);
          return items;
        },
        { maxItems: 10, maxRunsInFlight: 1, pauseMs: 60 },
      );
      await batcher.add(1);
      const second = batcher.add(2);
      pass(59);
      await untilIdle();
      const third = batcher.add(3);
      expect(runs).toEqual([1]);
      pass(1);
      expect(await Promise.all([second, third])).toEqual([2, 3]);
      expect(runs).toEqual([1, 2]);
      pass(60);
      await batcher.add(4);
      expect(runs).toEqual([1, 2, 1]);
    }));

  it('never has more concurrent runs than allowed', async () => {
    let inFlight = 0;
    let most = 0;
    const batcher = new Batcher(
      async (items: readonly number[]) => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await untilIdle();
        inFlight -= 1;
        return items;
      },
      { maxItems: 1, maxRunsInFlight: 2 },
    );
    await Promise.all(Array.from({ length: 10 }, (_, item) => batcher.add(item)));
    expect(most).toBe(2);
  });

  it('never has items of one key in two runs at once, and lets items of other keys pass them', async () => {
    const runs: { items: readonly string[]; end: () => void }[] = [];
    const batcher = new Batcher(
      (items: readonly string[]) =>
        new Promise<readonly string[]>((resolve) => runs.push({ items, end: () => resolve(items) })),
      { maxItems: 3, maxRunsInFlight: 2, keyOf: (item) => item.charAt(0) },
    );
    const add = async (...items: string[]): Promise<Promise<string>[]> => {
      const added = items.map((item) => batcher.add(item));
      await untilIdle();
      return added;
    };
    const seen = (): (readonly string[])[] => runs.map(({ items }) => items);
    const answers = await add('a1', 'b1');
    answers.push(...(await add('a2', 'c1', 'b2', 'c2')));
    expect(seen()).toEqual([
      ['a1', 'b1'],
      ['c1', 'c2'],
    ]);
    answers.push(...(await add('a3', 'c3')));
    runs[0]?.end();
    await untilIdle();
    expect(seen().slice(2)).toEqual([['a2', 'b2', 'a3']]);
    runs[1]?.end();
    await untilIdle();
    expect(seen().slice(3)).toEqual([['c3']]);
    for (const { end } of runs) end();
    expect(await Promise.all(answers)).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'c2', 'a3', 'c3']);
  });

  it('gives the error of a run to all of its items and goes on with the next', async () => {
    let calls = 0;
    const batcher = new Batcher(async (items: readonly number[]) => {
      calls += 1;
      if (calls === 1) throw new Error('first run broke');
      return items;
    }, OPTIONS);
    const first = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
    expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(batcher.add(3)).resolves.toBe(3);
  });

  /** A batcher whose first run lasts until it is let go. */
  function held(options: Partial<BatcherOptions<number>>) {
    const runs: (readonly number[])[] = [];
    let letGo = (): void => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const run = async (items: readonly number[]) => {
      runs.push(items);
      await gate;
      return items;
    };
    return { batcher: new Batcher(run, { ...OPTIONS, ...options }), runs, letGo: () => letGo() };
  }
  const REFUSED = { code: 'overloaded', retryAfterMs: expect.any(Number) };

  it('refuses new items when the queue is full, and still serves those in it', async () => {
    const { batcher, letGo } = held({ maxWaiting: 2 });
    const first = batcher.add(1);
    await untilIdle();
    const waiting = [batcher.add(2), batcher.add(3)];
    await expect(batcher.add(4)).rejects.toMatchObject(REFUSED);
    letGo();
    await expect(Promise.all([first, ...waiting])).resolves.toEqual([1, 2, 3]);
  });

  it('limits the size of a run, and runs a larger item alone', async () => {
    const { batcher, runs, letGo } = held({ sizes: { of: (item) => item, maxRun: 10, maxWaiting: 100 } });
    const all = [50, 4, 6, 1].map((item) => batcher.add(item));
    letGo();
    await Promise.all(all);
    expect(runs).toEqual([[50], [4, 6], [1]]);
  });

  it('refuses items that would exceed the total size of the queue', async () => {
    const { batcher, letGo } = held({ sizes: { of: (item) => item, maxRun: 10, maxWaiting: 10 } });
    const first = batcher.add(500);
    await untilIdle();
    const waiting = batcher.add(6);
    await expect(batcher.add(5)).rejects.toMatchObject(REFUSED);
    letGo();
    await expect(Promise.all([first, waiting])).resolves.toEqual([500, 6]);
  });

  it('keeps as much room for items of other keys as those of one key take', async () => {
    const sizes = { of: (item: number) => item, maxRun: 100, maxWaiting: 100 };
    const keyOf = (item: number) => (item < 10 ? 'small' : 'large');
    for (const [options, fits, tooMany, others] of [
      [{ maxWaiting: 6, keyOf }, [1, 2, 3], 4, [11, 12]],
      [{ sizes, keyOf }, [20, 30, 40], 10, [5, 4]],
    ] as const) {
      const { batcher, letGo } = held(options);
      const first = batcher.add(0);
      await untilIdle();
      const waiting = fits.map((item) => batcher.add(item));
      await expect(batcher.add(tooMany)).rejects.toMatchObject(REFUSED);
      waiting.push(...others.map((item) => batcher.add(item)));
      letGo();
      await expect(Promise.all([first, ...waiting])).resolves.toEqual([0, ...fits, ...others]);
      await expect(batcher.add(tooMany)).resolves.toBe(tooMany);
    }
  });

  it('never runs an item that waited longer than its caller does', async () => {
    const { batcher, runs, letGo } = held({ maxWaitMs: 20 });
    const first = batcher.add(1);
    await untilIdle();
    const late = Promise.allSettled([batcher.add(2)]);
    await new Promise((resolve) => setTimeout(resolve, 40));
    letGo();
    await first;
    expect(await late).toMatchObject([{ status: 'rejected', reason: REFUSED }]);
    expect(runs).toEqual([[1]]);
  });

  it('runs each item alone when one of them fails the run', async () => {
    const run = async (items: readonly number[]) => {
      if (items.includes(13)) throw new Error('13 cannot be written');
      return items;
    };
    const batcher = new Batcher(run, { ...OPTIONS, isItemFault: () => true });
    const outcomes = await Promise.allSettled([12, 13, 14].map((item) => batcher.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('refuses a run with fewer results than items', async () => {
    const batcher = new Batcher(async () => [] as number[], OPTIONS);
    await expect(batcher.add(1)).rejects.toThrow('1 items answered 0 results');
  });
});
