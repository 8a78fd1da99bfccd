import { loadConfig } from '#platform';
import { openMediaProviders, SandboxConfig } from '#providers';
import { onPlatform, runProcess } from '#runtime';
import { createVideoWorker } from './video-worker.js';

await runProcess({
  name: 'video-worker',
  settings: { sandbox: () => loadConfig(SandboxConfig) },
  start: (config, { sandbox }) =>
    onPlatform(config, async (platform) => {
      const providers = openMediaProviders(sandbox);
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
});
