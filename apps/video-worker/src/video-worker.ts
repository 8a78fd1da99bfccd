import { type MediaUpstreams, MediaWorker, MediaWorkerModule } from '#features';
import { createWorker, type Platform } from '#runtime';

/** The worker of video tasks. */
export const createVideoWorker = (platform: Platform, upstreams: MediaUpstreams): Promise<MediaWorker> =>
  createWorker(
    MediaWorkerModule.register('video', platform.config.worker.VIDEO_WORKER_CONCURRENCY, platform, upstreams),
    MediaWorker,
  );
