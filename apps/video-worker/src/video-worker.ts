import { createMediaWorker, type MediaWorker } from '#features';
import type { MediaProviderRegistry } from '#providers';
import type { Platform } from '#runtime';

/** The worker of video tasks. */
export const createVideoWorker = (platform: Platform, providers: MediaProviderRegistry): MediaWorker =>
  createMediaWorker('video', platform.config.worker.VIDEO_WORKER_CONCURRENCY, platform, providers);
