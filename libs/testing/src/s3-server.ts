import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Request } from '@20minutes/s3rver';

/** A running S3 server that checks signatures. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** The only key pair that the server knows. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  close(): Promise<void>;
}

/** Where the server listens and what it holds; by default a free port and one empty bucket `media`. */
export interface S3ServerOptions {
  readonly port?: number;
  /** The first is `bucket` of the answer. */
  readonly buckets?: readonly [string, ...string[]];
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
}

/** Starts an S3 server with empty buckets in a temporary folder. */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const { port = 0, buckets = ['media'], accessKeyId = 'S3RVER', secretAccessKey = 'S3RVER' } = options;
  // Loaded only here: most suites need no S3 server.
  const { default: S3rver } = await import('@20minutes/s3rver');
  const { default: accounts } = await import('@20minutes/s3rver/lib/models/account.js');
  accounts.DUMMY_ACCOUNT.createKeyPair(accessKeyId, secretAccessKey);
  const directory = await mkdtemp(join(tmpdir(), 's3-server-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port,
    silent: true,
    // Buckets are in the path, whatever name the server is reached by.
    vhostBuckets: false,
    directory,
    configureBuckets: buckets.map((name) => ({ name })),
  });
  server.middleware.splice(-1, 0, keepSlashOfBucket, incompleteUploadsIn(directory));
  const { port: ownPort } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${ownPort}`,
    bucket: buckets[0],
    accessKeyId,
    secretAccessKey,
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * The server checks signatures of requests for a whole bucket as if their path had no slash at its end; the client signs
 * the path that it sends, which has one. Among the parts that the server joins, the one behind the bucket is free.
 */
function keepSlashOfBucket(request: S3Request, next: () => Promise<void>): Promise<void> {
  if (/^\/[^/]+\/$/.test(request.path)) {
    request.state.vhost = true;
    request.mountPath = '/';
  }
  return next();
}

/** Lists and ends multipart uploads that were not completed, for which the server has no calls of its own. */
const incompleteUploadsIn =
  (directory: string) =>
  async (request: S3Request, next: () => Promise<void>): Promise<void> => {
    const [, bucket = ''] = request.path.split('/');
    const folder = join(directory, bucket, '._S3rver_uploads');
    const id = request.query['uploadId'];
    if (request.method === 'DELETE' && typeof id === 'string') {
      await rm(join(folder, id), { recursive: true });
      request.status = 204;
      return;
    }
    if (request.method !== 'GET' || request.query['uploads'] === undefined) return next();
    const ids = await readdir(folder).catch(() => []);
    const uploads = await Promise.all(
      ids.map(async (each) => {
        const key = join(folder, each, 'key');
        const [name, { mtime }] = await Promise.all([readFile(key, 'utf8'), stat(key)]);
        const initiated = `<Initiated>${mtime.toISOString()}</Initiated>`;
        return `<Upload><Key>${name}</Key><UploadId>${each}</UploadId>${initiated}</Upload>`;
      }),
    );
    request.type = 'application/xml';
    request.body = `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`;
  };
