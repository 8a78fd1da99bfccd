import { Readable } from 'node:stream';
import type { MeasuredReference } from '#contracts';
import type { SafeFetcher } from '#platform';
import { referenceFiles } from './reference-files.js';

describe('The files of an order', () => {
  it('are read no further than they were checked, however long they have become', async () => {
    const checked = {
      param: 'image_urls[0]',
      source: 'https://media.example.com/a.png',
      bytes: 7,
    } as MeasuredReference;
    const bounds: number[] = [];
    const get: SafeFetcher['get'] = (_, { maxBytes }) => {
      bounds.push(maxBytes ?? Number.POSITIVE_INFINITY);
      return Promise.resolve({ status: 200, headers: {}, body: Readable.from([Buffer.alloc(7)]) } as never);
    };
    const { signal } = new AbortController();
    const files = referenceFiles([checked], { fetcher: { get } as SafeFetcher, accountId: 'acct_1', signal });
    await files.get(checked.param).bytes();
    await files.get(checked.param).bytes();
    expect(bounds).toEqual([7]);
  });
});
