import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createMediaStore, type MediaStore, MediaStoreConfig } from '#media';
import {
  eventually,
  FaultProxy,
  ownTimeMs,
  type S3Server,
  startS3Server,
  startSilentHandshake,
  startTlsFront,
} from '#testing';

const MEBIBYTE = 1024 * 1024;
/** A request may cost 5 seconds while the store is silent; a busy machine needs more. */
const CALL_LIMIT_MS = 7_000;
const VIDEO = { contentType: 'video/mp4', maxBytes: 64 * MEBIBYTE, isAwaited: true };
/** Longer than a request waits for an answer, and shorter than other work does, in milliseconds. */
const THINKING_MS = 3_200;

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(() => s3.close());

function storeWith(changes: Partial<MediaStoreConfig>): Promise<MediaStore> {
  const config = Object.assign(new MediaStoreConfig(), {
    MEDIA_S3_BUCKET: s3.bucket,
    MEDIA_S3_ACCESS_KEY_ID: s3.accessKeyId,
    MEDIA_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    ...changes,
  });
  return createMediaStore(config, { dataDirectory: '/nowhere', publicBaseUrl: () => 'http://nowhere.example' });
}

describe('a bucket that falls silent', () => {
  let proxy: FaultProxy;
  let distant: MediaStore;
  const small = (name: string) => distant.put(name, Readable.from(['small']), VIDEO);
  beforeEach(async () => {
    proxy = await FaultProxy.start(s3.endpoint);
    distant = await storeWith({ MEDIA_S3_ENDPOINT: proxy.urlOf(s3.endpoint).replace(/\/$/, '') });
  });
  afterEach(async () => {
    await distant.close();
    await proxy.close();
  });

  it('costs one wait, however many idle connections died unnoticed', async () => {
    await Promise.all(Array.from({ length: 6 }, (_, index) => small(`warm/${index}.mp4`)));
    expect(proxy.connections).toBeGreaterThanOrEqual(3);
    proxy.set('half-open');
    await expect(small('cold.mp4')).resolves.toMatchObject({ bytes: 5 });
  });

  it('fails a read whose answer stops in the middle', async () => {
    await distant.put('long.mp4', Readable.from([randomBytes(100_000)]), VIDEO);
    proxy.set('stall');
    await expect(distant.open('long.mp4').then(buffer)).rejects.toThrow();
  });

  it.each(['black-hole', 'stall'] as const)('fails every call in time: %s', async (fault) => {
    await distant.put('warm.mp4', Readable.from([randomBytes(MEBIBYTE)]), VIDEO);
    const beganMs = ownTimeMs();
    proxy.set(fault);
    const large = distant.put('large.mp4', Readable.from([randomBytes(20 * MEBIBYTE)]), VIDEO);
    // Of a shorter answer a stalled connection may carry enough.
    const calls = [distant.open('warm.mp4').then(buffer), distant.isEmpty(), large];
    const ended = await Promise.allSettled(calls);
    expect(ended.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    expect(ownTimeMs() - beganMs).toBeLessThan(CALL_LIMIT_MS);
  });

  it('fails an upload in time that it broke in the middle, and says so', async () => {
    let brokenAtMs = 0;
    async function* breaking() {
      for (let nth = 0; nth < 30; nth += 1) {
        // The first of its parts is there, and the second on its way.
        if (nth === 18) {
          await eventually(() => proxy.connections > 0);
          brokenAtMs = ownTimeMs();
          proxy.set('black-hole');
        }
        yield randomBytes(MEBIBYTE);
      }
    }
    const broken = distant.put('broken.mp4', Readable.from(breaking()), VIDEO);
    await expect(broken).rejects.toMatchObject({ code: 'unavailable' });
    expect(ownTimeMs() - brokenAtMs).toBeLessThan(CALL_LIMIT_MS);
  });

  it('waits for a reader that pauses longer than the store may', async () => {
    const file = randomBytes(20 * MEBIBYTE);
    await distant.put('long.mp4', Readable.from([file]), VIDEO);
    const read: Buffer[] = [];
    const beganMs = performance.now();
    for await (const chunk of await distant.open('long.mp4')) {
      if (read.length === 0) await eventually(() => performance.now() - beganMs > 5_500);
      read.push(chunk as Buffer);
    }
    expect(Buffer.concat(read).equals(file)).toBe(true);
  });

  it('fails every call in time when it never ends a TLS handshake, and leaves no connection behind', async () => {
    const silent = await startSilentHandshake();
    const secure = await storeWith({ MEDIA_S3_ENDPOINT: `https://127.0.0.1:${silent.port}` });
    const never = secure.put('never.mp4', Readable.from(['small']), VIDEO);
    const ended = await Promise.allSettled([secure.open('any.mp4'), secure.delete('any.mp4'), secure.isEmpty(), never]);
    const unavailable = { status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) as unknown };
    expect(ended).toEqual(ended.map(() => expect.objectContaining(unavailable) as unknown));
    await eventually(() => silent.connections === 0);
    await secure.close();
    await silent.close();
  });

  it('fails every call in time over TLS, in handshakes as in answers, and works again once it is heard', async () => {
    const front = await startTlsFront(s3.endpoint);
    // Without a program that makes certificates the suite of Redis over TLS is skipped too, and says so.
    if (!front && process.env['CI'] === undefined) return;
    if (!front) throw new Error('openssl is missing. In CI this must run.');
    const known = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const network = await FaultProxy.start(front.url);
    const secure = await storeWith({ MEDIA_S3_ENDPOINT: network.urlOf(front.url).replace(/\/$/, '') });
    try {
      await secure.put('warm.mp4', Readable.from([randomBytes(MEBIBYTE)]), VIDEO);
      network.set('stall');
      const beganMs = ownTimeMs();
      // The first goes on with the connection that there is, the others begin with a handshake.
      const large = secure.put('large.mp4', Readable.from([randomBytes(20 * MEBIBYTE)]), VIDEO);
      const calls = [secure.open('warm.mp4').then(buffer), secure.isEmpty(), large];
      const ended = await Promise.allSettled(calls);
      expect(ended.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
      expect(ownTimeMs() - beganMs).toBeLessThan(CALL_LIMIT_MS);
      network.set('pass');
      expect((await secure.open('warm.mp4').then(buffer)).byteLength).toBe(MEBIBYTE);
    } finally {
      if (known === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = known;
      await secure.close();
      await network.close();
      front.close();
    }
  });

  it('is given time to put a file together where no request waits for it', async () => {
    const thinking = createServer((request, response) => {
      const beganMs = performance.now();
      const isThinking = (): boolean => performance.now() - beganMs < THINKING_MS;
      request
        .resume()
        .on('end', () => void eventually(() => !isThinking()).then(() => response.setHeader('etag', '"1"').end()));
    });
    await once(thinking.listen(0, '127.0.0.1'), 'listening');
    const { port } = thinking.address() as AddressInfo;
    const slow = await storeWith({ MEDIA_S3_ENDPOINT: `http://127.0.0.1:${port}` });
    const put = (isAwaited: boolean) => slow.put('any.mp4', Readable.from(['small']), { ...VIDEO, isAwaited });
    const [patient, awaited] = await Promise.allSettled([put(false), put(true)]);
    expect([patient.status, awaited.status]).toEqual(['fulfilled', 'rejected']);
    await slow.close();
    thinking.close();
  });

  it('fails every call in time when it only reports overload', async () => {
    proxy.set('overloaded');
    const calls = [distant.open('any.mp4'), distant.delete('any.mp4'), distant.isEmpty(), small('unheard.mp4')];
    const unavailable = { status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) as unknown };
    expect(await Promise.allSettled(calls)).toEqual(calls.map(() => expect.objectContaining(unavailable) as unknown));
  });
});
