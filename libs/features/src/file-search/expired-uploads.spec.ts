import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMediaStore, type MediaStore, MediaStoreConfig } from '#media';
import { noFailpoints, readProcessConfig } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { DEFAULT_CHUNKING } from './uploaded-file.js';
import { ExpiredUploads } from './expired-uploads.js';
import { VectorStoreFilesService } from './vector-store-files.service.js';
import { VectorStoresService } from './vector-stores.service.js';

/** Tables with what is made of a file. */
const PARTS = ['file_passage', 'file_term', 'passage_vector'];

/** Notes how many rows each transaction removed of each table. */
const NOTE_REMOVALS = [
  'create table removal (transaction xid8, name text, rows bigint)',
  `create function note_removal() returns trigger language plpgsql as $$ begin
    insert into removal select pg_current_xact_id(), tg_table_name, count(*) from gone; return null; end $$`,
  ...PARTS.map(
    (table) => `create trigger noted after delete on ${table} referencing old table as gone
      for each statement execute function note_removal()`,
  ),
];

describe('What was made of files that are gone', () => {
  let test: TestDatabase;
  let store: MediaStore;
  let folder: string;
  beforeAll(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'files-'));
    const options = { dataDirectory: folder, publicBaseUrl: () => 'http://127.0.0.1' };
    store = await createMediaStore(new MediaStoreConfig(), options);
    for (const account of ['ann', 'ben']) {
      await run(`insert into account (id, name) values ('${account}', '')`);
      await run(
        `insert into api_key (id, account_id, name, prefix, key_hash) values ('${account}', '${account}', '', 'sk', '${account}')`,
      );
    }
    for (const text of NOTE_REMOVALS) await run(text);
  });
  afterEach(() => run('truncate uploaded_file, file_index, removal, vector_store cascade'));
  afterAll(async () => {
    await store.close();
    await test.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (text: string): Promise<unknown> => test.database.query({ text, limit: 'long' });
  const count = async (of: string): Promise<number> =>
    (await test.database.query<{ count: number }>({ text: `select count(*)::integer as count from ${of}` })).rows[0]
      ?.count ?? -1;

  /** A file that was removed, cut in so many ways. */
  async function addRemoved(accountId: string, cuts: number, rows: number): Promise<void> {
    await run(`insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state, expires_at)
      values ('${accountId}', '${accountId}', '${accountId}', 'a', 'assistants', 'text/plain', 'uploads/${accountId}', 'deleted', now())`);
    await run(`insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, state)
      select '${accountId}', '${accountId}', n, 0, 'completed' from generate_series(1, ${cuts}) n`);
    const each = `from file_index i, generate_series(1, ${rows}) n where i.account_id = '${accountId}'`;
    await run(`insert into file_passage (index_id, nth, text, start_at, end_at) select i.id, n, 'text', 0, 1 ${each}`);
    await run(
      `insert into file_term (account_id, term, index_id, postings) select i.account_id, n::text, i.id, '' ${each}`,
    );
    await run(`insert into passage_vector (index_id, nth, embedding) select i.id, n, '' ${each}`);
  }

  const maintain = (limit: number): Promise<number> =>
    new ExpiredUploads(test.database, store, noFailpoints).remove(limit);

  it('is removed in transactions of at most 2,000 rows of a table, and the file before it', async () => {
    await addRemoved('ann', 3, 5_000);
    expect(await maintain(1)).toBe(1);
    expect(await count('uploaded_file')).toBe(0);
    expect(await count('file_passage')).toBe(13_000);
    while ((await maintain(4)) === 4);
    for (const table of [...PARTS, 'file_index']) expect([table, await count(table)]).toEqual([table, 0]);
    const { rows } = await test.database.query({
      text: `select max(rows)::integer as rows from (
        select sum(rows) as rows from removal group by transaction, name) as removed`,
    });
    expect(rows).toEqual([{ rows: 2_000 }]);
  });

  it('is removed in turns of the accounts, however much one of them leaves', async () => {
    await addRemoved('ann', 16, 3);
    await addRemoved('ben', 1, 3);
    await maintain(4);
    expect(await count(`file_index where account_id = 'ben'`)).toBe(0);
    expect(await count(`file_index where account_id = 'ann'`)).toBe(13);
  });

  it('goes after its entries, although the file was in many vector stores when it expired', async () => {
    await addRemoved('ann', 1, 3);
    await run(`update uploaded_file set state = 'ready'`);
    await run(`insert into vector_store (id, account_id) select 'vs' || n, 'ann' from generate_series(1, 900) n`);
    await run(`insert into vector_store_file (vector_store_id, file_id, index_id)
      select s.id, 'ann', i.id from vector_store s, file_index i`);
    await maintain(10);
    for (const table of ['vector_store_file', 'uploaded_file', 'file_index', 'file_passage'])
      expect([table, await count(table)]).toEqual([table, 0]);
  });

  async function fillStore(files: number): Promise<void> {
    await run(`insert into vector_store (id, account_id) values ('full', 'ann')`);
    await run(`insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state)
      select 'file' || n, 'ann', 'ann', 'a', 'batch', 'text/plain', '', 'ready' from generate_series(1, ${files}) n`);
    await run(`insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, state)
      select 'file' || n, 'ann', 800, 400, 'completed' from generate_series(1, ${files}) n`);
    await run(
      `insert into vector_store_file (vector_store_id, file_id, index_id) select 'full', file_id, id from file_index`,
    );
  }

  describe('when a vector store of thousands of files is deleted', () => {
    const stores = (): VectorStoresService =>
      new VectorStoresService(
        test.database,
        new VectorStoreFilesService(test.database, { config: readProcessConfig({}) }),
      );
    beforeEach(async () => {
      await fillStore(5_000);
      await run(`create function fail_late() returns trigger language plpgsql as $$ begin
        insert into removal select pg_current_xact_id(), 'vector_store_file', count(*) from gone;
        if (select count(*) from removal where name = 'vector_store_file')
          > (select sum(rows) from removal where name = 'most') then raise 'the database is away'; end if; return null; end $$`);
      await run(`create trigger fail_late after delete on vector_store_file referencing old table as gone
        for each statement execute function fail_late()`);
    });
    afterEach(() => run('drop function fail_late cascade'));
    const lets = (most: number): Promise<unknown> => run(`insert into removal select null, 'most', ${most}`);

    it('is removed with it in transactions of at most 2,000 files', async () => {
      await lets(100);
      await stores().remove('ann', 'full');
      for (const left of ['vector_store', 'vector_store_file', 'file_index where file_id is not null'])
        expect([left, await count(left)]).toEqual([left, 0]);
      const { rows } = await test.database.query<{ rows: number }>({
        text: `select rows::integer from removal where name = 'vector_store_file' and rows > 0 order by transaction`,
      });
      expect(rows.map((row) => row.rows)).toEqual([2_000, 2_000, 1_000]);
    });

    it('goes on where a stop ended it, and takes no files meanwhile', async () => {
      await lets(1);
      await expect(stores().remove('ann', 'full')).rejects.toThrow('the database is away');
      expect(await count('vector_store_file')).toBe(3_000);
      const files = [{ fileId: 'file1', chunking: DEFAULT_CHUNKING, attributes: {}, param: 'file_id' }];
      await expect(
        new VectorStoreFilesService(test.database, { config: readProcessConfig({}) }).add({
          accountId: 'ann',
          vectorStoreId: 'full',
          files,
        }),
      ).rejects.toMatchObject({ code: 'not_found' });
      await lets(100);
      for (let round = 0; round < 3; round += 1) await maintain(200);
      for (const left of ['vector_store', 'vector_store_file', 'file_index where file_id is not null'])
        expect([left, await count(left)]).toEqual([left, 0]);
    });
  });

  it('is found in turns through all indexes, of which a round looks at 2,000', async () => {
    await fillStore(4_500);
    await run(`delete from vector_store_file where file_id in ('file1', 'file4400')`);
    const maintenance = new ExpiredUploads(test.database, store, noFailpoints);
    const unused = async (): Promise<number> => count('file_index where file_id is not null');
    await maintenance.remove(1);
    expect(await unused()).toBe(4_499);
    await maintenance.remove(1);
    await maintenance.remove(1);
    expect(await unused()).toBe(4_498);
    await maintenance.remove(1);
    await run(`delete from vector_store_file where file_id = 'file2'`);
    for (let round = 0; round < 3; round += 1) await maintenance.remove(1);
    expect(await unused()).toBe(4_497);
  });

  it('of a vector store that is over goes with the store, thousands of files at a time', async () => {
    await run(
      `insert into vector_store (id, account_id, expires_at) values ('over', 'ann', now() - interval '31 days')`,
    );
    await addRemoved('ann', 5_000, 0);
    await run(`update uploaded_file set state = 'ready', expires_at = null`);
    await run(`insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state)
      select 'file' || n, 'ann', 'ann', 'a', 'batch', 'text/plain', '', 'ready' from generate_series(1, 5000) n`);
    await run(`update file_index set file_id = 'file' || chunk_tokens`);
    await run(
      `insert into vector_store_file (vector_store_id, file_id, index_id) select 'over', file_id, id from file_index`,
    );
    await maintain(200);
    expect(await count('vector_store_file')).toBe(3_000);
    expect(await count('vector_store')).toBe(1);
    await maintain(200);
    await maintain(200);
    expect(await count('vector_store_file')).toBe(0);
    expect(await count('vector_store')).toBe(0);
  });

  describe('of an account for which it fails', () => {
    afterEach(async () => {
      await run('drop function if exists fail_for_ann cascade');
      await run('truncate paused_work');
      await run('delete from file_usage');
    });
    /** Every removal of a row of `table` that holds `where` fails. */
    async function failFor(table: string, where: string): Promise<void> {
      await run(`create function fail_for_ann() returns trigger language plpgsql as $$ begin
        raise 'not this one'; end $$`);
      await run(`create trigger fails before delete or update on ${table} for each row when (${where})
        execute function fail_for_ann()`);
    }
    const paused = async (): Promise<unknown> =>
      (await test.database.query({ text: `select job, subject_id from paused_work` })).rows;

    it('keeps no other from having its expired files removed', async () => {
      for (const account of ['ann', 'ben']) {
        await addRemoved(account, 1, 3);
        await run(`insert into file_usage (account_id, files, bytes) values ('${account}', 1, 0)`);
      }
      await run(`update uploaded_file set state = 'ready'`);
      // It has more files than were counted.
      await run(`update file_usage set files = 0 where account_id = 'ann'`);
      await maintain(10);
      expect(await count(`uploaded_file where account_id = 'ben'`)).toBe(0);
      expect(await count(`uploaded_file where account_id = 'ann'`)).toBe(1);
      expect(await paused()).toEqual([{ job: 'file-removal', subject_id: 'ann' }]);
    });

    it('keeps no other from having what was made of its files removed', async () => {
      await addRemoved('ann', 2, 3);
      await addRemoved('ben', 2, 3);
      const { rows } = await test.database.query<{ id: string }>({
        text: `select id::text from file_index where account_id = 'ann' order by id limit 1`,
      });
      await failFor('file_passage', `old.index_id = ${rows[0]?.id}`);
      const maintenance = new ExpiredUploads(test.database, store, noFailpoints);
      for (let round = 0; round < 3; round += 1) await maintenance.remove(10);
      expect(await count(`file_index where account_id = 'ben'`)).toBe(0);
      expect(await paused()).toEqual([{ job: 'file-removal', subject_id: 'ann' }]);
    });

    it('keeps no other from having its expired vector stores emptied', async () => {
      for (const account of ['ann', 'ben']) {
        await addRemoved(account, 1, 1);
        await run(
          `insert into vector_store (id, account_id, expires_at) values ('vs-${account}', '${account}', now())`,
        );
      }
      await run(`update uploaded_file set state = 'ready', expires_at = null`);
      await run(`insert into vector_store_file (vector_store_id, file_id, index_id)
        select 'vs-' || account_id, file_id, id from file_index`);
      await failFor('vector_store_file', `old.vector_store_id = 'vs-ann'`);
      await maintain(10);
      expect(await count(`vector_store_file where vector_store_id = 'vs-ben'`)).toBe(0);
      expect(await paused()).toEqual([{ job: 'file-removal', subject_id: 'ann' }]);
    });

    it('keeps no other from having indexes removed that nothing finds', async () => {
      for (const account of ['ann', 'ben']) await addRemoved(account, 1, 1);
      await run(`update uploaded_file set state = 'ready', expires_at = null`);
      await failFor('file_index', `old.account_id = 'ann'`);
      await maintain(10);
      expect(await count(`file_index where account_id = 'ben'`)).toBe(0);
      expect(await paused()).toEqual([{ job: 'file-removal', subject_id: 'ann' }]);
    });
  });
});
