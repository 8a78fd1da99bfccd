import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { logger, withinTime } from '#platform';
import type { ByteMeter } from './byte-meter.js';
import { MediaStoreError } from './media-store.js';

/** One part of a multipart upload; the store holds at most two at a time. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/** Where a file goes. */
interface UploadTarget {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly contentType: string;
}

/**
 * Streams a body in parts. Whatever goes wrong, the parts already sent are removed by the client library; nobody waits for that.
 *
 * @throws what broke the body, `MediaStoreError` as the bucket answered.
 */
export async function uploadInParts(
  { client, bucket, key, contentType }: UploadTarget,
  body: Readable,
  meter: ByteMeter,
  signal: AbortSignal,
): Promise<void> {
  const failing = failingFirst(client);
  const upload = new Upload({
    client: failing.client,
    params: { Bucket: bucket, Key: key, Body: meter, ContentType: contentType },
    partSize: PART_BYTES,
    queueSize: PARTS_AT_ONCE,
  });
  const stop = (): void => void upload.abort();
  signal.addEventListener('abort', stop, { once: true });
  const flow = pipeline(body, meter, { signal });
  // Its failure reaches the caller through the meter, which the upload reads.
  flow.catch(() => undefined);
  const done = upload.done();
  // Nobody may be waiting any more.
  done.catch(() => undefined);
  try {
    await Promise.race([done, failing.failed]);
  } catch (error) {
    // What broke the stream comes first: the upload only reports it in its own words. A stream that the upload gave up says nothing.
    const { errored } = meter;
    throw errored && (signal.aborted || errored.name !== 'AbortError') ? errored : asStoreError(error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** A client that says at once when a call of it has failed. */
function failingFirst(client: S3Client): { readonly client: S3Client; readonly failed: Promise<never> } {
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  // It is heard only while an upload waits.
  failed.catch(() => undefined);
  const send = async (command: PutObjectCommand, options?: Parameters<S3Client['send']>[1]): Promise<unknown> => {
    try {
      return await client.send(command, options);
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  return { client: Object.create(client, { send: { value: send } }) as S3Client, failed };
}

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
interface IncompleteUploadsOptions {
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

/** Sorts what the bucket said, or that it said nothing. */
export function asStoreError(error: unknown): MediaStoreError {
  if (!(error instanceof S3ServiceException))
    return new MediaStoreError('unavailable', 'the bucket cannot be reached', { cause: error });
  const status = error.$metadata.httpStatusCode;
  // A missing bucket is a mistake of the operator, not a missing file.
  if (status === 404 && error.name !== 'NoSuchBucket')
    return new MediaStoreError('not_found', 'there is no such file', { cause: error });
  if (status === 507 || NO_SPACE_NAMES.has(error.name))
    return new MediaStoreError('no_space', 'there is no room left for media files', { cause: error });
  const answer = `the bucket answered ${error.name} (${status ?? 'no status'})`;
  return new MediaStoreError('unavailable', answer, { cause: error });
}

/** How S3-compatible servers say that a quota or a disk is full. */
const NO_SPACE_NAMES = new Set(['QuotaExceeded', 'XMinioStorageFull']);
