import { type MediaUpstreams, MediaWorker, MediaWorkerModule } from '#features';
import { createWorker, type Platform } from '#runtime';

/** The worker of image tasks. */
export const createImageWorker = (platform: Platform, upstreams: MediaUpstreams): Promise<MediaWorker> =>
  createWorker(
    MediaWorkerModule.register('image', platform.config.worker.IMAGE_WORKER_CONCURRENCY, platform, upstreams),
    MediaWorker,
  );
