import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createMediaStore, type MediaStore, MediaStoreConfig } from '#media';
import { noFailpoints, readProcessConfig } from '#runtime';
import { createTestDatabase, endlessPdfSample, type TestDatabase } from '#testing';
import { PriceBook } from '../billing/prices/price-book.js';
import { DEFAULT_CHUNKING } from './uploaded-file.js';
import { ExpiredUploads } from './expired-uploads.js';
import { FileIndexer } from './file-indexer.js';
import { FilePreparer, FULL_BOUNDS, type PreparerBounds } from './file-preparer.js';
import { FilesService } from './files.service.js';
import { type NewEntry, VectorStoreFilesService } from './vector-store-files.service.js';
import { VectorStoresService } from './vector-stores.service.js';

const WORDS = Buffer.from('The lighthouse of Vesterholm was lit for the first time in 1871.');

describe('Reading the files of several accounts', () => {
  let test: TestDatabase;
  let store: MediaStore;
  let folder: string;
  let indexer: FileIndexer | undefined;
  beforeAll(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'files-'));
    const options = { dataDirectory: folder, publicBaseUrl: () => 'http://127.0.0.1' };
    store = await createMediaStore(new MediaStoreConfig(), options);
    for (const account of ['ann', 'ben']) {
      await test.database.query({ text: 'insert into account (id, name) values ($1, $1)', values: [account] });
      await test.database.query({
        text: `insert into api_key (id, account_id, name, prefix, key_hash) values ($1, $1, 'key', 'sk', $2)`,
        values: [account, Buffer.from(account)],
      });
    }
  });
  afterEach(async () => {
    await indexer?.close();
    await test.database.query({ text: 'truncate uploaded_file, file_index, file_usage, vector_store cascade' });
  });
  afterAll(async () => {
    await store.close();
    await test.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const reader = (quick: Partial<PreparerBounds> = {}, bytesMax?: number): FileIndexer => {
    const preparers = {
      quick: new FilePreparer({ ...FULL_BOUNDS, ...quick }),
      slow: new FilePreparer(FULL_BOUNDS),
    };
    return (indexer = new FileIndexer(test.database, store, noFailpoints, preparers, bytesMax));
  };

  const filesOf = (): FilesService =>
    new FilesService(
      test.database,
      noFailpoints,
      { config: readProcessConfig({}), store },
      new PriceBook(test.database),
    );

  /** Answers its id. */
  async function add(accountId: string, filename: string, content: Buffer = WORDS): Promise<string> {
    const files = filesOf();
    const { id, storeKey } = await files.begin({ accountId, apiKeyId: accountId });
    const kept = await store.put(storeKey, Readable.from([content]), { contentType: 'text/plain', maxBytes: 10_000 });
    const upload = { filename, purpose: 'assistants', contentType: 'text/plain', expiresAfterSeconds: null };
    await files.keep(accountId, id, { ...upload, bytes: kept.bytes, sha256: kept.sha256 });
    return id;
  }

  const entries = (more: Readonly<Record<string, string>> = {}): VectorStoreFilesService =>
    new VectorStoreFilesService(test.database, { config: readProcessConfig(more) });
  const entryOf = (fileId: string, chunkTokens: number): NewEntry => ({
    fileId,
    param: 'file_ids[0]',
    attributes: {},
    chunking: { chunkTokens, overlapTokens: 0 },
  });
  const newStore = async (accountId: string): Promise<string> =>
    (await new VectorStoresService(test.database, entries()).create(accountId, {}, [])).id;
  /** Puts a file into a vector store, cut in a way. */
  const cut = (accountId: string, vectorStoreId: string, fileId: string, chunkTokens: number): Promise<void> =>
    entries().add({ accountId, vectorStoreId, files: [entryOf(fileId, chunkTokens)] });
  const count = async (of: string): Promise<number> =>
    (await test.database.query<{ count: number }>({ text: `select count(*)::integer as count from ${of}` })).rows[0]
      ?.count ?? -1;

  /** Cuts of a file that wait, from the one with `from` tokens. */
  const addWaiting = (fileId: string, accountId: string, from: number, to: number): Promise<unknown> =>
    test.database.query({
      text: `insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens)
        select $1, $2, n, 0 from generate_series($3::integer, $4::integer) as n`,
      values: [fileId, accountId, from, to],
      limit: 'long',
    });

  const read = async (): Promise<string[]> =>
    (
      await test.database.query<{ filename: string }>({
        text: `select filename from file_index join uploaded_file f on f.id = file_id
          where file_index.state = 'completed' order by ended_at`,
      })
    ).rows.map(({ filename }) => filename);

  it('takes one of each account in turn, however many one of them has', async () => {
    for (const name of ['a1', 'a2', 'a3']) await add('ann', name);
    for (const name of ['b1', 'b2']) await add('ben', name);
    const files = reader();
    while (await files.indexNext('quick'));
    expect(await read()).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('keeps no file waiting behind those that hardly end, also while one of them is read', async () => {
    for (const name of ['a1.pdf', 'a2.pdf', 'a3.pdf']) await add('ann', name, endlessPdfSample());
    await add('ben', 'b1');
    const files = reader({ timeMs: 2_000 });
    expect(await files.indexNext('quick')).toBe(true);
    const slow = files.indexNext('slow');
    expect(await files.indexNext('quick')).toBe(true);
    expect(await read()).toEqual(['b1']);
    await files.close();
    await slow;
  });

  it('tries a file that hardly ends once beside small ones, in however many ways it is cut', async () => {
    const fileId = await add('ann', 'a1.pdf', endlessPdfSample());
    await cut('ann', await newStore('ann'), fileId, 100);
    const files = reader({ timeMs: 200 });
    expect(await files.indexNext('quick')).toBe(true);
    await cut('ann', await newStore('ann'), fileId, 101);
    expect(await files.indexNext('quick')).toBe(false);
    expect(await count('file_index where is_slow')).toBe(3);
  });

  it('reads a file that only takes longer than most, and counts one attempt of it', async () => {
    await add('ann', 'a1');
    const files = reader({ timeMs: 0 });
    expect(await files.indexNext('slow')).toBe(false);
    while (await files.indexNext('quick'));
    expect(await read()).toEqual([]);
    expect(await files.indexNext('slow')).toBe(true);
    expect(await read()).toEqual(['a1']);
    const { rows } = await test.database.query({ text: 'select attempt from file_index' });
    expect(rows).toEqual([{ attempt: 1 }]);
  });

  it('finds the next file by stepping from account to account, however much one of them has waiting', async () => {
    const queries = jest.spyOn(test.database, 'query');
    const files = reader();
    expect(await files.indexNext('quick')).toBe(false);
    const claim = queries.mock.calls[0]?.[0] ?? { text: '' };
    queries.mockRestore();
    const pages = async (): Promise<number> => {
      await test.database.query({ text: 'analyze file_index' });
      const { rows } = await test.database.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>({
        text: `explain (analyze, buffers, timing off, format json) ${claim.text}`,
        values: [...(claim.values ?? [])],
      });
      const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
      return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    };
    const fileId = await add('ann', 'a1');
    await addWaiting(fileId, 'ann', 10_001, 10_010);
    const few = await pages();
    await addWaiting(fileId, 'ann', 20_001, 50_000);
    await add('ben', 'b1');
    expect(await pages()).toBeLessThan(few + 60);
    expect(await pages()).toBeLessThan(few + 60);
  });

  it('cuts a file in at most 16 ways, and names the field; a way that no vector store asks for gives its place back', async () => {
    const fileId = await add('ann', 'a1');
    const stores: string[] = [];
    // The cut that every file has by itself is one of them.
    for (let nth = 1; nth < 16; nth += 1) {
      stores.push(await newStore('ann'));
      await cut('ann', stores.at(-1) ?? '', fileId, 100 + nth);
    }
    const files = reader();
    while (await files.indexNext('quick'));
    const another = await newStore('ann');
    await expect(cut('ann', another, fileId, 200)).rejects.toMatchObject({
      code: 'conflict',
      param: 'file_ids[0]',
      message: expect.stringContaining('16 ways'),
    });
    await cut('ann', another, fileId, 101);
    await entries().remove('ann', stores[1] ?? '', fileId);
    await cut('ann', another, fileId, 200);
    expect(await count(`file_index where file_id = '${fileId}'`)).toBe(16);
  });

  it('lets at most 10,000 cuts of an account wait, also when many ask at once, and others as many', async () => {
    const [fileId, other] = [await add('ann', 'a1'), await add('ann', 'a2')];
    await addWaiting(fileId, 'ann', 10_001, 19_990);
    const stores = await Promise.all(Array.from({ length: 12 }, () => newStore('ann')));
    const asked = await Promise.allSettled(stores.map((store, nth) => cut('ann', store, other, 100 + nth)));
    expect(await count(`file_index where account_id = 'ann'`)).toBe(10_000);
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    await expect(cut('ann', await newStore('ann'), other, 300)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterMs: 30_000,
    });
    await cut('ben', await newStore('ben'), await add('ben', 'b1'), 300);
  });

  it('drops the jobs of cuts that no vector store asks for any more, at once', async () => {
    const fileId = await add('ann', 'a1');
    const jobs = (): Promise<number> => count(`file_index where account_id = 'ann' and state = 'waiting'`);
    const [store, second] = [await newStore('ann'), await newStore('ann')];
    for (let nth = 0; nth < 20; nth += 1) await cut('ann', store, fileId, 100 + nth);
    await cut('ann', second, fileId, 119);
    expect(await jobs()).toBe(2);
    await entries().remove('ann', store, fileId);
    expect(await jobs()).toBe(2);
    await new VectorStoresService(test.database, entries()).remove('ann', second);
    expect(await jobs()).toBe(1);
    await filesOf().remove('ann', fileId);
    expect(await jobs()).toBe(0);
  });

  it('makes of the files of an account as much as it may have, says so of the others, and gives room back with what goes', async () => {
    const bytes = async (): Promise<number> =>
      (
        await test.database.query<{ bytes: number }>({
          text: `select index_bytes::integer as bytes from file_usage where account_id = 'ann'`,
        })
      ).rows[0]?.bytes ?? -1;
    const first = await add('ann', 'a1');
    while (await reader().indexNext('quick'));
    const one = await bytes();
    expect(one).toBeGreaterThan(WORDS.length);
    const second = await add('ann', 'a2');
    await add('ben', 'b1');
    const bounded = reader({}, 2 * one - 1);
    while (await bounded.indexNext('quick'));
    expect(await read()).toEqual(['a1', 'b1']);
    expect(await count(`file_index where error_code = 'server_error' and error_message like '%at most % bytes%'`)).toBe(
      1,
    );
    expect(await bytes()).toBe(one);
    await filesOf().remove('ann', first);
    await new ExpiredUploads(test.database, store, noFailpoints).remove(10);
    expect(await bytes()).toBe(0);
    await entries().add({
      accountId: 'ann',
      vectorStoreId: await newStore('ann'),
      files: [{ ...entryOf(second, 800), chunking: DEFAULT_CHUNKING }],
    });
    while (await bounded.indexNext('quick'));
    expect(await read()).toEqual(['b1', 'a2']);
  });

  describe('and what is noted of them in vector stores', () => {
    const usedBytes = async (): Promise<number> =>
      (
        await test.database.query<{ bytes: number }>({
          text: `select u.index_bytes::integer + coalesce((
              select sum(c.index_bytes) from text_bytes_change c where c.account_id = u.account_id
            ), 0)::integer as bytes from file_usage u where u.account_id = 'ann'`,
        })
      ).rows[0]?.bytes ?? -1;
    const noted = (length: number) => ({ note: 'x'.repeat(length), shelf: 7 });
    const bytesOf = (attributes: object): number => JSON.stringify(attributes).length;

    it('counts with what is made of them, whichever way it is set, changed and removed', async () => {
      const [first, second] = [await add('ann', 'a1'), await add('ann', 'a2')];
      const store = await newStore('ann');
      const before = await usedBytes();
      const more = async (): Promise<number> => (await usedBytes()) - before;
      const put = (fileId: string, attributes: NewEntry['attributes']): Promise<unknown> =>
        entries().addBatch({
          accountId: 'ann',
          vectorStoreId: store,
          files: [{ ...entryOf(fileId, 800), attributes }],
        });
      await put(first, noted(500));
      await put(second, {});
      // Postgres writes a blank behind each colon and comma.
      const one = bytesOf(noted(500)) + 3;
      expect(await more()).toBe(one);
      await put(second, noted(400));
      expect(await more()).toBe(2 * one - 100);
      await put(second, noted(300));
      expect(await more()).toBe(2 * one - 200);
      await entries().change('ann', store, second, noted(500));
      expect(await more()).toBe(2 * one);
      await entries().change('ann', store, second, {});
      expect(await more()).toBe(one);
      await filesOf().remove('ann', first);
      expect(await more()).toBe(0);
      await entries().change('ann', store, second, noted(500));
      await new VectorStoresService(test.database, entries()).remove('ann', store);
      expect(await more()).toBe(0);
    });

    it('is refused where the account keeps as much as it may, until something goes', async () => {
      const fileId = await add('ann', 'a1');
      const store = await newStore('ann');
      await test.database.query({
        text: `update file_usage set index_bytes = 16 * 1024 * 1024 - 800 where account_id = 'ann'`,
      });
      const small = entries({ FILES_ACCOUNT_MB: '1' });
      const files = [{ ...entryOf(fileId, 800), attributes: noted(500) }];
      await small.add({ accountId: 'ann', vectorStoreId: store, files });
      const full: unknown = expect.objectContaining({ code: 'conflict', param: 'attributes' });
      await expect(small.change('ann', store, fileId, noted(1_000))).rejects.toEqual(full);
      const other = await newStore('ann');
      await expect(small.add({ accountId: 'ann', vectorStoreId: other, files })).rejects.toEqual(full);
      await small.add({ accountId: 'ann', vectorStoreId: other, files: [entryOf(fileId, 800)] });
      await small.change('ann', store, fileId, {});
      await small.change('ann', other, fileId, noted(500));
    });
  });
});
