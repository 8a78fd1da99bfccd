import { FakeVendor } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

describe('The lease of a claimed task', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  it('is renewed while its step runs, and no more once the task went back to wait', async () => {
    const task = await bench.claim(await bench.submit());
    expect(await bench.moves.renewLease(task)).toBe(true);
    await bench.moves.requeue(task, { reason: 'The vendor is away.', delayMs: 3_600_000, counts: true });
    expect(await bench.moves.renewLease(task)).toBe(false);
  });
});
