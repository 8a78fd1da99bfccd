import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '#testing';
import { migrate, pendingMigrations } from './migrate.js';
import { MIGRATIONS_FOLDER, migrationNames } from './migrations-folder.js';

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

  it('records what it applied where the Prisma command line looks for it', async () => {
    const { rows } = await test.database.query({
      text: 'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY migration_name',
    });
    expect(rows.map((row) => row['migration_name'] as string)).toEqual(migrationNames(folder));
  });

  it('quotes the database when a script fails, and refuses to go on after it', async () => {
    addMigration('29990102000000_broken', 'CREATE TABLE broken (id no_such_type);');
    await expect(migrate(test.url, folder)).rejects.toThrow('type "no_such_type" does not exist');
    await expect(migrate(test.url, folder)).rejects.toThrow(/could not be migrated: .*29990102000000_broken/s);
  });
});
