import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ListObjectsV2Command, GetObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { S3Server } from '#testing';

/** What lies in the media store of a run, seen without the gateway. */
export interface StoredFiles {
  /** Null: there is no such file. */
  read(key: string): Promise<Buffer | null>;
  /** The keys of all files of these tasks. */
  keysOf(taskIds: readonly string[]): Promise<string[]>;
}

/** Files in the data folder. */
export function filesOfFolder(dataFolder: string): StoredFiles {
  const media = join(dataFolder, 'media');
  return {
    async read(key) {
      const path = join(media, key);
      return existsSync(path) ? readFileSync(path) : null;
    },
    async keysOf(taskIds) {
      return taskIds.flatMap((id) => {
        const path = join(media, 'media', id);
        return existsSync(path) ? readdirSync(path).map((name) => `media/${id}/${name}`) : [];
      });
    },
  };
}

/** Files in the bucket of a server. */
export function filesOfBucket({ endpoint, bucket, accessKeyId, secretAccessKey }: S3Server): StoredFiles {
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  return {
    async read(key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
        return Buffer.from((await Body?.transformToByteArray()) ?? []);
      } catch (error) {
        if (error instanceof S3ServiceException && error.name === 'NoSuchKey') return null;
        throw error;
      }
    },
    async keysOf(taskIds) {
      const keys: string[] = [];
      // Task by task: the server here fails to list more than one page of 1,000.
      for (const id of taskIds) {
        const { Contents = [] } = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: `media/${id}/` }),
        );
        keys.push(...Contents.flatMap(({ Key }) => Key ?? []));
      }
      return keys;
    },
  };
}
