import type { MediaStoreConfig } from '#media';

/** The bounds of storing what a vendor made. */
export interface StoreLimits {
  /** The largest file that is accepted. */
  readonly maxBytes: number;
  /** The longest that one download may take, and all the files of a task together, in milliseconds. */
  readonly downloadMs: number;
  readonly stepMs: number;
}

/** What a task has for its further files, and for proving all readable, besides its longest download. */
const OTHER_FILES_MS = 60_000;
const MEBIBYTE = 1024 ** 2;

export const storeLimitsOf = (config: MediaStoreConfig): StoreLimits => {
  const downloadMs = config.MEDIA_DOWNLOAD_TIMEOUT_SECONDS * 1000;
  return { maxBytes: config.MEDIA_MAX_FILE_MB * MEBIBYTE, downloadMs, stepMs: downloadMs + OTHER_FILES_MS };
};
