import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { GatewayError } from '#contracts';
import { abortAfter } from '#platform';
import { eventually, type S3Server, startS3Server } from '#testing';
import { createMediaStore } from './create-media-store.js';
import { MediaStoreConfig } from './media-store-config.js';
import type { MediaStore } from './media-store.js';

const MEBIBYTE = 1024 * 1024;
const VIDEO = { contentType: 'video/mp4', maxBytes: 64 * MEBIBYTE };

let s3: S3Server;
let store: MediaStore;
let gateway: Server;
let gatewayUrl: string;

function storeWith(changes: Partial<MediaStoreConfig> = {}): Promise<MediaStore> {
  const config = Object.assign(new MediaStoreConfig(), {
    MEDIA_S3_ENDPOINT: s3.endpoint,
    MEDIA_S3_BUCKET: s3.bucket,
    MEDIA_S3_ACCESS_KEY_ID: s3.accessKeyId,
    MEDIA_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    ...changes,
  });
  return createMediaStore(config, { dataDirectory: '/nowhere', publicBaseUrl: () => gatewayUrl });
}

beforeAll(async () => {
  s3 = await startS3Server();
  store = await storeWith();
  gateway = createServer((incoming, response) => {
    store.serve(incoming, response).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      response.writeHead(error.status).end(error.code);
    });
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await store.close();
  gateway.close();
  gateway.closeAllConnections();
  await s3.close();
});

async function ask(url: string, headers: Record<string, string> = {}) {
  const reply = await request(url, { headers });
  return { status: reply.statusCode, headers: reply.headers, body: await buffer(reply.body) };
}

/** A stream in pieces of odd size, so that pieces and parts never line up. */
const inPieces = (file: Buffer): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < file.length; at += 77_777) yield file.subarray(at, at + 77_777);
    })(),
  );

it('an S3 store is empty until a file is stored, whatever health checks write', async () => {
  const server = await startS3Server();
  const changes = { MEDIA_S3_ENDPOINT: server.endpoint };
  const fresh = await storeWith(changes);
  const away = await storeWith({ ...changes, MEDIA_S3_BUCKET: 'nowhere' });
  try {
    await eventually(() => fresh.healthy());
    expect(await fresh.isEmpty()).toBe(true);
    await fresh.put('results/task_01/0.mp4', Readable.from(['video']), VIDEO);
    expect(await fresh.isEmpty()).toBe(false);
    await expect(away.isEmpty()).rejects.toMatchObject({ name: 'MediaStoreError' });
  } finally {
    await Promise.all([fresh.close(), away.close(), server.close()]);
  }
});

describe('the S3 media store keeps files whole', () => {
  it.each([0, 5, 8 * MEBIBYTE, 8 * MEBIBYTE + 1, 20 * MEBIBYTE + 3])(
    'of %d bytes: length, checksum and bytes agree',
    async (length) => {
      const file = randomBytes(length);
      const stored = await store.put('sizes/file.mp4', inPieces(file), { ...VIDEO, expectedBytes: length });
      const sha256 = createHash('sha256').update(file).digest('hex');
      expect(stored).toEqual({ key: 'sizes/file.mp4', bytes: length, sha256 });
      expect((await buffer(await store.open('sizes/file.mp4'))).equals(file)).toBe(true);
    },
  );

  it('and gives parts of them', async () => {
    await store.put('part.mp4', Readable.from(['0123456789']), VIDEO);
    expect(String(await buffer(await store.open('part.mp4', { start: 2, end: 5 })))).toBe('234');
  });

  it('under keys of every allowed character', async () => {
    const key = 'AZaz09_-.x/_under-score.v1.2/0.mp4';
    await store.put(key, Readable.from(['x']), VIDEO);
    expect((await ask(await store.url(key, { ttlSeconds: 60 }))).status).toBe(200);
  });

  it.each([
    '../x',
    '/x',
    'a//b',
    'a/',
    '.x',
    'a/.x',
    'a b',
    'a+b',
    'ü',
    'a%2fb',
    'a\\b',
    'a\0',
    '',
    'x'.repeat(513),
    'x'.repeat(201),
  ])('refuses the key %j, as the local store does', async (key) => {
    await expect(store.put(key, Readable.from(['x']), VIDEO)).rejects.toMatchObject({ code: 'invalid_key' });
    await expect(store.url(key, { ttlSeconds: 60 })).rejects.toMatchObject({ code: 'invalid_key' });
  });

  it.each([1_000, 12 * MEBIBYTE])('refuses one byte more than %d and keeps nothing', async (maxBytes) => {
    const put = store.put('large.mp4', inPieces(randomBytes(maxBytes + 1)), { ...VIDEO, maxBytes });
    await expect(put).rejects.toMatchObject({ code: 'too_large' });
    await expect(store.open('large.mp4')).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([1_000, 12 * MEBIBYTE])(
    'refuses a length other than the announced %d and keeps nothing',
    async (expectedBytes) => {
      const put = store.put('short.mp4', inPieces(randomBytes(expectedBytes - 1)), { ...VIDEO, expectedBytes });
      await expect(put).rejects.toMatchObject({ code: 'length_mismatch' });
      await expect(store.open('short.mp4')).rejects.toMatchObject({ code: 'not_found' });
    },
  );

  it.each([1_000, 12 * MEBIBYTE])(
    'passes on the failure of a sender cut off after %d bytes and keeps nothing',
    async (length) => {
      const cut = Readable.from(
        (function* () {
          yield randomBytes(length);
          throw new Error('cut');
        })(),
      );
      await expect(store.put('cut.mp4', cut, VIDEO)).rejects.toThrow('cut');
      await expect(store.open('cut.mp4')).rejects.toMatchObject({ code: 'not_found' });
    },
  );

  it('stops on a signal', async () => {
    const endless = new Readable({ read: () => undefined });
    const put = store.put('stop.mp4', endless, { ...VIDEO, signal: abortAfter(30) });
    await expect(put).rejects.toMatchObject({ name: 'AbortError' });
    expect(endless.destroyed).toBe(true);
  });

  it('deletes, and deleting again succeeds', async () => {
    await store.put('gone.mp4', Readable.from(['x']), VIDEO);
    await store.delete('gone.mp4');
    await store.delete('gone.mp4');
    await expect(store.open('gone.mp4')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('says when it cannot be reached or used', async () => {
    expect(await store.healthy()).toBe(true);
    const [away, locked] = await Promise.all([
      storeWith({ MEDIA_S3_ENDPOINT: 'http://127.0.0.1:9' }),
      storeWith({ MEDIA_S3_SECRET_ACCESS_KEY: 'wrong' }),
    ]);
    for (const useless of [away, locked]) {
      expect(await useless.healthy()).toBe(false);
      const put = useless.put('x.mp4', Readable.from(['x']), VIDEO);
      await expect(put).rejects.toMatchObject({ code: 'unavailable' });
      await useless.close();
    }
  });
});

describe('a presigned link', () => {
  const FILE = randomBytes(50_000);
  beforeAll(() => store.put('video.mp4', inPieces(FILE), VIDEO));

  it('gives the file, with its type and ranges', async () => {
    const url = await store.url('video.mp4', { ttlSeconds: 60 });
    const full = await ask(url);
    expect(full).toMatchObject({ status: 200, headers: { 'content-type': 'video/mp4' } });
    expect(full.body.equals(FILE)).toBe(true);
    const part = await ask(url, { range: 'bytes=10-19' });
    expect(part.status).toBe(206);
    expect(part.body.equals(FILE.subarray(10, 20))).toBe(true);
  });

  it('is refused when forged, longer-lived than signed, or expired', async () => {
    const url = await store.url('video.mp4', { ttlSeconds: 1 });
    expect((await ask(url.replace(/Signature=.{8}/, 'Signature=00000000'))).status).toBe(403);
    expect((await ask(url.replace('Expires=1&', 'Expires=9999&'))).status).toBe(403);
    expect((await ask(url.replace('video.mp4', 'gone.mp4'))).status).toBe(403);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect((await ask(url)).status).toBe(403);
  });
});

describe('a link that stays', () => {
  it('points at the public address of the bucket when there is one', async () => {
    const cdn = await storeWith({ MEDIA_S3_PUBLIC_BASE_URL: 'https://cdn.example.com/media/' });
    expect(await cdn.url('a/b.mp4', { ttlSeconds: null })).toBe('https://cdn.example.com/media/a/b.mp4');
    expect(await cdn.url('a/b.mp4', { ttlSeconds: 60 })).toContain(s3.endpoint);
  });

  it('otherwise is the same from every replica and redirects to a fresh presigned link', async () => {
    await store.put('stays.mp4', Readable.from(['kept']), VIDEO);
    const url = await store.url('stays.mp4', { ttlSeconds: null });
    expect(await (await storeWith()).url('stays.mp4', { ttlSeconds: null })).toBe(url);
    const redirect = await ask(url);
    expect(redirect).toMatchObject({ status: 302, headers: { 'cache-control': 'private, max-age=300' } });
    expect(String((await ask(String(redirect.headers.location))).body)).toBe('kept');
  });

  it('also serves lifetimes that no presigned link can have', async () => {
    const url = await store.url('stays.mp4', { ttlSeconds: 30 * 86_400 });
    expect(url.startsWith(`${gatewayUrl}/files/stays.mp4?e=`)).toBe(true);
    expect((await ask(url)).status).toBe(302);
  });

  it('is refused when forged and says when the file is gone', async () => {
    const url = await store.url('stays.mp4', { ttlSeconds: null });
    expect((await ask(url.replace('stays', 'other'))).status).toBe(403);
    expect((await ask(await store.url('never.mp4', { ttlSeconds: null }))).status).toBe(404);
  });
});
