import { ProviderError } from '#contracts';
import { FakeVendor } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const never = new AbortController().signal;

describe('Handing an order to a vendor', () => {
  const vendor = new FakeVendor();
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(vendor);
  });
  afterAll(() => bench.close());

  async function attempt(taskId: string): Promise<void> {
    await bench.start.run(await bench.claim(taskId), never);
  }

  it('goes on knowing of a first attempt that may have been taken, when a second is certainly refused', async () => {
    const taskId = await bench.submit();
    vendor.start = () => Promise.reject(new ProviderError('ambiguous', 'The answer was lost.'));
    await attempt(taskId);
    vendor.start = () => Promise.reject(new ProviderError('retryable', 'Busy.', { retryAfterMs: 1 }));
    await attempt(taskId);
    const task = await bench.row(taskId);
    expect([task.state, task.start_intent_at]).toEqual(['submitting', expect.any(Date)]);
    expect(await bench.settlement.cancelUnstarted(taskId)).toBe(false);
  });
});
