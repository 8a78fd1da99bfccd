import { createTestDatabase, type TestDatabase } from '#testing';
import { FILE_SOURCES } from './stored-files.js';

describe('The columns that name files of the store', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  const unlisted = async (): Promise<string[]> => {
    const { rows } = await test.database.query<{ place: string }>({
      text: `select c.relname || '.' || a.attname as place from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and not a.attisdropped and a.attname ~ '(store|storage|object|media|file|blob|bucket)_?(key|path)'`,
    });
    const listed = FILE_SOURCES.map(({ table, column }) => `${table}.${column}`);
    return rows.map(({ place }) => place).filter((place) => !listed.includes(place));
  };

  it('are all saved by a backup', async () => {
    expect(await unlisted()).toEqual([]);
  });

  it('are found in a table that a later version adds', async () => {
    await test.database.query({ text: 'create table stray (id text primary key, preview_store_key text)' });
    expect(await unlisted()).toEqual(['stray.preview_store_key']);
  });
});
