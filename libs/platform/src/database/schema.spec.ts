import { readFileSync } from 'node:fs';
import { createTestDatabase, type TestDatabase } from '#testing';
import { schemaDifferences } from './testing/schema-differences.js';

const PATH = 'prisma/schema.prisma';

describe('prisma/schema.prisma', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  const differences = (): Promise<string> => schemaDifferences(test.url, PATH, readFileSync(PATH, 'utf8'));

  it('names every table, column, type, default, index and foreign key of the migrated database', async () => {
    expect(await differences()).toBe('');
  });

  it.each([
    ['a table', 'create table stray (id text primary key)', 'DROP TABLE "stray"'],
    ['a column', 'alter table price add column stray text', 'DROP COLUMN "stray"'],
    ['a type', 'alter table worker alter column pid type bigint', 'ALTER COLUMN "pid" SET DATA TYPE INTEGER'],
    ['whether a column may be null', 'alter table worker alter column pid drop not null', '"pid" SET NOT NULL'],
    ['a default', 'alter table account alter column priority set default 1', '"priority" SET DEFAULT 0'],
    ['an index', 'drop index worker_seen', 'CREATE INDEX "worker_seen"'],
    ['a foreign key', 'alter table task_event drop constraint task_event_task_id_fkey', 'ADD CONSTRAINT'],
  ])('is compared in %s', async (_what, change, difference) => {
    await test.database.query({ text: change });
    expect(await differences()).toContain(difference);
  });
});
