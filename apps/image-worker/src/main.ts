import { onPlatform, runProcess } from '#platform';
import { openMediaProviders } from '#providers';
import { createImageWorker } from './image-worker.js';

await runProcess('image-worker', () =>
  onPlatform(async (platform) => {
    const providers = openMediaProviders();
    const worker = createImageWorker(platform, providers.registry);
    worker.start();
    return {
      ready: 'waiting for image tasks',
      stop: async (graceMs) => {
        await worker.stop(graceMs);
        await providers.close();
      },
    };
  }),
);
