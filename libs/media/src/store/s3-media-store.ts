import { Agent as HttpAgent, IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, type AgentOptions } from 'node:https';
import { addAbortSignal, Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { abortAfter, serverNames, withinTime } from '#platform';
import { ByteMeter } from './byte-meter.js';
import { checkTtl, keyOfLink, type LinkSigner, noSuchFile, readLink } from './file-link.js';
import { checkMediaKey } from './media-key.js';
import {
  type ByteRange,
  type LinkOptions,
  type MediaStore,
  MediaStoreError,
  type PutOptions,
  type StoredFile,
} from './media-store.js';
import { asStoreError, IncompleteUploads, uploadInParts } from './s3-uploads.js';

/**
 * A response's body that fails when its sender sends nothing for so long while it is read. Time in which its reader does not
 * read does not count: the limit of the connection, which cannot tell the two apart, is taken away.
 */
function paced(body: IncomingMessage, limitMs: number): Readable {
  body.setTimeout(0);
  const reading = Readable.from(chunksOf(body, limitMs), { objectMode: false });
  // A reader that leaves while a chunk is awaited would be heard only with that chunk.
  reading.once('close', () => body.destroy());
  return reading;
}

async function* chunksOf(body: IncomingMessage, limitMs: number): AsyncGenerator<Buffer> {
  const fail = (): void => void body.destroy(new Error(`the sender sent nothing for ${limitMs} ms`));
  let timer = setTimeout(fail, limitMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(fail, limitMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** How an S3-compatible bucket is reached. */
export interface S3MediaStoreOptions {
  readonly bucket: string;
  /** Unset for Amazon S3 itself. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Public address whose paths are the bucket's keys, for example a CDN. */
  readonly publicBaseUrl: string | undefined;
  /** Where clients reach this gateway; asked for each link that stays. */
  readonly gatewayBaseUrl: () => string;
  readonly signer: LinkSigner;
  /** Current time in milliseconds; the system clock when it is left out. */
  readonly now?: (() => number) | undefined;
}

/** Signature version 4 allows no presigned link to live longer. */
const MAX_PRESIGNED_SECONDS = 7 * 24 * 3_600;

/** How long the presigned link works that a link of the gateway redirects to; clients may keep the answer half as long. */
const REDIRECT_SECONDS = 600;

/** Readiness is answered within two seconds. */
const HEALTH_TIMEOUT_MS = 1_800;

/** The longest a call without a body may take, and the longest wait for the first byte of a file, repeats included; in milliseconds. */
const CALL_LIMIT_MS = 4_000;
/** A connection must be made within this time, in milliseconds. */
const CONNECT_LIMIT_MS = 2_000;
/**
 * And must carry something within this one: both attempts of a call together end before a request has cost 5 seconds, also
 * where a whole file may take much longer.
 */
const IDLE_LIMIT_MS = 2_300;
/** The same where no request waits: buckets take longer to put the parts of a large file together. */
const PATIENT_IDLE_LIMIT_MS = 5_000;
/** How long a file that is read may not go on, in milliseconds. */
const PAUSE_LIMIT_MS = 5_000;
/** An idle connection is kept so long, in milliseconds: what cut off one that is older may have gone unnoticed. */
const KEPT_IDLE_MS = 4_000;
const CONNECTIONS_MAX = 100;
/** The longest a whole file may take to be taken in, in milliseconds. */
const PUT_LIMIT_MS = 15 * 60_000;
/** How often a call is made before it counts as failed: its caller tries again later. */
const ATTEMPTS = 2;

const CONNECTIONS = {
  keepAlive: true,
  maxSockets: CONNECTIONS_MAX,
  timeout: KEPT_IDLE_MS,
  lookup: serverNames.lookup,
};

/** Written repeatedly to see that writing works: rights to read or list prove nothing, and may be missing. */
const HEALTH_KEY = 'health/probe.txt';

/**
 * Files in an S3-compatible bucket. Links with a lifetime of up to 7 days are presigned; links that stay or live longer
 * point at the public address of the bucket when there is one, else at this gateway, which redirects.
 */
export class S3MediaStore implements MediaStore {
  private readonly client: S3Client;
  private readonly patientClient: S3Client;
  private readonly incomplete: IncompleteUploads;
  private readonly agents = [new HttpAgent(CONNECTIONS), new HandshakeAgent(CONNECT_LIMIT_MS, CONNECTIONS)] as const;

  constructor(private readonly options: S3MediaStoreOptions) {
    this.client = this.clientWith(IDLE_LIMIT_MS);
    this.patientClient = this.clientWith(PATIENT_IDLE_LIMIT_MS);
    this.incomplete = new IncompleteUploads({ client: this.client, bucket: options.bucket, now: options.now });
  }

  /** @param idleLimitMs how long a connection of it may carry nothing, in milliseconds. */
  private clientWith(idleLimitMs: number): S3Client {
    const { endpoint, region, accessKeyId, secretAccessKey } = this.options;
    const client = new S3Client({
      region,
      ...(endpoint !== undefined && { endpoint }),
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: true,
      maxAttempts: ATTEMPTS,
      requestHandler: {
        connectionTimeout: CONNECT_LIMIT_MS,
        socketTimeout: idleLimitMs,
        httpAgent: this.agents[0],
        httpsAgent: this.agents[1],
      },
      // Many S3-compatible servers store the framing of the default checksums as content or refuse it.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    // Inside of what repeats a call.
    client.middlewareStack.add(
      (call) => async (request) => {
        try {
          return await call(request);
        } catch (error) {
          if (!(error instanceof S3ServiceException)) this.dropIdleConnections();
          throw error;
        }
      },
      { step: 'deserialize', priority: 'high', name: 'dropIdleConnections' },
    );
    return client;
  }

  async put(key: string, body: Readable, options: PutOptions): Promise<StoredFile> {
    const meter = new ByteMeter(options);
    try {
      checkMediaKey(key);
      options.signal?.throwIfAborted();
      // Beside the file, which does not wait for it.
      void this.incomplete.sweep();
      await withinTime(PUT_LIMIT_MS, options.signal, (signal) => {
        const { contentType, isAwaited } = options;
        const client = isAwaited ? this.client : this.patientClient;
        const upload = { client, bucket: this.options.bucket, key, contentType };
        return uploadInParts(upload, body, meter, signal);
      });
    } finally {
      body.destroy();
      meter.destroy();
    }
    return { key, bytes: meter.bytes, sha256: meter.sha256() };
  }

  async url(key: string, { ttlSeconds }: LinkOptions): Promise<string> {
    checkMediaKey(key);
    checkTtl(ttlSeconds);
    if (ttlSeconds !== null && ttlSeconds <= MAX_PRESIGNED_SECONDS) return this.presign(key, ttlSeconds);
    const { publicBaseUrl, gatewayBaseUrl, signer } = this.options;
    if (ttlSeconds === null && publicBaseUrl !== undefined) return `${withoutSlash(publicBaseUrl)}/${key}`;
    return withoutSlash(gatewayBaseUrl()) + signer.sign(key, ttlSeconds);
  }

  async open(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable> {
    checkMediaKey(key);
    const Range = range && `bytes=${range.start}-${range.end - 1}`;
    try {
      const get = new GetObjectCommand({ Bucket: this.options.bucket, Key: key, Range });
      const { Body } = await withinTime(CALL_LIMIT_MS, signal, (abortSignal) => this.client.send(get, { abortSignal }));
      if (Body instanceof IncomingMessage) return paced(signal ? addAbortSignal(signal, Body) : Body, PAUSE_LIMIT_MS);
    } catch (error) {
      throw asStoreError(error);
    }
    throw new MediaStoreError('unavailable', 'the bucket answered without a body');
  }

  keyOf(link: string): string | undefined {
    return keyOfLink(link, this.options.gatewayBaseUrl(), this.options.signer);
  }

  async size(key: string): Promise<number> {
    checkMediaKey(key);
    try {
      const head = new HeadObjectCommand({ Bucket: this.options.bucket, Key: key });
      const { ContentLength = 0 } = await withinTime(CALL_LIMIT_MS, undefined, (abortSignal) =>
        this.client.send(head, { abortSignal }),
      );
      return ContentLength;
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async delete(key: string): Promise<void> {
    checkMediaKey(key);
    try {
      const remove = new DeleteObjectCommand({ Bucket: this.options.bucket, Key: key });
      await withinTime(CALL_LIMIT_MS, undefined, (abortSignal) => this.client.send(remove, { abortSignal }));
    } catch (error) {
      const failure = asStoreError(error);
      if (failure.code !== 'not_found') throw failure;
    }
  }

  async isEmpty(): Promise<boolean> {
    try {
      const list = new ListObjectsV2Command({ Bucket: this.options.bucket });
      const first = await withinTime(CALL_LIMIT_MS, undefined, (abortSignal) =>
        this.client.send(list, { abortSignal }),
      );
      return (first.Contents ?? []).every(({ Key }) => Key === HEALTH_KEY);
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async healthy(): Promise<boolean> {
    try {
      const abortSignal = abortAfter(HEALTH_TIMEOUT_MS);
      const probe = { Bucket: this.options.bucket, Key: HEALTH_KEY, Body: 'ok', ContentType: 'text/plain' };
      await this.client.send(new PutObjectCommand(probe), { abortSignal });
      return true;
    } catch {
      return false;
    }
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { key, expiresAt } = readLink(request, this.options.signer);
    if (!(await this.exists(key))) throw noSuchFile();
    const left = expiresAt === null ? REDIRECT_SECONDS : Math.max(1, Math.ceil(expiresAt - Date.now() / 1000));
    const lifetime = Math.min(REDIRECT_SECONDS, left);
    response.writeHead(302, {
      location: await this.presign(key, lifetime),
      'cache-control': `private, max-age=${Math.floor(lifetime / 2)}`,
      'access-control-allow-origin': '*',
      'content-length': 0,
    });
    response.end();
  }

  async close(): Promise<void> {
    this.client.destroy();
    this.patientClient.destroy();
  }

  /** What made a call fail without an answer has most likely cut off the idle connections too. */
  private dropIdleConnections(): void {
    for (const { freeSockets } of this.agents) {
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
    }
  }

  private presign(key: string, expiresIn: number): Promise<string> {
    return getSignedUrl(this.client, new GetObjectCommand({ Bucket: this.options.bucket, Key: key }), { expiresIn });
  }

  private async exists(key: string): Promise<boolean> {
    try {
      await this.size(key);
      return true;
    } catch (error) {
      if (error instanceof MediaStoreError && error.code === 'not_found') return false;
      throw error;
    }
  }
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/**
 * Makes TLS connections whose handshake has an end too: the limits of the store's client stop at the connection beneath,
 * and then leave the waiting call to the limit of silence, once for each try.
 */
export class HandshakeAgent extends Agent {
  /** @param limitMs the longest time for a connection, from its beginning to the end of its handshake, in milliseconds. */
  constructor(
    private readonly limitMs: number,
    options: AgentOptions,
  ) {
    super(options);
  }

  override createConnection(...how: Parameters<Agent['createConnection']>): ReturnType<Agent['createConnection']> {
    const socket = super.createConnection(...how);
    if (!socket) return socket;
    const late = (): void => void socket.destroy(new Error(`no TLS handshake within ${this.limitMs} ms`));
    const timer = setTimeout(late, this.limitMs);
    const over = (): void => clearTimeout(timer);
    return socket.once('secureConnect', over).once('close', over);
  }
}
