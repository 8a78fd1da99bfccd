import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { MediaLimits, MeasuredReference } from '#contracts';
import { SafeFetcher } from '#platform';
import { pngSample } from '#testing';
import { createMediaStore } from '../store/create-media-store.js';
import { MediaStoreConfig } from '../store/media-store-config.js';
import type { MediaStore } from '../store/media-store.js';
import { checkReference } from './check-references.js';

const KEY = 'results/task_01/0.png';
const FILE = pngSample({ width: 640, height: 480 });
const LIMITS: MediaLimits = { formats: ['png'], maxBytes: 1024 * 1024 };
/** Leads nowhere: what is read without the network needs no server. */
const GATEWAY = 'https://gateway.invalid';

describe('Files that this gateway made, as inputs by their own links', () => {
  const fetcher = new SafeFetcher({});
  let folder: string;
  let store: MediaStore;
  let nowMs = Date.now();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'own-files-'));
    const place = { dataDirectory: folder, publicBaseUrl: () => GATEWAY, now: () => nowMs };
    store = await createMediaStore(new MediaStoreConfig(), place);
  });
  beforeEach(() => store.put(KEY, Readable.from([FILE]), { contentType: 'image/png', maxBytes: LIMITS.maxBytes }));
  afterAll(async () => {
    await fetcher.close();
    await rm(folder, { recursive: true });
  });
  const link = (): Promise<string> => store.url(KEY, { ttlSeconds: 60 });
  const check = (source: string, limits = LIMITS): Promise<MeasuredReference> =>
    checkReference(
      { param: 'image_url', medium: 'image', role: 'reference', source, limits },
      { fetcher, timeoutMs: 5_000, store },
    );

  it('are measured without the network', async () => {
    expect(await check(await link())).toMatchObject({ width: 640, height: 480, bytes: FILE.length });
  });

  it('are refused when they are too large or were removed', async () => {
    const source = await link();
    await expect(check(source, { ...LIMITS, maxBytes: 10 })).rejects.toMatchObject({
      publicMessage: `image_url: the file has ${FILE.length} bytes; at most 0 MB are allowed.`,
    });
    await store.delete(KEY);
    await expect(check(source)).rejects.toMatchObject({
      publicMessage: 'image_url: the file is no longer kept by this gateway.',
    });
  });

  it('are recognized only by valid links', async () => {
    const good = await link();
    expect(store.keyOf(good)).toBe(KEY);
    const others = [
      good.replace(/s=.{4}/, 's=AAAA'),
      good.replace('0.png', '1.png'),
      good.replace('task_01', '..'),
      good.replace(GATEWAY, 'https://gateway.invalid:8443'),
      good.replace('https://', 'https://user@'),
      `${GATEWAY}/v1/tasks`,
      'no link',
    ];
    expect(others.map((other) => store.keyOf(other))).toEqual(others.map(() => undefined));
    nowMs += 61_000;
    expect(store.keyOf(good)).toBeUndefined();
  });
});
