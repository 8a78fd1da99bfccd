import type { ProviderOutput } from '#contracts';
import { FakeVendor } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const never = new AbortController().signal;

describe('Storing what a vendor made', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  const LAST_FRAME: ProviderOutput = {
    role: 'last_frame',
    contentType: 'image/png',
    url: 'https://vendor.example/last.png',
  };

  it.each([
    ['nothing at all', []],
    ['a last frame without its film', [LAST_FRAME]],
  ])('charges nothing when the vendor says that it is done and delivers %s', async (_, outputs) => {
    const billing = { unit: 'image', variant: 'default', settle: 'as-held', quantity: 1 } as const;
    const taskId = await bench.submit({ billing });
    await bench.start.run(await bench.claim(taskId), never);
    await bench.schedule.finish(taskId, outputs);
    await bench.store.run(await bench.claim(taskId), never);
    expect(await bench.row(taskId)).toMatchObject({
      state: 'failed',
      error_code: 'upstream_error',
      charged_micros: 0n,
    });
    expect(await bench.entries(taskId)).toEqual(['hold', 'release']);
  });
});
