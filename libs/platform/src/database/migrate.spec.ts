import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createTestDatabase, eventually, type TestDatabase } from '#testing';
import { migrate, pendingMigrations } from './migrate.js';
import { MIGRATIONS_FOLDER, migrationNames } from '../package-files.js';

describe('migrate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-migrations-'));
  let test: TestDatabase;

  const addMigration = (name: string, script: string): void => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'migration.sql'), script);
  };

  beforeAll(async () => {
    cpSync(MIGRATIONS_FOLDER, folder, { recursive: true });
    test = await createTestDatabase();
  });
  afterAll(async () => {
    await test.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has nothing to do on a database of this version', async () => {
    expect(await pendingMigrations(test.database)).toEqual([]);
    expect(await migrate(test.url)).toEqual([]);
  });

  it('applies a script with a function body, once, however many replicas start together', async () => {
    addMigration(
      '29990101000000_function',
      'CREATE FUNCTION one() RETURNS int AS $$ BEGIN PERFORM 0; RETURN 1; END; $$ LANGUAGE plpgsql;',
    );
    expect(await pendingMigrations(test.database, folder)).toEqual(['29990101000000_function']);
    const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(test.url, folder)));
    expect(applied.flat()).toEqual(['29990101000000_function']);
    expect(await pendingMigrations(test.database, folder)).toEqual([]);
    const { rows } = await test.database.query({ text: 'SELECT one()' });
    expect(rows).toEqual([{ one: 1 }]);
  });

  it('continues after a process that was killed in the middle of a migration', async () => {
    addMigration(
      '29990101000001_slow',
      'CREATE TABLE half_done (id int); SELECT pg_sleep(CASE WHEN EXISTS (SELECT FROM killed) THEN 0 ELSE 60 END);',
    );
    await test.database.query({ text: 'CREATE TABLE killed (id int)' });
    const killed = migrate(test.url, folder).then(
      () => 'migrated',
      () => 'killed',
    );
    const endOfSleeper = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%pg_sleep%'`;
    await eventually(async () => (await test.database.query({ text: endOfSleeper })).rows.length > 0);
    expect(await killed).toBe('killed');
    // What a killed process cannot do any more, and this one could: say that its migration failed.
    await test.database.query({
      text: "UPDATE _prisma_migrations SET logs = NULL WHERE migration_name = '29990101000001_slow'",
    });
    await test.database.query({ text: 'INSERT INTO killed VALUES (1)' });
    expect(await migrate(test.url, folder)).toEqual(['29990101000001_slow']);
    expect(await pendingMigrations(test.database, folder)).toEqual([]);
  });

  it('makes an index while others write, and again what a killed process left of it', async () => {
    await test.database.query({ text: 'CREATE TABLE large AS SELECT 1 AS id' });
    const writing = new Client({ connectionString: test.url });
    await writing.connect();
    await writing.query('BEGIN');
    await writing.query('INSERT INTO large VALUES (2)');
    addMigration(
      '29990101000002_index',
      `-- Of a large table; it is made beside what is written.
      DROP INDEX CONCURRENTLY IF EXISTS large_by_id;
      CREATE INDEX CONCURRENTLY large_by_id ON large (id);`,
    );
    const builders = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
      AND query LIKE '%INDEX CONCURRENTLY%' AND pid <> pg_backend_pid()`;
    const building = async (): Promise<number | undefined> =>
      (await test.database.query<{ pid: number }>({ text: builders })).rows[0]?.pid;
    const killed = migrate(test.url, folder).then(
      () => 'migrated',
      () => 'killed',
    );
    await eventually(async () => (await building()) !== undefined);
    await test.database.query({ text: 'INSERT INTO large VALUES (3)' });
    await test.database.query({ text: 'SELECT pg_terminate_backend($1)', values: [await building()] });
    expect(await killed).toBe('killed');
    await test.database.query({
      text: "UPDATE _prisma_migrations SET logs = NULL WHERE migration_name = '29990101000002_index'",
    });
    const replicas = [migrate(test.url, folder), migrate(test.url, folder), migrate(test.url, folder)];
    await eventually(async () => (await building()) !== undefined);
    await writing.query('COMMIT');
    await writing.end();
    expect((await Promise.all(replicas)).flat()).toEqual(['29990101000002_index']);
    const { rows } = await test.database.query({
      text: "SELECT indisvalid FROM pg_index WHERE indexrelid = 'large_by_id'::regclass",
    });
    expect(rows).toEqual([{ indisvalid: true }]);
  });

  it('records what it applied where the Prisma command line looks for it', async () => {
    const { rows } = await test.database.query({
      text: 'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY migration_name',
    });
    expect(rows.map((row) => row['migration_name'] as string)).toEqual(migrationNames(folder));
  });

  it('quotes the database when a script fails, and refuses to continue after it', async () => {
    addMigration('29990102000000_broken', 'CREATE TABLE broken (id no_such_type);');
    await expect(migrate(test.url, folder)).rejects.toThrow('type "no_such_type" does not exist');
    await expect(migrate(test.url, folder)).rejects.toThrow(/could not be migrated: .*29990102000000_broken/s);
  });
});
