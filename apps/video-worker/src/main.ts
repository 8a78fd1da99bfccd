import { onPlatform, runProcess } from '#platform';
import { openMediaProviders } from '#providers';
import { createVideoWorker } from './video-worker.js';

await runProcess('video-worker', () =>
  onPlatform(async (platform) => {
    const providers = openMediaProviders();
    const worker = createVideoWorker(platform, providers.registry);
    worker.start();
    return {
      ready: 'waiting for video tasks',
      stop: async (graceMs) => {
        await worker.stop(graceMs);
        await providers.close();
      },
    };
  }),
);
