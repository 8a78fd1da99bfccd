import { expectBalanceUnit, MediaUpstreamRegistry } from '#features';
import { openMediaUpstreams } from '#providers';
import { onPlatform, runProcess } from '#runtime';
import { createVideoWorker } from './video-worker.js';

await runProcess({
  name: 'video-worker',
  settings: { media: () => openMediaUpstreams() },
  start: (config, { media }) =>
    onPlatform(config, async (platform) => {
      await expectBalanceUnit(platform.database, config.server.BALANCE_UNIT);
      const registry = new MediaUpstreamRegistry(platform.database, platform.sealer, media);
      await registry.start();
      const worker = await createVideoWorker(platform, registry.upstreams);
      worker.start();
      return {
        ready: 'waiting for video tasks',
        stop: async (graceMs) => {
          await worker.stop(graceMs);
          await registry.close();
          await media.close();
        },
      };
    }),
});
