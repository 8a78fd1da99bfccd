import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A running S3 server that checks signatures. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** The only key pair that the server knows. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  close(): Promise<void>;
}

/** Starts an S3 server on a free port, with one empty bucket, in a temporary folder. */
export async function startS3Server(): Promise<S3Server> {
  // Loaded only here: most suites need no S3 server.
  const { default: S3rver } = await import('@20minutes/s3rver');
  const bucket = 'media';
  const directory = await mkdtemp(join(tmpdir(), 's3-server-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
