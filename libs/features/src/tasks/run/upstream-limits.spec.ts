import { FakeVendor } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

describe('What all workers together may ask of a vendor', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  /** Lets time pass for the rates. */
  const later = (provider: string, ms: number) =>
    bench.database.query({
      text: `update upstream_limit set next_call_at = next_call_at - $2::integer * interval '1 millisecond' where provider = $1`,
      values: [provider, ms],
    });

  it('grants a rate below one a second one call at a time, and says when the next comes', async () => {
    const take = () => bench.limits.take('five-a-minute', 'start', 3, 5 / 60);
    expect(await take()).toMatchObject({ calls: 1 });
    const refused = await take();
    expect(refused.calls).toBe(0);
    expect(refused.waitMs).toBeGreaterThan(11_000);
    expect(refused.waitMs).toBeLessThanOrEqual(12_000);
    await later('five-a-minute', 12_000);
    expect(await take()).toMatchObject({ calls: 1 });
    await later('five-a-minute', 600_000);
    expect(await take()).toMatchObject({ calls: 1 });
  });

  it('grants a second of calls at once where the rate allows several', async () => {
    const take = () => bench.limits.take('ten-a-second', 'check', 30, 10);
    expect(await take()).toMatchObject({ calls: 10 });
    const { calls, waitMs } = await take();
    expect(calls).toBe(0);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(100);
  });
});
