import type { StatementRunner } from '#platform';
import { readProcessConfig } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { attributesOf, searchScope } from './search-scope.js';
import { VectorStoreFilesService } from './vector-store-files.service.js';

const FILES = 1_200;
const STORES = 3;

describe('What a search looks through', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    const run = (text: string, ...values: unknown[]) => test.database.query({ text, values });
    await run(`insert into account (id, name) values ('ann', 'ann')`);
    await run(`insert into api_key (id, account_id, name, prefix, key_hash) values ('ann', 'ann', 'key', 'sk', 'ann')`);
    await run(`insert into file_usage (account_id) values ('ann') on conflict do nothing`);
    await run(
      `insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, bytes, state, store_key)
      select 'file_' || lpad(n::text, 5, '0'), 'ann', 'ann', 'a.txt', 'assistants', 'text/plain', 1, 'ready', n::text
      from generate_series(1, $1::integer) as n`,
      FILES,
    );
    await run(`insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, state, language)
      select id, 'ann', 800, 400, 'completed', 'english' from uploaded_file`);
    await run(
      `insert into vector_store (id, account_id) select 'vs_' || n, 'ann' from generate_series(1, $1::integer) as n`,
      STORES,
    );
    await run(`insert into vector_store_file (vector_store_id, file_id, index_id, attributes)
      select s.id, i.file_id, i.id, jsonb_build_object('of', s.id, 'nth', right(i.file_id, 5)::integer)
      from vector_store s, file_index i`);
  }, 120_000);
  afterAll(() => test.remove());

  const stores = Array.from({ length: STORES }, (_, nth) => `vs_${nth + 1}`);

  it('is read in parts of bounded length, whatever stores hold, and each index once', async () => {
    let mostRows = 0;
    const watched: StatementRunner = {
      query: async (statement) => {
        const result = await test.database.query(statement);
        mostRows = Math.max(mostRows, result.rows.length);
        return result as never;
      },
    };
    const found = await searchScope(watched, 'ann', stores, undefined);
    expect(new Set(found.map(({ id }) => id)).size).toBe(FILES);
    expect(found).toHaveLength(FILES);
    expect(mostRows).toBeLessThanOrEqual(500);
  });

  it('has the attributes of the first store in which a file passes the filter', async () => {
    const filter = {
      type: 'and' as const,
      filters: [
        { type: 'in' as const, key: 'of', value: new Set(['vs_2', 'vs_3']) },
        { type: 'gt' as const, key: 'nth', value: FILES - 2 },
      ],
    };
    const found = await searchScope(test.database, 'ann', stores, filter);
    expect(found.map(({ fileId, storeId }) => [fileId, storeId])).toEqual([
      ['file_01199', 'vs_2'],
      ['file_01200', 'vs_2'],
    ]);
    const attributes = await attributesOf(test.database, found);
    expect([...attributes.values()]).toEqual([
      { of: 'vs_2', nth: 1_199 },
      { of: 'vs_2', nth: 1_200 },
    ]);
  });

  it('grows no further than an account may have files in its stores', async () => {
    await test.database.query({
      text: `insert into vector_store (id, account_id) select 'vs_more_' || n, 'ann' from generate_series(1, 90) as n`,
      values: [],
    });
    const fill = (like: string) =>
      test.database.query({
        text: `insert into vector_store_file (vector_store_id, file_id, index_id)
          select s.id, i.file_id, i.id from vector_store s, file_index i where s.id like $1 on conflict do nothing`,
        values: [like],
      });
    await fill('vs_more_1%');
    const chunking = { chunkTokens: 800, overlapTokens: 400 };
    const add = (vectorStoreId: string) =>
      new VectorStoreFilesService(test.database, { config: readProcessConfig({}) }).add({
        accountId: 'ann',
        vectorStoreId,
        files: [{ fileId: 'file_00001', param: 'file_id', attributes: {}, chunking }],
      });
    await add('vs_more_80');
    await fill('vs_more_%');
    const refusal = { code: 'conflict', message: expect.stringContaining('100000 files together') };
    await expect(add('vs_more_81')).rejects.toMatchObject(refusal);
  });
});
