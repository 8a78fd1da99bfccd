import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createMediaStore, type MediaStore, MediaStoreConfig } from '#media';
import { noFailpoints, readProcessConfig } from '#runtime';
import { createTestDatabase, endlessPdfSample, type TestDatabase } from '#testing';
import { PriceBook } from '../billing/prices/price-book.js';
import { FileIndexer } from './file-indexer.js';
import { FilePreparer, FULL_BOUNDS, type PreparerBounds } from './file-preparer.js';
import { FilesService } from './files.service.js';

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
    await test.database.query({ text: 'truncate uploaded_file, file_index, file_usage cascade' });
  });
  afterAll(async () => {
    await store.close();
    await test.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const reader = (quick: Partial<PreparerBounds> = {}): FileIndexer => {
    const preparers = {
      quick: new FilePreparer({ ...FULL_BOUNDS, ...quick }),
      slow: new FilePreparer(FULL_BOUNDS),
    };
    return (indexer = new FileIndexer(test.database, store, noFailpoints, preparers));
  };

  async function add(accountId: string, filename: string, content: Buffer = WORDS): Promise<void> {
    const files = new FilesService(
      test.database,
      noFailpoints,
      { config: readProcessConfig({}), store },
      new PriceBook(test.database),
    );
    const { id, storeKey } = await files.begin({ accountId, apiKeyId: accountId });
    const kept = await store.put(storeKey, Readable.from([content]), { contentType: 'text/plain', maxBytes: 10_000 });
    const upload = { filename, purpose: 'assistants', contentType: 'text/plain', expiresAfterSeconds: null };
    await files.keep(accountId, id, { ...upload, bytes: kept.bytes, sha256: kept.sha256 });
  }

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
});
