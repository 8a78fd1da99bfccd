import { createTestDatabase, type TestDatabase } from '#testing';
import { redact } from '../log/redact.js';
import { brokeConstraint, isConnectionError, isUnfitError } from './connection-errors.js';

describe('An error of Postgres', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({ text: `insert into account (id, name) values ('acct', 'Test')` });
  });
  afterAll(() => test.remove());

  const errorOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it.each([
    ['a check', 'account_held_positive', { id: 'other', name: 'x', heldMicros: -1n }],
    ['a key', 'account_pkey', { id: 'acct', name: 'x' }],
  ])('names the constraint, %s, through the models as through a statement', async (_kind, constraint, data) => {
    const models = await test.database.models();
    const text = 'insert into account (id, name, held_micros) values ($1, $2, $3)';
    const values = [data.id, data.name, 'heldMicros' in data ? data.heldMicros : 0n];
    const errors = [
      await errorOf(test.database.query({ text, values })),
      await errorOf(models.account.create({ data })),
    ];
    for (const error of errors) {
      expect(brokeConstraint(error, constraint)).toBe(true);
      expect(brokeConstraint(error, 'api_key_within_quota')).toBe(false);
    }
  });

  const SECRET = 'what the customer wrote';
  const AS_JSON = JSON.stringify({ name: SECRET }).slice(0, -1);
  it.each([
    ['a row that breaks a check', 'insert into account (id, name, held_micros) values ($1, $1, -1)', SECRET],
    ['a row that stands already', `insert into account (id, name) select $1, 'x' from generate_series(1, 2)`, SECRET],
    ['a document that is none', 'select * from json_to_recordset($1::text::json) as r(name text)', AS_JSON],
    ['a value of another type', 'select $1::text::bigint', SECRET],
    ['a time that is none', 'select $1::text::timestamptz', SECRET],
  ])('is logged without what it quotes: %s', async (_what, text, value) => {
    const error = await errorOf(test.database.query({ text, values: [value] }));
    expect(JSON.stringify(error, ['message', 'detail', 'where'])).toContain('what the customer');
    expect(JSON.stringify(redact({ error }))).not.toContain('what the customer');
    expect(redact(error)).toMatchObject({ code: expect.stringMatching(/^[0-9A-Z]{5}$/), message: expect.any(String) });
  });

  it('is logged without what it quotes through the models', async () => {
    const models = await test.database.models();
    const errors = [
      await errorOf(models.account.create({ data: { id: SECRET, name: 'x', heldMicros: -1n } })),
      await errorOf(models.$queryRaw`select ${SECRET}::text::bigint`),
      await errorOf(models.$queryRaw`select * from json_to_recordset(${AS_JSON}::text::json) as r(name text)`),
    ];
    for (const error of errors) {
      expect(error).toBeInstanceOf(Error);
      expect(JSON.stringify(redact({ error }))).not.toContain('what the customer');
    }
  });

  it('distinguishes an unavailable database from an invalid statement, also through the models', async () => {
    const models = await test.database.models();
    const unfit = await errorOf(
      models.$transaction(async (transaction) => {
        await transaction.$executeRaw`set transaction read only`;
        await transaction.account.create({ data: { id: 'late', name: 'x' } });
      }),
    );
    expect([isUnfitError(unfit), isConnectionError(unfit)]).toEqual([true, false]);
    const late = await errorOf(
      models.$transaction((transaction) => transaction.$queryRaw`select pg_sleep(0.2)::text`, { timeout: 50 }),
    );
    const deadlock = await errorOf(
      models.$executeRaw`do $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$`,
    );
    expect([late, deadlock].map((error) => [isUnfitError(error), isConnectionError(error)])).toEqual([
      [true, false],
      [true, false],
    ]);
    const wrong = await errorOf(models.$queryRaw`select 1 / 0`);
    expect([isUnfitError(wrong), isConnectionError(wrong)]).toEqual([false, false]);
  });

  it('leaves no connection with an open transaction behind when work with the models fails', async () => {
    const models = await test.database.models();
    const failing = models.$transaction(async (transaction) => {
      await transaction.account.update({ where: { id: 'acct' }, data: { name: 'changed' } });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await expect(models.account.findUnique({ where: { id: 'acct' } })).resolves.toMatchObject({ name: 'Test' });
    const { total, idle } = test.database.connections();
    expect(idle).toBe(total);
  });
});
