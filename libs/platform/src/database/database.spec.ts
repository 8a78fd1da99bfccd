import { createHash } from 'node:crypto';
import { createTestDatabase, eventually, type TestDatabase, untilBlocked } from '#testing';
import { LongText } from './paced-sends.js';
import { isConnectionError, retryOnConnectionError } from './connection-errors.js';

describe('Database', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({ text: 'CREATE TABLE example (id bigint PRIMARY KEY, at timestamptz)' });
  });
  afterAll(() => test.remove());

  const count = async (): Promise<unknown> =>
    (await test.database.query<{ count: bigint }>({ text: 'SELECT count(*) FROM example' })).rows[0]?.count;
  const endConnections = (): Promise<unknown> =>
    test.database.query({
      text: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    });

  it('reads int8 as bigint, timestamptz as Date and numeric as text', async () => {
    const { rows } = await test.database.query({
      name: 'types',
      text: "SELECT $1::int8 AS big, '{1,NULL}'::int8[] AS bigs, '2026-01-02T03:04:05Z'::timestamptz AS at, 0.1::numeric AS price",
      values: [9_007_199_254_740_993n],
    });
    expect(rows).toEqual([
      { big: 9_007_199_254_740_993n, bigs: [1n, null], at: new Date('2026-01-02T03:04:05Z'), price: '0.1' },
    ]);
  });

  it('sends long values in pieces, in order with short ones', async () => {
    const pieces = Array.from({ length: 40 }, (_, index) => Buffer.from(`${index} é😀 `.repeat(20_000)));
    const text = Buffer.concat(pieces).toString();
    const statement = {
      name: 'long_values',
      text: 'SELECT $1::int AS first, $2::text = $3::text AS same, md5($2::text) AS sum, $4::text AS none, $5::text AS last',
    };
    const values = (last: string) => [7, new LongText(pieces), Buffer.from(text), null, last];
    const sum = createHash('md5').update(text).digest('hex');
    // On one connection, the second time with the plan that the server kept.
    await test.database.transaction(async (transaction) => {
      for (const last of ['one', 'two']) {
        const { rows } = await transaction.query({ ...statement, values: values(last) });
        expect(rows).toEqual([{ first: 7, same: true, sum, none: null, last }]);
      }
      expect((await transaction.query({ text: 'SELECT 1 AS one' })).rows).toEqual([{ one: 1 }]);
    });
  });

  it('fails for a long value that the server refuses, and for one whose connection ends under way', async () => {
    const long = new LongText(Array.from({ length: 64 }, () => Buffer.alloc(512 * 1024, 'x')));
    const store = (text: string) => test.database.query({ text, values: [long] });
    await expect(store('SELECT $1::text::jsonb')).rejects.toMatchObject({ code: '22P02' });
    const lost = store('SELECT $1::text, pg_sleep(30)');
    const isEnded = async (): Promise<boolean> => {
      const ended = await test.database.query({
        text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%pg_sleep(30)' AND pid <> pg_backend_pid()`,
      });
      return ended.rows.length > 0;
    };
    await Promise.all([expect(lost.catch(isConnectionError)).resolves.toBe(true), eventually(isEnded)]);
    expect(await test.database.unfitness()).toBeNull();
  });

  it('shares its connections with the models', async () => {
    const models = await test.database.models();
    await expect(models.account.count()).resolves.toBe(0);
    await expect(
      models.account.create({ data: { id: 'acc_1', name: 'Test', availableMicros: 5n } }),
    ).resolves.toMatchObject({ availableMicros: 5n });
  });

  it('keeps all of a transaction or nothing', async () => {
    await test.database.transaction((tx) => tx.query({ text: 'INSERT INTO example VALUES (1)' }));
    const failing = test.database.transaction(async (tx) => {
      await tx.query({ text: 'INSERT INTO example VALUES (2)' });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await count()).toBe(1n);
  });

  it('retries a statement that was rolled back to end a deadlock', async () => {
    await test.database.query({ text: 'INSERT INTO example VALUES (11), (12)' });
    const lock = (id: number) => ({ text: `SELECT FROM example WHERE id = ${id} FOR UPDATE` });
    const touchBoth = { text: 'UPDATE example SET at = now() WHERE id IN (11, 12)' };
    const touched = await test.database.transaction(async (tx) => {
      // The one that waits for less looks first, and is rolled back.
      await tx.query({ text: `set local deadlock_timeout = '1min'` });
      await tx.query(lock(12));
      const waiting = test.database.query(touchBoth);
      await untilBlocked(test.database);
      await tx.query(lock(11));
      return { waiting };
    });
    expect((await touched.waiting).rowCount).toBe(2);
    await test.database.query({ text: 'DELETE FROM example WHERE id > 10' });
  });

  it('survives the loss of a connection in the middle of a transaction', async () => {
    const lost = test.database.transaction(async (tx) => {
      await tx.query({ text: 'INSERT INTO example VALUES (3)' });
      await endConnections();
      await tx.query({ text: 'INSERT INTO example VALUES (4)' });
    });
    await expect(lost.catch(isConnectionError)).resolves.toBe(true);
    expect(await count()).toBe(1n);
    expect(await test.database.unfitness()).toBeNull();
  });
});

describe('retryOnConnectionError', () => {
  const connectionError = Object.assign(new Error('terminating connection'), { code: '57P01' });

  it('repeats the work until the server is back', async () => {
    let attempts = 0;
    const work = (): Promise<string> => {
      attempts += 1;
      return attempts < 3 ? Promise.reject(connectionError) : Promise.resolve('done');
    };
    await expect(retryOnConnectionError(work)).resolves.toBe('done');
    expect(attempts).toBe(3);
  });

  it('gives up after the limit with the last error', async () => {
    await expect(retryOnConnectionError(() => Promise.reject(connectionError), 100)).rejects.toBe(connectionError);
  });

  it('does not repeat an invalid statement', async () => {
    let attempts = 0;
    const work = (): Promise<never> => {
      attempts += 1;
      return Promise.reject(Object.assign(new Error('syntax error'), { code: '42601' }));
    };
    await expect(retryOnConnectionError(work)).rejects.toThrow('syntax error');
    expect(attempts).toBe(1);
  });
});
