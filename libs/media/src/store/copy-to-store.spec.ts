import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SafeFetcher } from '#platform';
import { memoryRise } from '#testing';
import { copyToStore } from './copy-to-store.js';
import { createMediaStore } from './create-media-store.js';
import { MediaStoreConfig } from './media-store-config.js';
import type { MediaStore } from './media-store.js';

const FILE = randomBytes(400_000);
const MEBIBYTE = 1024 * 1024;

let folder: string;
let store: MediaStore;
let vendor: Server;
let vendorUrl: string;
let fetcher: SafeFetcher;
/** What the vendor was asked, in order: the range, or "whole". */
let asked: string[];
let answer: (request: IncomingMessage, response: ServerResponse, times: number) => void;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-to-store-'));
  store = await createMediaStore(new MediaStoreConfig(), { dataDirectory: folder, publicBaseUrl: '' });
  vendor = createServer((request, response) => {
    asked.push(request.headers.range ?? 'whole');
    answer(request, response, asked.length);
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  vendorUrl = `http://${host}/video.mp4`;
  fetcher = new SafeFetcher({ allow: [host], silenceTimeoutMs: 1_000 });
});

beforeEach(() => {
  asked = [];
});

afterAll(async () => {
  await fetcher.close();
  vendor.close();
  vendor.closeAllConnections();
  await rm(folder, { recursive: true });
});

const copy = (maxBytes = MEBIBYTE) =>
  copyToStore(
    { fetcher, url: vendorUrl, timeoutMs: 60_000 },
    { store, place: () => ({ key: 'copy/video.mp4', contentType: 'video/mp4' }), maxBytes },
  );

const stored = async (): Promise<Buffer> => buffer(await store.open('copy/video.mp4'));

async function expectNothingKept(): Promise<void> {
  await expect(store.open('copy/video.mp4')).rejects.toMatchObject({ code: 'not_found' });
  expect(await readdir(join(folder, 'media', '.partial'))).toEqual([]);
}

/** Sends a part of the file and then breaks the connection. */
function cutAfter(
  response: ServerResponse,
  part: Buffer,
  headers: Record<string, string | number>,
  status = 200,
): void {
  response.writeHead(status, headers);
  response.write(part, () => setTimeout(() => response.destroy(), 20));
}

describe('copying a remote file into the store', () => {
  afterEach(() => store.delete('copy/video.mp4'));

  it('gives length and checksum of exactly its bytes', async () => {
    answer = (_, response) => response.end(FILE);
    expect(await copy()).toMatchObject({ key: 'copy/video.mp4', bytes: FILE.length });
    expect((await stored()).equals(FILE)).toBe(true);
  });

  it('continues where the connection broke when the host proves that the file is the same', async () => {
    answer = (request, response, times) => {
      const start = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
      expect(request.headers['if-range']).toBe(times === 1 ? undefined : '"v1"');
      const headers = { etag: '"v1"', 'content-length': FILE.length - start };
      const range = { ...headers, 'content-range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` };
      if (times === 1) cutAfter(response, FILE.subarray(0, 150_000), headers);
      else if (times === 2) cutAfter(response, FILE.subarray(start, start + 100_000), range, 206);
      else response.writeHead(206, range).end(FILE.subarray(start));
    };
    expect(await copy()).toMatchObject({ bytes: FILE.length });
    expect((await stored()).equals(FILE)).toBe(true);
    expect(asked).toEqual(['whole', 'bytes=150000-', 'bytes=250000-']);
  });

  it('begins again when the file changed meanwhile, and never mixes the two', async () => {
    const other = randomBytes(FILE.length);
    answer = (_, response, times) => {
      const headers = { etag: times === 1 ? '"v1"' : '"v2"', 'content-length': FILE.length };
      if (times === 1) cutAfter(response, FILE.subarray(0, 150_000), headers);
      else response.writeHead(200, headers).end(other);
    };
    await copy();
    expect((await stored()).equals(other)).toBe(true);
    expect(asked).toEqual(['whole', 'bytes=150000-', 'whole']);
  });

  it('begins again when the host knows no ranges', async () => {
    answer = (_, response, times) => {
      if (times === 1) cutAfter(response, FILE.subarray(0, 150_000), { 'content-length': FILE.length });
      else response.end(FILE);
    };
    await copy();
    expect((await stored()).equals(FILE)).toBe(true);
    expect(asked).toEqual(['whole', 'whole']);
  });

  it('retries after a temporary fault of the host', async () => {
    answer = (_, response, times) => void (times === 1 ? response.writeHead(503).end() : response.end(FILE));
    expect(await copy()).toMatchObject({ bytes: FILE.length });
  });

  it('gives up after three attempts and keeps nothing', async () => {
    answer = (_, response) => cutAfter(response, FILE.subarray(0, 1_000), { 'content-length': FILE.length });
    await expect(copy()).rejects.toMatchObject({ name: 'FetchFailed', code: 'connection_failed' });
    expect(asked).toHaveLength(3);
    await expectNothingKept();
  });

  it('gives up at once when nothing is there', async () => {
    answer = (_, response) => response.writeHead(404).end();
    await expect(copy()).rejects.toMatchObject({ name: 'RemoteStatus', status: 404 });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['announced', (response: ServerResponse) => response.writeHead(200, { 'content-length': FILE.length }).end(FILE)],
    ['found out while it streams', (response: ServerResponse) => response.writeHead(200).end(FILE)],
  ])('refuses a file that is too large, %s, and keeps nothing', async (_case, send) => {
    answer = (_, response) => void send(response);
    await expect(copy(FILE.length - 1)).rejects.toMatchObject({ code: 'too_large' });
    expect(asked).toHaveLength(1);
    await expectNothingKept();
  });

  it('keeps memory bounded whatever the length', async () => {
    const total = 192 * MEBIBYTE;
    const chunk = Buffer.alloc(MEBIBYTE);
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': total });
      Readable.from(Array.from({ length: total / MEBIBYTE }, () => chunk)).pipe(response);
    };
    const allowed = 64 * MEBIBYTE;
    const { result, bytes } = await memoryRise(allowed, () => copy(total));
    expect(result.bytes).toBe(total);
    expect(bytes).toBeLessThan(allowed);
  });
});

describe('copying a stream into the store', () => {
  it('gives length and checksum', async () => {
    const options = { store, place: () => ({ key: 'stream.mp4', contentType: 'video/mp4' }), maxBytes: MEBIBYTE };
    expect(await copyToStore(Readable.from([FILE]), options)).toMatchObject({ bytes: FILE.length });
  });
});
