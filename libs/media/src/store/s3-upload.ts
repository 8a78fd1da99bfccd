import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { ByteMeter } from './byte-meter.js';
import { asStoreError } from './s3-errors.js';

/** One part of a multipart upload; the store holds at most two at a time. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/** Where a file goes. */
export interface UploadTarget {
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
