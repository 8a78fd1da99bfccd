import { Readable } from 'node:stream';
import type { ProviderOutput } from '#contracts';
import type { MediaStore } from '#media';
import { pngSample } from '#testing';
import { StoreStep } from './store-step.js';
import { FakeVendor } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const never = new AbortController().signal;

describe('Storing what a vendor made', () => {
  let bench: TaskBench;
  const vendor = new FakeVendor();
  beforeAll(async () => {
    bench = await openTaskBench(vendor);
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

  it('stops reading a file back from a store that hangs when the task is lost', async () => {
    vendor.open = async () => Readable.from([pngSample({ width: 8, height: 8 })]);
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), never);
    await bench.schedule.finish(taskId, [
      { role: 'output', contentType: 'image/png', url: 'https://vendor.example/a' },
    ]);
    const lease = new AbortController();
    let reading: AbortSignal | undefined;
    const open: MediaStore['open'] = (_key, _range, signal) => {
      reading = signal;
      queueMicrotask(() => lease.abort(new Error('the task is lost')));
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    };
    const store = Object.create(bench.platform.store, { open: { value: open } }) as MediaStore;
    const { moves, settlement, providers, platform } = bench;
    const { fetcher, failpoints } = platform;
    const step = new StoreStep({ moves, settlement, providers, store, fetcher, failpoints });
    await expect(step.run(await bench.claim(taskId), lease.signal)).rejects.toThrow('the task is lost');
    expect(reading?.aborted).toBe(true);
  });
});
