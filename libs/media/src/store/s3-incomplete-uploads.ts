import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';
import { logger, withinTime } from '#platform';

const log = logger('media-store');

/** An upload this old was left by a process that died: none may take longer than a quarter of an hour. */
const STALE_MS = 24 * 3_600_000;

/** How often they are looked for, when something is written. */
const SWEEP_EVERY_MS = 3_600_000;

/** The longest a sweep may take, in milliseconds. */
const SWEEP_LIMIT_MS = 60_000;

/** The first parts of the keys that the gateway writes. A bucket may hold files of others, whose uploads are theirs. */
const OURS = /^(?:media|uploads)\//;

/** What sweeping needs of a store. */
export interface IncompleteUploadsOptions {
  readonly client: Pick<S3Client, 'send'>;
  readonly bucket: string;
  /** Current time in milliseconds; the system clock when it is left out. */
  readonly now?: (() => number) | undefined;
}

/** Parts in a bucket whose upload never ended, because its process was killed; buckets bill them and show them in no list of files. */
export class IncompleteUploads {
  private readonly now: () => number;
  private sweptAtMs = 0;

  constructor(private readonly options: IncompleteUploadsOptions) {
    this.now = options.now ?? Date.now;
  }

  /** Removes those older than a day, at most once an hour. Never throws: a bucket may lack the right, or the call. */
  async sweep(): Promise<void> {
    if (this.now() - this.sweptAtMs < SWEEP_EVERY_MS) return;
    this.sweptAtMs = this.now();
    try {
      const removed = await withinTime(SWEEP_LIMIT_MS, undefined, (signal) => this.removeStale(signal));
      if (removed > 0) log.info('media_store.incomplete_uploads_removed', { removed });
    } catch (error) {
      log.warn('media_store.incomplete_uploads_kept', { error });
    }
  }

  private async removeStale(abortSignal: AbortSignal): Promise<number> {
    const { client, bucket: Bucket } = this.options;
    let removed = 0;
    let next: { KeyMarker: string | undefined; UploadIdMarker: string | undefined } | undefined;
    do {
      const page = await client.send(new ListMultipartUploadsCommand({ Bucket, ...next }), { abortSignal });
      for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
        if (!OURS.test(Key) || !Initiated || this.now() - Initiated.getTime() < STALE_MS) continue;
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal });
        removed += 1;
      }
      next = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : undefined;
    } while (next);
    return removed;
  }
}
