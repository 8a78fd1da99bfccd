import { createTestDatabase, eventually, type TestDatabase } from '#testing';
import { isUnfitError } from './connection-errors.js';
import { DatabaseConfig } from './database.config.js';
import { Database } from './database.js';

const HEALED_WITHIN_MS = 45_000;
const POOL_SIZE = 3;

/** Sessions that began while it is on only read forever, as those on a standby do that the name of the server led to. */
const onlyReads = (value: 'on' | 'off') => ({
  text: `do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}', current_database()); end $$`,
});

describe('A read-only Postgres, as after a failover to a standby', () => {
  let test: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({ text: 'create table example (id bigint generated always as identity)' });
    await test.database.query(onlyReads('on'));
    database = new Database(test.url, Object.assign(new DatabaseConfig(), { DATABASE_POOL_SIZE: POOL_SIZE }));
    const slow = { text: 'select pg_sleep(0.1)' };
    await Promise.all(Array.from({ length: POOL_SIZE }, () => database.query(slow)));
  });
  afterAll(async () => {
    await database.close();
    await test.remove();
  });

  const insert = () => database.query({ text: 'insert into example default values' });

  it('is distinguished from a mistake, makes the process unready, and is left for the server that writes', async () => {
    const refused: unknown = await insert().catch((error: unknown) => error);
    expect(isUnfitError(refused)).toBe(true);
    expect(await database.unfitness()).toBe('the database only reads');
    await test.database.query(onlyReads('off'));
    let inARow = 0;
    await eventually(
      async () => {
        const inserted = await Promise.allSettled(Array.from({ length: POOL_SIZE }, insert));
        inARow = inserted.every(({ status }) => status === 'fulfilled') ? inARow + POOL_SIZE : 0;
        return inARow === 2 * POOL_SIZE;
      },
      { limitMs: HEALED_WITHIN_MS, pauseMs: 50 },
    );
    expect(await database.unfitness()).toBeNull();
  });
});
