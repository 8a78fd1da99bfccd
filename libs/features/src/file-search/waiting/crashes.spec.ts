import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { createMediaStore, type MediaStore, MediaStoreConfig } from '#media';
import { Database, DatabaseConfig, loadConfig, type Statement } from '#platform';
import { type Failpoint, FILE_CRASH_POINTS, noFailpoints, readProcessConfig } from '#runtime';
import { createPgvectorDatabase, createTestDatabase, startS3Server, type TestDatabase, untilBlocked } from '#testing';
import { PriceBook } from '../../billing/prices/price-book.js';
import { ExpiredUploads } from '../expired-uploads.js';
import { FileIndexer } from '../file-indexer.js';
import { FilePreparer, FULL_BOUNDS } from '../file-preparer.js';
import { FilesService } from '../files.service.js';
import { VectorStoreFilesService } from '../vector-store-files.service.js';
import { VectorStoresService } from '../vector-stores.service.js';
import { PassageEmbedder } from '../vectors/passage-embedder.js';
import { PassageVectors, type TextEmbedder } from '../vectors/passage-vectors.js';

const TEXT = 'The lighthouse of Vesterholm was lit for the first time in 1871.';
const OWNER = { accountId: 'acct', apiKeyId: 'key' };
/** Other than files have by themselves, so that each file has two indexes. */
const CHUNKING = { chunkTokens: 200, overlapTokens: 100 };

/** Where bytes and vectors are. */
interface Place {
  readonly test: TestDatabase;
  readonly store: MediaStore;
  /** The names of the stored bytes of uploads. */
  stored(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

async function inFolder(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'files-'));
  const options = { dataDirectory: folder, publicBaseUrl: () => 'http://127.0.0.1' };
  const store = await createMediaStore(new MediaStoreConfig(), options);
  const test = await createTestDatabase();
  const stored = async (): Promise<readonly string[]> =>
    (await readdir(join(folder, 'media'), { recursive: true })).filter((name) => name.startsWith('uploads/'));
  const remove = async (): Promise<void> => {
    await store.close();
    await test.remove();
    await rm(folder, { recursive: true, force: true });
  };
  return { test, store, stored, remove };
}

async function inBucket(): Promise<Place> {
  const [s3, test] = await Promise.all([startS3Server(), createPgvectorDatabase()]);
  const { endpoint, bucket, accessKeyId, secretAccessKey } = s3;
  const config = Object.assign(new MediaStoreConfig(), {
    MEDIA_S3_ENDPOINT: endpoint,
    MEDIA_S3_BUCKET: bucket,
    MEDIA_S3_ACCESS_KEY_ID: accessKeyId,
    MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey,
  });
  const store = await createMediaStore(config, { dataDirectory: '/nowhere', publicBaseUrl: 'http://gateway.invalid' });
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
  const stored = async (): Promise<readonly string[]> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'uploads/' }));
    return Contents.map(({ Key = '' }) => Key);
  };
  const remove = async (): Promise<void> => {
    client.destroy();
    await store.close();
    await Promise.all([test.remove(), s3.close()]);
  };
  return { test, store, stored, remove };
}

/** A process that dies at a place: from then on it sends nothing to its database, which rolls back what was open. */
class DyingDatabase extends Database {
  isDead = false;

  override query: Database['query'] = (statement: Statement) => {
    if (this.isDead) return Promise.reject(new Error('died'));
    // All clients of one server in these tests share a session, in which a name can be prepared once.
    const { name: _name, ...unnamed } = statement;
    return super.query(unnamed);
  };

  override transaction: Database['transaction'] = (work) => {
    if (this.isDead) return Promise.reject(new Error('died'));
    return super.transaction(work);
  };

  /** Ends it. @throws Error always. */
  die(): never {
    this.isDead = true;
    throw new Error('died');
  }

  readonly dieAt = (place: string) => ({
    reach: (point: Failpoint): void => {
      if (point === place) this.die();
    },
  });
}

const WHILE_EMBEDDING = 'while-vectors-are-made';
const POINTS = [...FILE_CRASH_POINTS, WHILE_EMBEDDING] as const;

describe.each([
  ['a folder, and vectors that are bytes', inFolder],
  ['a bucket (S3), and vectors in pgvector', inBucket],
] as const)('A process that dies with a file in %s', (_, open) => {
  let place: Place;
  let test: TestDatabase;
  let store: MediaStore;
  const preparer = new FilePreparer(FULL_BOUNDS);
  const preparers = { quick: preparer, slow: preparer };
  const config = readProcessConfig({});
  beforeAll(async () => {
    place = await open();
    ({ test, store } = place);
    await test.database.query({ text: `insert into account (id, name) values ('acct', 'acct')` });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'key', 'sk', '\\x00')`,
    });
  });
  afterAll(async () => {
    await preparer.close();
    await place.remove();
  });

  const count = async (text: string): Promise<number> =>
    (await test.database.query<{ count: number }>({ text: `select count(*)::integer as count from ${text}` })).rows[0]
      ?.count ?? -1;
  const filesOf = (database: Database, reach: { reach(point: Failpoint): void } = noFailpoints): FilesService =>
    new FilesService(database, reach, { config, store }, new PriceBook(database));

  /** @param onAsked what happens when vectors are asked for. */
  async function embed(database: Database, onAsked: () => void = () => undefined): Promise<void> {
    const embedder: TextEmbedder = {
      model: 'a-model',
      embed: async ({ texts }) => {
        onAsked();
        return texts.map(() => Float32Array.of(1, 0));
      },
    };
    const vectors = new PassageEmbedder(database, new PassageVectors(database), embedder, { config });
    while (await vectors.embedNext());
  }

  /** Uploads a file, puts it into a vector store, indexes and deletes it, as far as it gets. */
  async function live(database: DyingDatabase, place: (typeof POINTS)[number]): Promise<void> {
    const reach = database.dieAt(place);
    const files = filesOf(database, reach);
    const { id, storeKey } = await files.begin(OWNER);
    const put = { contentType: 'text/plain', maxBytes: 1_000 };
    const { bytes, sha256 } = await store.put(storeKey, Readable.from([Buffer.from(TEXT)]), put);
    const upload = { filename: 'a.txt', purpose: 'assistants', contentType: 'text/plain', expiresAfterSeconds: null };
    await files.keep(OWNER.accountId, id, { ...upload, bytes, sha256 });
    const stores = new VectorStoresService(
      database,
      new VectorStoreFilesService(database, { config: readProcessConfig({}) }),
    );
    const entry = { fileId: id, param: 'file_ids[0]', attributes: {}, chunking: CHUNKING };
    await stores.create(OWNER.accountId, { expiresAfterDays: 1 }, [entry]);
    const indexer = new FileIndexer(database, store, reach, preparers);
    while (await indexer.indexNext('quick'));
    await embed(database, () => place === WHILE_EMBEDDING && database.die());
    await files.remove(OWNER.accountId, id);
    await new ExpiredUploads(database, store, reach).remove(10);
  }

  async function expectWhole(): Promise<void> {
    expect(
      await count(`file_passage p where not exists (
      select from file_index i where i.id = p.index_id and (i.state = 'completed' or i.file_id is null))`),
    ).toBe(0);
    expect(
      await count(`file_index i where i.state = 'completed' and not exists (
      select from file_passage p where p.index_id = i.id)`),
    ).toBe(0);
    expect(
      await count(`file_passage p join file_index i on i.id = p.index_id where i.embedding_model is not null
      and not exists (select from passage_vector v where v.index_id = p.index_id and v.nth = p.nth)`),
    ).toBe(0);
    expect(
      await count(`file_usage u where files <> (select count(*) from uploaded_file where state = 'ready')
      or bytes <> (select coalesce(sum(bytes), 0) from uploaded_file where state = 'ready')
      or index_bytes <> (select coalesce(sum(index_bytes + vector_bytes), 0) from file_index)`),
    ).toBe(0);
  }

  /** Others take over when the leases of the dead end. */
  async function finish(): Promise<void> {
    await test.database.query({ text: 'update file_index set due_at = now(), vector_due_at = now()' });
    await test.database.query({ text: `update uploaded_file set expires_at = now() where state = 'uploading'` });
    const indexer = new FileIndexer(test.database, store, noFailpoints, preparers);
    while (await indexer.indexNext('quick'));
    expect(await count(`file_index where state in ('waiting', 'working')`)).toBe(0);
    await embed(test.database);
  }

  const maintain = (): Promise<number> => new ExpiredUploads(test.database, store, noFailpoints).remove(10);

  async function expectNothing(): Promise<void> {
    const tables = ['uploaded_file', 'file_index', 'file_passage', 'file_term', 'passage_vector', 'vector_store_file'];
    for (const table of tables) expect([table, await count(table)]).toEqual([table, 0]);
    expect(await count('file_usage where files <> 0 or bytes <> 0 or index_bytes <> 0')).toBe(0);
    expect(await place.stored()).toEqual([]);
  }

  it.each(POINTS)(
    'leaves nothing half visible; others finish it, and its deletion removes all of it: %s',
    async (at) => {
      const dying = new DyingDatabase(test.url, loadConfig(DatabaseConfig, test.environment));
      await live(dying, at).catch(() => undefined);
      expect(dying.isDead).toBe(true);
      await dying.close();
      await expectWhole();

      await finish();
      await expectWhole();
      const query = { limit: 10, order: 'asc', after: undefined, purpose: undefined } as const;
      const files = filesOf(test.database);
      for (const { id } of (await files.list(OWNER.accountId, query)).items) {
        expect([at, await count('passage_vector')]).toEqual([at, await count('file_passage')]);
        await files.remove(OWNER.accountId, id);
      }
      await maintain();
      await expectNothing();
    },
  );

  it.each(POINTS)('leaves what its end in time removes, together with its vector store: %s', async (at) => {
    const dying = new DyingDatabase(test.url, loadConfig(DatabaseConfig, test.environment));
    await live(dying, at).catch(() => undefined);
    await dying.close();
    // No other finishes it first.
    await test.database.query({ text: 'update uploaded_file set expires_at = now()' });
    await test.database.query({ text: `update vector_store set expires_at = now() - interval '31 days'` });
    await maintain();
    await expectNothing();
    expect(await count('vector_store')).toBe(0);
  });
});

describe('A file that is deleted while it is put into a vector store', () => {
  let place: Place;
  beforeAll(async () => {
    place = await inFolder();
    await place.test.database.query({ text: `insert into account (id, name) values ('acct', 'acct')` });
    await place.test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'key', 'sk', '\\x00')`,
    });
  });
  afterAll(() => place.remove());

  it('is in no vector store afterwards, and is removed', async () => {
    const { database } = place.test;
    const { store } = place;
    const files = new FilesService(
      database,
      noFailpoints,
      { config: readProcessConfig({}), store },
      new PriceBook(database),
    );
    const { id, storeKey } = await files.begin(OWNER);
    const put = { contentType: 'text/plain', maxBytes: 1_000 };
    const { bytes, sha256 } = await place.store.put(storeKey, Readable.from([Buffer.from(TEXT)]), put);
    const upload = { filename: 'a.txt', purpose: 'assistants', contentType: 'text/plain', expiresAfterSeconds: null };
    await files.keep(OWNER.accountId, id, { ...upload, bytes, sha256 });
    const entries = new VectorStoreFilesService(database, { config: readProcessConfig({}) });
    const stores = new VectorStoresService(database, entries);
    const { id: vectorStoreId } = await stores.create(OWNER.accountId, {}, []);
    let removed: Promise<void> | undefined;
    await database.transaction(async (transaction) => {
      const entry = { fileId: id, param: 'file_id', attributes: {}, chunking: CHUNKING };
      const { accountId } = OWNER;
      await entries.addAll(transaction, { accountId, vectorStoreId, files: [entry], batchId: null });
      removed = files.remove(accountId, id);
      await untilBlocked(database);
    });
    await removed;
    const count = async (table: string): Promise<unknown> =>
      (await database.query({ text: `select count(*)::integer as count from ${table}` })).rows[0];
    expect(await count('vector_store_file')).toEqual({ count: 0 });
    await new ExpiredUploads(database, place.store, noFailpoints).remove(10);
    expect(await count('uploaded_file')).toEqual({ count: 0 });
    expect(await count('file_index')).toEqual({ count: 0 });
    expect(await place.stored()).toEqual([]);
  });
});
