import { loadConfig } from '#platform';
import { openMediaProviders, SandboxConfig } from '#providers';
import { onPlatform, runProcess } from '#runtime';
import { createImageWorker } from './image-worker.js';

await runProcess({
  name: 'image-worker',
  settings: { sandbox: () => loadConfig(SandboxConfig) },
  start: (config, { sandbox }) =>
    onPlatform(config, async (platform) => {
      const providers = openMediaProviders(sandbox);
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
});
