import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createMediaStore, type MediaStore, MediaStoreConfig } from '#media';
import { Database, type Statement } from '#platform';
import { type Failpoint, FILE_CRASH_POINTS, noFailpoints, readProcessConfig } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { PriceBook } from '../billing/prices/price-book.js';
import { ExpiredUploads } from './expired-uploads.js';
import { FileIndexer } from './file-indexer.js';
import { FilePreparer, FULL_BOUNDS } from './file-preparer.js';
import { FilesService } from './files.service.js';

const TEXT = 'The lighthouse of Vesterholm was lit for the first time in 1871.';
const OWNER = { accountId: 'acct', apiKeyId: 'key' };

/** A process that dies at a place: from then on it sends nothing to its database, which rolls back what was open. */
class DyingDatabase extends Database {
  isDead = false;

  override query: Database['query'] = (statement: Statement) => {
    if (this.isDead) return Promise.reject(new Error('died'));
    return super.query(statement);
  };

  override transaction: Database['transaction'] = (work) => {
    if (this.isDead) return Promise.reject(new Error('died'));
    return super.transaction(work);
  };

  readonly dieAt = (place: Failpoint) => ({
    reach: (point: Failpoint): void => {
      if (point !== place) return;
      this.isDead = true;
      throw new Error('died');
    },
  });
}

describe('A process that dies while indexing a file', () => {
  let test: TestDatabase;
  let store: MediaStore;
  let folder: string;
  const preparer = new FilePreparer(FULL_BOUNDS);
  const preparers = { quick: preparer, slow: preparer };
  const config = readProcessConfig({});
  beforeAll(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'files-'));
    const options = { dataDirectory: folder, publicBaseUrl: () => 'http://127.0.0.1' };
    store = await createMediaStore(new MediaStoreConfig(), options);
    await test.database.query({ text: `insert into account (id, name) values ('acct', 'acct')` });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'key', 'sk', '\\x00')`,
    });
  });
  afterAll(async () => {
    await preparer.close();
    await store.close();
    await test.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const count = async (text: string): Promise<number> =>
    (await test.database.query<{ count: number }>({ text: `select count(*)::integer as count from ${text}` })).rows[0]
      ?.count ?? -1;

  /** Uploads, indexes and deletes a file, as far as it gets. */
  async function live(database: Database, reach: { reach(point: Failpoint): void }): Promise<void> {
    const files = new FilesService(database, reach, { config }, new PriceBook(database));
    const { id, storeKey } = await files.begin(OWNER);
    const put = { contentType: 'text/plain', maxBytes: 1_000 };
    const { bytes, sha256 } = await store.put(storeKey, Readable.from([Buffer.from(TEXT)]), put);
    const upload = { filename: 'a.txt', purpose: 'assistants', contentType: 'text/plain', expiresAfterSeconds: null };
    await files.keep(OWNER.accountId, id, { ...upload, bytes, sha256 });
    await new FileIndexer(database, store, reach, preparers).indexNext('quick');
    await files.remove(OWNER.accountId, id);
    await new ExpiredUploads(database, store, reach).remove(10);
  }

  it.each(FILE_CRASH_POINTS)('leaves nothing half visible, and others finish the file: %s', async (place) => {
    const dying = new DyingDatabase(test.url);
    await live(dying, dying.dieAt(place)).catch(() => undefined);
    expect(dying.isDead).toBe(true);
    await dying.close();

    // What is visible is whole.
    expect(
      await count(`file_passage p where not exists (
      select from file_index i where i.id = p.index_id and i.state = 'completed')`),
    ).toBe(0);
    expect(
      await count(`file_index i where i.state = 'completed' and not exists (
      select from file_passage p where p.index_id = i.id)`),
    ).toBe(0);
    expect(await count(`file_usage where files <> (select count(*) from uploaded_file where state = 'ready')`)).toBe(0);

    // Others take over when its lease ends.
    await test.database.query({ text: 'update file_index set due_at = now()' });
    await test.database.query({ text: `update uploaded_file set expires_at = now() where state = 'uploading'` });
    const indexer = new FileIndexer(test.database, store, noFailpoints, preparers);
    while (await indexer.indexNext('quick'));
    expect(await count(`file_index where state in ('waiting', 'working')`)).toBe(0);
    const files = new FilesService(test.database, noFailpoints, { config }, new PriceBook(test.database));
    const query = { limit: 10, order: 'asc', after: undefined, purpose: undefined } as const;
    for (const { id } of (await files.list(OWNER.accountId, query)).items) await files.remove(OWNER.accountId, id);
    await new ExpiredUploads(test.database, store, noFailpoints).remove(10);
    for (const table of ['uploaded_file', 'file_index', 'file_passage', 'file_term'])
      expect(await count(table)).toBe(0);
    expect(await readdir(join(folder, 'media'), { recursive: true })).not.toContainEqual(
      expect.stringMatching(/^uploads\/file_/),
    );
  });
});
