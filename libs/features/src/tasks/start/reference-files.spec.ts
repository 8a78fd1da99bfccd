import { Readable } from 'node:stream';
import type { MeasuredReference } from '#contracts';
import { FetchFailed, type SafeFetcher } from '#platform';
import { pngSample } from '#testing';
import { referenceFiles, type ReferenceFileSources } from './reference-files.js';

const CHECKED = pngSample({ width: 640, height: 480 });
const { signal } = new AbortController();

const reference = (source: string): MeasuredReference => ({
  param: 'image_urls[0]',
  medium: 'image',
  role: 'reference',
  source,
  format: 'png',
  bytes: CHECKED.length,
  width: 640,
  height: 480,
});

describe('The files of an order', () => {
  const bounds: number[] = [];
  let answers: (() => Buffer)[] = [];
  beforeEach(() => {
    bounds.length = 0;
  });

  const get: SafeFetcher['get'] = async (_, { maxBytes }) => {
    bounds.push(maxBytes ?? Number.POSITIVE_INFINITY);
    const bytes = (answers.length > 1 ? answers.shift() : answers[0])?.() ?? Buffer.alloc(0);
    return { status: 200, headers: {}, body: Readable.from([bytes]) } as never;
  };
  const store: ReferenceFileSources['store'] = {
    keyOf: (link) => (link.includes('/files/') ? 'own.png' : undefined),
    size: () => Promise.resolve(CHECKED.length),
    open: (_key, range) => Promise.resolve(Readable.from([CHECKED.subarray(range?.start, range?.end)])),
  };
  const fileAt = (source: string) => {
    const sources = { fetcher: { get } as SafeFetcher, store, accountId: 'acct_1', signal };
    return referenceFiles([reference(source)], sources).get('image_urls[0]');
  };

  it('are read once and only up to their checked size, even if they have grown', async () => {
    answers = [() => CHECKED];
    const file = fileAt('https://media.example.com/a.png');
    expect(await file.bytes()).toEqual(CHECKED);
    await file.bytes();
    expect(bounds).toEqual([CHECKED.length]);
  });

  it.each<[string, Buffer]>([
    ['larger', pngSample({ width: 6_400, height: 4_800 })],
    ['cut', CHECKED.subarray(0, 20)],
    ['no image', Buffer.from('<!doctype html><title>Sign in</title>')],
    ['empty', Buffer.alloc(0)],
  ])('are sent to no vendor when their host answers with another file the second time: %s', async (_, other) => {
    answers = [() => other];
    await expect(fileAt('https://media.example.com/a.png').bytes()).rejects.toThrow();
  });

  it('are requested again after a temporary fault of their host', async () => {
    const cut = (): Buffer => {
      throw new FetchFailed('connection_failed', 'the connection was cut');
    };
    answers = [cut, () => CHECKED];
    expect(await fileAt('https://media.example.com/a.png').bytes()).toEqual(CHECKED);
  });

  it('of the gateway are read from the store, and sent as bytes where their link is not public', async () => {
    answers = [];
    const local = fileAt('http://127.0.0.1:3000/files/own.png');
    expect([await local.bytes(), local.isOursAlone]).toEqual([CHECKED, true]);
    expect(fileAt('https://gateway.example.com/files/own.png').isOursAlone).toBe(false);
    expect(bounds).toEqual([]);
  });
});
