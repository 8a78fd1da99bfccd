import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { eventually, type S3Server, startS3Server } from '#testing';
import { createMediaStore } from './create-media-store.js';
import { MediaStoreConfig } from './media-store-config.js';
import type { MediaStore } from './media-store.js';

const MIB = 1024 * 1024;
const VIDEO = { contentType: 'video/mp4', maxBytes: 64 * MIB };

describe('the S3 media store removes what killed processes left of uploads', () => {
  const DAY_MS = 24 * 3_600_000;
  let s3: S3Server;
  let client: S3Client;
  beforeAll(async () => {
    s3 = await startS3Server();
    const { endpoint, accessKeyId, secretAccessKey } = s3;
    const credentials = { accessKeyId, secretAccessKey };
    client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  });
  afterAll(async () => {
    client.destroy();
    await s3.close();
  });

  /** A store whose time is the given one. */
  function storeAt(now: () => number): Promise<MediaStore> {
    const config = Object.assign(new MediaStoreConfig(), {
      MEDIA_S3_ENDPOINT: s3.endpoint,
      MEDIA_S3_BUCKET: s3.bucket,
      MEDIA_S3_ACCESS_KEY_ID: s3.accessKeyId,
      MEDIA_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    });
    return createMediaStore(config, { dataDirectory: '/nowhere', publicBaseUrl: 'http://gateway.invalid', now });
  }

  /** Sends the first part of a file and nothing more, as a process does that is killed then. */
  async function begin(Key: string): Promise<void> {
    const place = { Bucket: s3.bucket, Key };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(place));
    await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber: 1, Body: Buffer.alloc(MIB) }));
  }
  const begun = async (): Promise<(string | undefined)[]> => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: s3.bucket }));
    return Uploads.map(({ Key }) => Key);
  };

  it('a day later, and neither those under way nor those of others in the bucket', async () => {
    for (const key of ['media/task_01/0.mp4', 'uploads/file_01', 'backups/of-others.tar']) await begin(key);
    let nowMs = Date.now();
    const later = await storeAt(() => nowMs);
    try {
      await later.put('media/task_02/0.mp4', Readable.from(['x']), VIDEO);
      await eventually(async () => (await begun()).length === 3);
      nowMs += DAY_MS + 60_000;
      await later.put('media/task_02/0.mp4', Readable.from(['x']), VIDEO);
      await eventually(async () => (await begun()).length === 1);
      expect(await begun()).toEqual(['backups/of-others.tar']);
    } finally {
      await later.close();
    }
  });

  it('and at once where the process lives to see its upload fail', async () => {
    const broken = new Readable({ read: () => undefined });
    const file = randomBytes(9 * MIB);
    const store = await storeAt(Date.now);
    const put = store.put('media/task_03/0.mp4', broken, VIDEO);
    broken.push(file);
    await eventually(async () => (await begun()).includes('media/task_03/0.mp4'));
    broken.destroy(new Error('the vendor hung up'));
    await expect(put).rejects.toThrow('the vendor hung up');
    await eventually(async () => !(await begun()).includes('media/task_03/0.mp4'));
    await store.close();
  });
});
