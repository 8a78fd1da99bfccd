import type { Medium } from '#contracts';
import { openMediaUpstreams } from '#providers';
import { createWorker, onPlatform, type Platform, runProcess } from '#runtime';
import { expectBalanceUnit } from '../../accounts/seed.service.js';
import type { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { MediaUpstreamRegistry } from '../../upstreams/upstream-registry.js';
import { MediaWorker } from './media-worker.js';
import { MediaWorkerModule } from './media-worker.module.js';

/** The worker of the tasks of one medium, put together and not started. */
export function createMediaWorker(medium: Medium, platform: Platform, upstreams: MediaUpstreams): Promise<MediaWorker> {
  const { VIDEO_WORKER_CONCURRENCY, IMAGE_WORKER_CONCURRENCY } = platform.config.worker;
  const concurrency = medium === 'video' ? VIDEO_WORKER_CONCURRENCY : IMAGE_WORKER_CONCURRENCY;
  return createWorker(MediaWorkerModule.register(medium, concurrency, platform, upstreams), MediaWorker);
}

export const runMediaWorker = (medium: Medium): Promise<void> =>
  runProcess({
    name: `${medium}-worker`,
    settings: { media: () => openMediaUpstreams() },
    start: (config, { media }) =>
      onPlatform(config, async (platform) => {
        await expectBalanceUnit(platform.database, config.server.BALANCE_UNIT);
        const registry = new MediaUpstreamRegistry(platform.database, platform.sealer, media);
        await registry.start();
        const worker = await createMediaWorker(medium, platform, registry.upstreams);
        worker.start();
        return {
          ready: `waiting for ${medium} tasks`,
          stop: async (graceMs) => {
            await worker.stop(graceMs);
            await registry.close();
            await media.close();
          },
        };
      }),
  });
