import { createHash, pbkdf2, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { request } from 'undici';
import { GatewayError } from '#contracts';
import { abortAfter } from '#platform';
import { createMediaStore } from './create-media-store.js';
import { LinkSigner } from './file-link.js';
import { LocalMediaStore } from './local-media-store.js';
import { MediaStoreConfig } from './media-store-config.js';
import type { MediaStore } from './media-store.js';

const FILE = randomBytes(200_000);
const KEY = 'results/task_01/0.mp4';
const VIDEO = { contentType: 'video/mp4', maxBytes: 1_000_000 };

let folder: string;
let store: MediaStore;
let server: Server;
let baseUrl: string;
let nowMs: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'media-store-'));
  nowMs = Date.now();
  store = await createMediaStore(new MediaStoreConfig(), {
    dataDirectory: folder,
    publicBaseUrl: () => baseUrl,
    now: () => nowMs,
  });
  server = createServer((incoming, response) => {
    store.serve(incoming, response).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      response.writeHead(error.status, error.headers ?? {}).end(error.code);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await store.put(KEY, Readable.from([FILE]), VIDEO);
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

const partialFiles = (): Promise<string[]> => readdir(join(folder, 'media', '.partial'));

async function ask(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const reply = await request(url, { method, headers });
  return { status: reply.statusCode, headers: reply.headers, body: await buffer(reply.body) };
}

describe('the local media store without its folder', () => {
  const media = () => join(folder, 'media');
  const aside = () => join(folder, 'media-aside');
  afterEach(async () => {
    await rm(media(), { force: true });
    await rename(aside(), media());
  });

  it.each([
    ['gone', async () => undefined],
    ['replaced by a file', () => writeFile(media(), 'not a folder')],
  ])('says that it is away while the folder is %s, so that writing is tried again', async (_how, spoil) => {
    await rename(media(), aside());
    await spoil();
    const put = store.put('lost/video.mp4', Readable.from([FILE]), VIDEO);
    await expect(put).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the local media store keeps files whole', () => {
  it('answers with length and checksum, and the bytes come back unchanged', async () => {
    const stored = await store.put('a/b/c.png', Readable.from([FILE.subarray(0, 7), FILE.subarray(7)]), VIDEO);
    const sha256 = createHash('sha256').update(FILE).digest('hex');
    expect(stored).toEqual({ key: 'a/b/c.png', bytes: FILE.length, sha256 });
    expect((await buffer(await store.open('a/b/c.png'))).equals(FILE)).toBe(true);
  });

  it('gives a part of a file', async () => {
    const part = await buffer(await store.open(KEY, { start: 100, end: 300 }));
    expect(part.equals(FILE.subarray(100, 300))).toBe(true);
  });

  it('replaces a file of the same key', async () => {
    await store.put('twice.png', Readable.from(['first']), VIDEO);
    await store.put('twice.png', Readable.from(['second']), VIDEO);
    expect(String(await buffer(await store.open('twice.png')))).toBe('second');
  });

  it('is empty until a file is stored, and again after the last is deleted', async () => {
    const place = await mkdtemp(join(tmpdir(), 'media-store-empty-'));
    const fresh = await createMediaStore(new MediaStoreConfig(), { dataDirectory: place, publicBaseUrl: baseUrl });
    expect([await fresh.healthy(), await fresh.isEmpty()]).toEqual([true, true]);
    await fresh.put(KEY, Readable.from([FILE]), VIDEO);
    expect(await fresh.isEmpty()).toBe(false);
    await fresh.delete(KEY);
    expect(await fresh.isEmpty()).toBe(true);
    await rm(place, { recursive: true });
  });

  it('refuses one byte more than allowed and keeps nothing', async () => {
    const put = store.put('big.png', Readable.from([FILE]), { ...VIDEO, maxBytes: FILE.length - 1 });
    await expect(put).rejects.toMatchObject({ code: 'too_large' });
    await expect(store.open('big.png')).rejects.toMatchObject({ code: 'not_found' });
    expect(await partialFiles()).toEqual([]);
  });

  it.each([-1, 1])('refuses a length that differs from the announced one by %d', async (difference) => {
    const expectedBytes = FILE.length + difference;
    await expect(store.put('odd.png', Readable.from([FILE]), { ...VIDEO, expectedBytes })).rejects.toMatchObject({
      code: 'length_mismatch',
    });
    await expect(store.open('odd.png')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('passes on a failure of the sender and keeps nothing', async () => {
    const cut = Readable.from(
      (function* () {
        yield FILE;
        throw new Error('cut');
      })(),
    );
    await expect(store.put('cut.png', cut, VIDEO)).rejects.toThrow('cut');
    expect(await partialFiles()).toEqual([]);
  });

  it('keeps nothing of a sender that fails while its file is being opened', async () => {
    // Work in the threads that open files lets the opening be overtaken.
    const hashes = Array.from({ length: 80 }, () => promisify(pbkdf2)('a', 'b', 20_000, 64, 'sha512'));
    for (let round = 0; round < 80; round += 1) {
      const body = new Readable({ read: () => body.destroy(new Error('cut')) });
      await expect(store.put('cut.png', body, VIDEO)).rejects.toThrow('cut');
    }
    await Promise.all(hashes);
    expect(await partialFiles()).toEqual([]);
  });

  it('stops on a signal and keeps nothing', async () => {
    const endless = new Readable({ read: () => undefined });
    const put = store.put('stop.png', endless, { ...VIDEO, signal: abortAfter(20) });
    await expect(put).rejects.toMatchObject({ name: 'AbortError' });
    expect(endless.destroyed).toBe(true);
    expect(await partialFiles()).toEqual([]);
  });

  it('says when the disk is full', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const body = new Readable({ read: () => body.destroy(full) });
    await expect(store.put('full.png', body, VIDEO)).rejects.toMatchObject({ code: 'no_space' });
  });

  it('deletes a file and its empty folder, and deleting again succeeds', async () => {
    await store.put('gone/file.png', Readable.from(['x']), VIDEO);
    await store.delete('gone/file.png');
    await store.delete('gone/file.png');
    await expect(store.open('gone/file.png')).rejects.toMatchObject({ code: 'not_found' });
    await expect(stat(join(folder, 'media', 'gone'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('survives deletes of the same folder while it writes', async () => {
    const work = Array.from({ length: 40 }, async (_, index) => {
      await store.put(`race/${index}.png`, Readable.from(['x']), VIDEO);
      await store.delete(`race/${index}.png`);
    });
    await expect(Promise.all(work)).resolves.toHaveLength(40);
  });

  it('is healthy while its folder can be written', async () => {
    expect(await store.healthy()).toBe(true);
    const lost = await LocalMediaStore.create({
      folder: join(folder, 'lost'),
      publicBaseUrl: () => baseUrl,
      signer: new LinkSigner([randomBytes(32)]),
    });
    await rm(join(folder, 'lost'), { recursive: true });
    expect(await lost.healthy()).toBe(false);
  });

  it('removes at its start files a killed process left half-written, but not files being written', async () => {
    const partial = join(folder, 'media', '.partial');
    await writeFile(join(partial, 'old'), 'x');
    await utimes(join(partial, 'old'), 0, 0);
    await writeFile(join(partial, 'new'), 'x');
    await createMediaStore(new MediaStoreConfig(), { dataDirectory: folder, publicBaseUrl: baseUrl });
    expect(await partialFiles()).toEqual(['new']);
    await rm(join(partial, 'new'));
  });

  it('removes half-written files of other processes while it runs, once they are a day old', async () => {
    const left = join(folder, 'media', '.partial', 'left');
    await writeFile(left, 'x');
    const putAt = async (hours: number): Promise<string[]> => {
      nowMs = Date.now() + hours * 3_600_000;
      await store.put('later.png', Readable.from(['x']), VIDEO);
      return partialFiles();
    };
    expect([await putAt(2), await putAt(25)]).toEqual([['left'], []]);
    nowMs = Date.now();
  });
});

describe('a link of the local media store', () => {
  const link = () => store.url(KEY, { ttlSeconds: 60 });

  it('answers GET and HEAD with type, length and a policy under which nothing runs', async () => {
    const full = await ask(await link());
    expect(full).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'video/mp4',
        'content-length': String(FILE.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'accept-ranges': 'bytes',
      },
    });
    expect(full.body.equals(FILE)).toBe(true);
    expect(await ask(await link(), {}, 'HEAD')).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });

  it.each([
    ['bytes=0-9', 206, FILE.subarray(0, 10)],
    ['bytes=-5', 206, FILE.subarray(-5)],
    ['bytes=199990-', 206, FILE.subarray(199_990)],
    ['bytes=0-1,5-6', 200, FILE],
  ])('answers the range %s with %d', async (range, status, expected) => {
    const reply = await ask(await link(), { range });
    expect(reply.status).toBe(status);
    expect(reply.body.equals(expected)).toBe(true);
  });

  it('refuses a range past the end, names the length, and carries none of the file headers', async () => {
    const reply = await ask(await link(), { range: 'bytes=200000-' });
    expect(reply).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */200000' } });
    expect(reply.headers).not.toHaveProperty('etag');
    expect(reply.headers).not.toHaveProperty('cache-control');
  });

  it('revalidates by ETag and sends the whole file when If-Range does not match', async () => {
    const { etag } = (await ask(await link())).headers;
    expect((await ask(await link(), { 'if-none-match': String(etag) })).status).toBe(304);
    expect((await ask(await link(), { range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200);
  });

  it('refuses every change of expiry, key, secret id and signature', async () => {
    const good = await link();
    const changed = [
      good.replace(/e=\d+/, 'e=9999999999'),
      good.replace(/e=\d+/, 'e=never'),
      good.replace('0.mp4', '1.mp4'),
      good.replace(/k=[0-9a-f]+/, 'k=00000000'),
      good.replace(/s=.{4}/, 's=AAAA'),
      good.replace(/&s=.*/, ''),
      good.split('?')[0] ?? '',
    ];
    const statuses = await Promise.all(changed.map(async (url) => (await ask(url)).status));
    expect(statuses).toEqual(changed.map(() => 403));
  });

  it('expires when its time is over, and a permanent link does not', async () => {
    const [short, stays] = [await link(), await store.url(KEY, { ttlSeconds: null })];
    nowMs += 61_000;
    expect(await ask(short)).toMatchObject({ status: 410, body: Buffer.from('link_expired') });
    nowMs += 10 * 365 * 86_400_000;
    expect((await ask(stays)).status).toBe(200);
  });

  it('answers 404 for a file that was removed', async () => {
    const url = await store.url('results/none.mp4', { ttlSeconds: 60 });
    expect((await ask(url)).status).toBe(404);
  });

  it('answers 405 with the allowed methods for anything else', async () => {
    expect(await ask(await link(), {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it.each([
    '../media-link-secrets',
    '%2e%2e%2fmedia-link-secrets',
    '..%5csecret',
    'a%00.png',
    '.partial/x',
    'results',
    'a//b',
    '',
  ])('never leaves the folder: /files/%s', async (path) => {
    const query = new URL(await link()).search;
    expect([403, 404]).toContain((await ask(`${baseUrl}/files/${path}${query}`)).status);
  });

  it('answers 404 for a folder even when the signature is right', async () => {
    expect((await ask(await store.url('results/task_01', { ttlSeconds: 60 }))).status).toBe(404);
  });

  it.each([0, -1, 1.5, Number.NaN])('is not made for a lifetime of %d seconds', async (ttlSeconds) => {
    await expect(store.url(KEY, { ttlSeconds })).rejects.toThrow(RangeError);
  });
});

describe('link secrets', () => {
  it('are created once, readable by the owner only, also when several processes start at once', async () => {
    const shared = await mkdtemp(join(tmpdir(), 'media-secrets-'));
    const open = () =>
      createMediaStore(new MediaStoreConfig(), { dataDirectory: shared, publicBaseUrl: '', now: () => 0 });
    const stores = await Promise.all(Array.from({ length: 8 }, open));
    const links = await Promise.all(stores.map((each) => each.url('a.png', { ttlSeconds: 5 })));
    expect(new Set(links).size).toBe(1);
    expect((await stat(join(shared, 'media-link-secrets'))).mode & 0o777).toBe(0o600);
    expect((await readFile(join(shared, 'media-link-secrets'), 'utf8')).trim()).toHaveLength(43);
    expect((await readdir(shared)).toSorted()).toEqual(['media', 'media-link-secrets']);
    await rm(shared, { recursive: true });
  });

  it('can be changed: old links work until the old secret is dropped', () => {
    const [old, fresh] = [randomBytes(32), randomBytes(32)];
    const link = new URL(new LinkSigner([old]).sign('a.png', 60), 'http://gateway');
    expect(new LinkSigner([fresh, old]).verify('a.png', link.searchParams).kind).toBe('valid');
    expect(new LinkSigner([fresh]).verify('a.png', link.searchParams).kind).toBe('forged');
  });

  it('are refused when missing or short', () => {
    expect(() => new LinkSigner([])).toThrow(RangeError);
    expect(() => new LinkSigner([randomBytes(15)])).toThrow(RangeError);
  });
});
