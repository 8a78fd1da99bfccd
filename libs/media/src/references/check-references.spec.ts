import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { GatewayError, type MediaLimits, type MediaReference } from '#contracts';
import { SafeFetcher } from '#platform';
import { isoBox, longs, movieSample, mp4Brands, pngSample, wavSample } from '#testing';
import { FileMemory, NoMemoryForFiles } from '../inspect/byte-source.js';
import { checkReference, checkReferences, measureReferences } from './check-references.js';

const MEBIBYTE = 1024 * 1024;
const IMAGE: MediaLimits = { formats: ['png', 'jpeg'], maxBytes: MEBIBYTE, minSidePixels: 128 };
const VIDEO: MediaLimits = { formats: ['mp4', 'mov'], maxBytes: 100 * MEBIBYTE, minSeconds: 2, maxSeconds: 10 };
const SOUND: MediaLimits = { formats: ['wav', 'mp3'], maxBytes: MEBIBYTE, maxSeconds: 15 };

const GOOD_IMAGE = pngSample({ width: 640, height: 480 });
/** Its header is behind 3 MB of data, so that it takes further requests to find it. */
const LATE_VIDEO = Buffer.concat([mp4Brands(), isoBox('mdat', Buffer.alloc(3 * MEBIBYTE)), movieSample()]);

let host: Server;
let hostUrl: string;
let fetcher: SafeFetcher;
let files: Map<string, Buffer>;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
let asked: string[];

beforeAll(async () => {
  host = createServer((request, response) => {
    asked.push(request.headers.range ?? 'whole');
    respond(request, response);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(host.address() as AddressInfo).port}`;
  hostUrl = `http://${address}/`;
  fetcher = new SafeFetcher({ allow: [address] });
});

beforeEach(() => {
  asked = [];
  files = new Map([
    ['image.png', GOOD_IMAGE],
    ['late.mp4', LATE_VIDEO],
  ]);
  respond = (request, response) => sendRange(request, response, files.get(request.url?.slice(1) ?? ''));
});

afterAll(async () => {
  await fetcher.close();
  host.close();
  host.closeAllConnections();
});

/** A host that knows ranges, as object stores do. */
function sendRange(request: IncomingMessage, response: ServerResponse, file: Buffer | undefined, etag = '"1"'): void {
  const match = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (!file) return void response.writeHead(404).end();
  if (!match) return void response.end(file);
  const [start, end] = [Number(match[1]), Math.min(Number(match[2]) + 1, file.length)];
  if (start >= file.length) return void response.writeHead(416).end();
  response.writeHead(206, { etag, 'content-range': `bytes ${start}-${end - 1}/${file.length}` });
  response.end(file.subarray(start, end));
}

const reference = (source: string, limits: MediaLimits = IMAGE, param = 'image_urls[0]'): MediaReference => ({
  param,
  medium: limits === VIDEO ? 'video' : limits === SOUND ? 'audio' : 'image',
  role: 'reference',
  source,
  limits,
});

const check = (path: string, limits: MediaLimits = IMAGE, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  checkReference(reference(path.includes(':') ? path : hostUrl + path, limits), {
    fetcher,
    timeoutMs: 60_000,
    ...options,
  });

const refusal = (rule: string) => ({
  code: 'invalid_media',
  param: 'image_urls[0]',
  publicMessage: `image_urls[0]: ${rule}`,
});

/** The boxes of a video with filler in front of each of its fragments. */
function apart(file: Buffer, filler: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < file.length;) {
    const box = file.subarray(at, at + file.readUInt32BE(at));
    if (box.toString('latin1', 4, 8) === 'moof') parts.push(filler);
    parts.push(box);
    at += box.length;
  }
  return Buffer.concat(parts);
}

describe('checking a remote reference', () => {
  it('measures an image with one request', async () => {
    expect(await check('image.png')).toEqual({
      param: 'image_urls[0]',
      medium: 'image',
      role: 'reference',
      source: `${hostUrl}image.png`,
      format: 'png',
      bytes: GOOD_IMAGE.length,
      width: 640,
      height: 480,
    });
    expect(asked).toEqual(['bytes=0-65535']);
  });

  it('finds a header at the end of a large video without reading what is before it', async () => {
    expect(await check('late.mp4', VIDEO)).toMatchObject({ format: 'mp4', durationSeconds: 5 });
    expect(asked).toHaveLength(2);
  });

  it('reads from a host without ranges only as far as needed', async () => {
    const known = (response: ServerResponse, file: Buffer) =>
      response.writeHead(200, { 'content-length': file.length }).end(file);
    const unknown = (response: ServerResponse, file: Buffer) => response.writeHead(200).end(file);
    for (const send of [known, unknown]) {
      respond = (request, response) => void send(response, files.get(request.url?.slice(1) ?? '') ?? GOOD_IMAGE);
      expect(await check('late.mp4', VIDEO)).toMatchObject({ bytes: LATE_VIDEO.length, durationSeconds: 5 });
      expect(await check('image.png')).toMatchObject({ width: 640 });
    }
  });

  it.each([
    ['announced', true],
    ['not announced', false],
  ])(
    'needs no disk for 100 MB with the header at the end, from a host without ranges, its length %s',
    async (_, isAnnounced) => {
      const [beginning, end] = [
        Buffer.concat([mp4Brands(), longs(99 * MEBIBYTE + 8), Buffer.from('mdat')]),
        movieSample(),
      ];
      const filler = Buffer.alloc(MEBIBYTE);
      const bytes = beginning.length + 99 * MEBIBYTE + end.length;
      respond = (_request, response) => {
        if (isAnnounced) response.setHeader('content-length', bytes);
        const parts = function* () {
          yield beginning;
          for (let part = 0; part < 99; part += 1) yield filler;
          yield end;
        };
        Readable.from(parts()).pipe(response);
      };
      const { TMPDIR } = process.env;
      process.env['TMPDIR'] = '/dev/null/no-disk';
      try {
        expect(await check('large.mp4', VIDEO)).toMatchObject({ bytes, durationSeconds: 5 });
      } finally {
        if (TMPDIR === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = TMPDIR;
      }
    },
  );

  it('reads a header from a host without ranges that lies in front of what was read, as from one that has them', async () => {
    const fixture = (name: string) => readFileSync(new URL(`../inspect/fixtures/${name}`, import.meta.url));
    const far = isoBox('free', Buffer.alloc(3 * MEBIBYTE));
    // The index of its fragments is found on the way to the end, and their headers are read after that.
    files.set('far.mp4', apart(fixture('fragments.mp4'), far));
    const measured = await check('far.mp4', { ...VIDEO, minSeconds: 0 });
    expect(measured.durationSeconds).toBeGreaterThan(0);
    for (const send of ['known', 'unknown']) {
      respond = (request, response) => {
        const file = files.get(request.url?.slice(1) ?? '') ?? GOOD_IMAGE;
        response.writeHead(200, { etag: '"1"', ...(send === 'known' && { 'content-length': file.length }) }).end(file);
      };
      expect(await check('far.mp4', { ...VIDEO, minSeconds: 0 })).toEqual(measured);
    }
  });

  it.each([
    [
      'announced by range',
      (file: Buffer, request: IncomingMessage, response: ServerResponse) => sendRange(request, response, file),
    ],
    [
      'announced by length',
      (file: Buffer, _: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200, { 'content-length': file.length }).end(file),
    ],
    [
      'found out while it streams',
      (file: Buffer, _: IncomingMessage, response: ServerResponse) => response.writeHead(200).end(file),
    ],
  ])('refuses a file that is too large, %s', async (_case, send) => {
    const large = Buffer.concat([GOOD_IMAGE, Buffer.alloc(MEBIBYTE)]);
    respond = (request, response) => {
      send(large, request, response);
    };
    await expect(check('image.png')).rejects.toMatchObject({
      code: 'invalid_media',
      publicMessage: expect.stringMatching(/^image_urls\[0\]: the file .*; at most 1 MB are allowed\.$/),
    });
  });

  it.each([
    [404, 'the file could not be fetched: its host answered 404; nothing is there.', 1],
    [403, 'the file could not be fetched: its host answered 403; the URL must be readable without signing in.', 1],
    [500, 'the file could not be fetched: its host answered 500.', 2],
  ])('reports the status %d of the host, and retries only when that may help', async (status, rule, requests) => {
    respond = (_, response) => void response.writeHead(status).end();
    await expect(check('image.png')).rejects.toMatchObject(refusal(rule));
    expect(asked).toHaveLength(requests);
  });

  it('tolerates one temporary fault of a host', async () => {
    respond = (request, response) => {
      if (asked.length === 1) response.destroy();
      else sendRange(request, response, GOOD_IMAGE);
    };
    expect(await check('image.png')).toMatchObject({ width: 640 });
  });

  it('says when the host is too slow, unknown, or not public', async () => {
    respond = () => undefined;
    await expect(check('image.png', IMAGE, { timeoutMs: 60 })).rejects.toMatchObject(
      refusal('the file could not be fetched: the host did not answer in time.'),
    );
    for (const url of [
      'http://127.0.0.1/x.png',
      'http://[::1]/x.png',
      'http://169.254.169.254/latest',
      'http://localhost/x.png',
    ])
      await expect(check(url)).rejects.toMatchObject(
        refusal('the file is not at a public address; give a URL that anybody on the internet can reach.'),
      );
    await expect(check('ftp://example.com/x.png')).rejects.toMatchObject(
      refusal('the file cannot be fetched: only http and https URLs are fetched.'),
    );
  });

  it.each([
    [
      'another ETag',
      (request: IncomingMessage, response: ServerResponse) =>
        sendRange(request, response, LATE_VIDEO, `"${asked.length}"`),
    ],
    [
      'another length',
      (request: IncomingMessage, response: ServerResponse) =>
        sendRange(request, response, Buffer.concat([LATE_VIDEO, Buffer.alloc(asked.length)])),
    ],
    [
      'no range any more',
      (request: IncomingMessage, response: ServerResponse) =>
        void (asked.length % 2 ? sendRange(request, response, LATE_VIDEO) : response.end(LATE_VIDEO)),
    ],
  ])('refuses a file that changes while it is read: %s', async (_case, send) => {
    respond = send;
    await expect(check('late.mp4', VIDEO)).rejects.toMatchObject(refusal('the file changed while it was read.'));
  });

  it.each([
    [
      'a range that was not asked for',
      { 'content-range': 'bytes 5-9/100' },
      'is answered with a range that was not asked for',
    ],
    ['a range of unknown size', { 'content-range': 'bytes 0-9/*' }, 'is answered with a range that was not asked for'],
  ])('refuses %s', async (_case, headers, rule) => {
    respond = (_, response) => void response.writeHead(206, headers).end(GOOD_IMAGE);
    await expect(check('image.png')).rejects.toMatchObject(refusal(`the file ${rule}.`));
  });

  it('refuses a compressed answer', async () => {
    respond = (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(GOOD_IMAGE));
    await expect(check('image.png')).rejects.toMatchObject({ code: 'invalid_media' });
  });

  it('refuses a type that is not allowed', async () => {
    files.set('sound.wav', wavSample({ soundBytes: 16_000 }));
    await expect(check('sound.wav')).rejects.toMatchObject(refusal('the file is wav; it must be png or jpeg.'));
  });

  it('reports a web page and an empty file as such', async () => {
    files.set('page', Buffer.from('<!doctype html><title>Sign in</title>'));
    files.set('empty', Buffer.alloc(0));
    await expect(check('page')).rejects.toMatchObject(
      refusal('the file is a web page; it must be an image (png or jpeg).'),
    );
    await expect(check('empty')).rejects.toMatchObject(
      refusal('the file is empty; it must be an image (png or jpeg).'),
    );
  });

  it('stops with the reason of the caller, which is not an error of the file', async () => {
    const stopped = new Error('shutting down');
    const controller = new AbortController();
    respond = () => controller.abort(stopped);
    await expect(check('image.png', IMAGE, { signal: controller.signal })).rejects.toBe(stopped);
  });
});

describe('checking several references', () => {
  const sounds = (...seconds: number[]) =>
    seconds.map((length, index) => {
      files.set(`${index}.wav`, wavSample({ soundBytes: length * 16_000 }));
      return reference(`${hostUrl}${index}.wav`, SOUND, `audio_urls[${index}]`);
    });
  const TOTAL = { param: 'audio_urls', medium: 'audio', maxSeconds: 15 } as const;
  const checkAll = async (references: MediaReference[], deadline?: number) =>
    checkReferences(references, [TOTAL], await measureReferences(references, { fetcher, timeoutMs: 60_000, deadline }));

  it('keeps their order and reads at most four at once', async () => {
    let [open, most] = [0, 0];
    respond = (request, response) => {
      most = Math.max(most, (open += 1));
      setTimeout(() => sendRange(request, response, files.get(request.url?.slice(1) ?? '')), 10);
      response.on('close', () => (open -= 1));
    };
    const measured = await checkAll(sounds(1, 1, 1, 1, 1, 1, 1, 1, 1));
    expect(measured.map(({ param }) => param)).toEqual(Array.from({ length: 9 }, (_, index) => `audio_urls[${index}]`));
    expect(most).toBe(4);
  });

  it('lists every broken file, the first one in the message', async () => {
    const error = await checkAll([...sounds(16, 1, 17), reference(`${hostUrl}none.png`)]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ param: 'audio_urls[0]', publicMessage: expect.stringContaining('lasts 16 s') });
    const params = (error as GatewayError).details?.map(({ param }) => param);
    expect(params).toEqual(['audio_urls[0]', 'audio_urls[2]', 'image_urls[0]']);
  });

  it('keeps of files of one account at most its share of the memory, and none when they are measured', async () => {
    const memory = new FileMemory(8 * 64 * 1024);
    const large = Buffer.concat([GOOD_IMAGE, Buffer.alloc(64 * 1024)]);
    const references = Array.from({ length: 2 }, (_, index) => reference(`${hostUrl}x`, IMAGE, `image_urls[${index}]`));
    const look = (accountId: string) =>
      measureReferences(references, { fetcher, timeoutMs: 60_000, memory, accountId });
    respond = (request, response) => sendRange(request, response, large);
    const other = memory.of('a');
    other.take(2 * 64 * 1024);
    await expect(look('a')).rejects.toBeInstanceOf(NoMemoryForFiles);
    expect(await look('b')).toHaveLength(2);
    other.letGo();
    expect(await look('a')).toHaveLength(2);
    memory.of('a').take(2 * 64 * 1024);
  });

  it('has one time for all of them, and names those that were not reached in it', async () => {
    respond = () => undefined;
    const references = Array.from({ length: 24 }, (_, index) =>
      reference(`${hostUrl}x`, IMAGE, `image_urls[${index}]`),
    );
    await expect(checkAll(references, performance.now() + 50)).rejects.toMatchObject({
      publicMessage: expect.stringContaining('image_urls[0]: the file could not be fetched'),
      details: references.map(({ param }) => ({ param })),
    });
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  it('adds their lengths up', async () => {
    expect(await checkAll(sounds(5, 5, 5))).toHaveLength(3);
    await expect(checkAll(sounds(5, 5, 6))).rejects.toMatchObject({
      param: 'audio_urls',
      publicMessage: 'audio_urls: the files last 16 s together; they may last at most 15 s.',
    });
  });
});
