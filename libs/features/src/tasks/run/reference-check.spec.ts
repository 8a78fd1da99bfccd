import type { SafeFetcher } from '#platform';
import { createWorker } from '#runtime';
import { eventually } from '#testing';
import { MediaUpstreams } from '../../media-upstreams/media-upstreams.js';
import { MediaWorker } from './media-worker.js';
import { MediaWorkerModule } from './media-worker.module.js';
import { ScriptedUpstream } from './testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

describe('The check of a referenced file', () => {
  const upstreams = MediaUpstreams.of(new ScriptedUpstream('vendor'));
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
  });
  afterAll(() => bench.close());

  it('may take MEDIA_INSPECT_TIMEOUT_SECONDS in a worker', async () => {
    const { media, ...config } = bench.platform.config;
    const limits: number[] = [];
    const get = (_url: string, limit: { timeoutMs: number }): Promise<never> => {
      limits.push(limit.timeoutMs);
      return Promise.reject(new Error('connection refused'));
    };
    const fetcher = Object.create(bench.platform.fetcher, { get: { value: get } }) as SafeFetcher;
    const settings = Object.assign(Object.create(media) as typeof media, { MEDIA_INSPECT_TIMEOUT_SECONDS: 7 });
    const platform = { ...bench.platform, fetcher, config: { ...config, media: settings } };
    const worker = await createWorker(MediaWorkerModule.register('image', 1, platform, upstreams), MediaWorker);
    worker.start();
    const parameters = {
      model: 'eta-image-2.0',
      prompt: 'a lighthouse',
      size: '1:1',
      resolution: '1K',
      n: 1,
      image_urls: ['https://media.example/one.png'],
    };
    await bench.submit({ parameters, mode: 'image-to-image' });
    await eventually(() => limits.length > 0);
    await worker.stop(1_000);
    expect(limits[0]).toBe(7_000);
  });
});
