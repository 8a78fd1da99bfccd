import { Coalescer } from './coalescer.js';

const OPTIONS = { maxItems: 3, maxRunsInFlight: 1 };

describe('Coalescer', () => {
  it('gives each item its own result, in order', async () => {
    const coalescer = new Coalescer(async (items: readonly number[]) => items.map((item) => item * 10), OPTIONS);
    await expect(Promise.all([1, 2, 3, 4].map((item) => coalescer.add(item)))).resolves.toEqual([10, 20, 30, 40]);
  });

  it('gathers what arrives together, up to the bound', async () => {
    const runs: number[] = [];
    const coalescer = new Coalescer(async (items: readonly number[]) => {
      runs.push(items.length);
      return items;
    }, OPTIONS);
    await Promise.all([1, 2, 3, 4].map((item) => coalescer.add(item)));
    expect(runs).toEqual([3, 1]);
  });

  it('never has more runs under way than allowed', async () => {
    let inFlight = 0;
    let most = 0;
    const coalescer = new Coalescer(
      async (items: readonly number[]) => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inFlight -= 1;
        return items;
      },
      { maxItems: 1, maxRunsInFlight: 2 },
    );
    await Promise.all(Array.from({ length: 10 }, (_, item) => coalescer.add(item)));
    expect(most).toBe(2);
  });

  it('gives the error of a run to all of its items and goes on with the next', async () => {
    let calls = 0;
    const coalescer = new Coalescer(async (items: readonly number[]) => {
      calls += 1;
      if (calls === 1) throw new Error('first run broke');
      return items;
    }, OPTIONS);
    const first = await Promise.allSettled([coalescer.add(1), coalescer.add(2)]);
    expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(coalescer.add(3)).resolves.toBe(3);
  });

  it('refuses a run that answers fewer results than it had items', async () => {
    const coalescer = new Coalescer(async () => [] as number[], OPTIONS);
    await expect(coalescer.add(1)).rejects.toThrow('1 items answered 0 results');
  });
});
