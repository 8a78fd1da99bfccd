import { createMediaWorker, type MediaWorker } from '#features';
import type { MediaProviderRegistry } from '#providers';
import type { Platform } from '#runtime';

/** The worker of image tasks. */
export const createImageWorker = (platform: Platform, providers: MediaProviderRegistry): MediaWorker =>
  createMediaWorker('image', platform.config.worker.IMAGE_WORKER_CONCURRENCY, platform, providers);
