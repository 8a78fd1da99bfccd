import { createTestDatabase, eventually, type TestDatabase, untilBlocked } from '#testing';
import { AccountShares } from './account-shares.js';
import { DatabaseConfig } from './database.config.js';
import { Database } from './database.js';

const PATIENT_MS = 60_000;

describe('Connections of a pool', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({ text: 'create table example (id bigint primary key)' });
  });
  afterAll(() => test.remove());

  const openDatabase = (settings: Partial<DatabaseConfig>): Database =>
    new Database(test.url, Object.assign(new DatabaseConfig(), settings));
  /** Locks the table until the answered function is called. */
  async function lockTable(): Promise<() => Promise<void>> {
    let unlock = (): void => undefined;
    const locked = new Promise<void>((resolve, reject) => {
      const held = new Promise<void>((free) => (unlock = free));
      released = test.database.transaction(async (transaction) => {
        await transaction.query({ text: 'lock table example in access exclusive mode' });
        resolve();
        await held;
      });
      released.catch(reject);
    });
    await locked;
    return async () => {
      unlock();
      await released;
    };
  }
  let released: Promise<void>;

  const count = { text: 'select count(*) from example' };
  const one = { text: 'select 1 as one' };

  it('are left to others by an account all of whose statements are blocked', async () => {
    const database = openDatabase({
      DATABASE_POOL_SIZE: 4,
      DATABASE_ANSWER_TIMEOUT_MS: PATIENT_MS,
      DATABASE_CONNECT_TIMEOUT_SECONDS: 60,
    });
    const unlock = await lockTable();
    const blocked = Promise.all([
      ...Array.from({ length: 8 }, () => database.of('one').query(count)),
      database.of('one').transaction((transaction) => transaction.query(count)),
      database.of('one').withModels((models) => models.$queryRaw`select count(*) from example`),
    ]);
    await untilBlocked(test.database);
    expect((await database.of('another').query(one)).rows).toEqual([{ one: 1 }]);
    expect((await database.query(one)).rows).toEqual([{ one: 1 }]);
    expect(await database.unfitness()).toBeNull();
    const { total, idle, waiting } = database.connections();
    expect({ busy: total - idle, waiting }).toEqual({ busy: 2, waiting: 0 });
    await unlock();
    expect(await blocked).toHaveLength(10);
    await database.close();
  });

  it('are refused to such an account alone when its wait ends, and given again when its statements are done', async () => {
    const database = openDatabase({
      DATABASE_POOL_SIZE: 4,
      DATABASE_ANSWER_TIMEOUT_MS: PATIENT_MS,
      DATABASE_CONNECT_TIMEOUT_SECONDS: 1,
    });
    const unlock = await lockTable();
    const running = [database.of('one').query(count), database.of('one').query(count)];
    await untilBlocked(test.database);
    await expect(database.of('one').query(one)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterMs: 2_000,
    });
    await unlock();
    await Promise.all(running);
    expect((await database.of('one').query(one)).rows).toEqual([{ one: 1 }]);
    await database.close();
  });

  it('are not taken for lost when a statement takes too long: the server answers that it ended it', async () => {
    const database = openDatabase({ DATABASE_POOL_SIZE: 2, DATABASE_ANSWER_TIMEOUT_MS: 1_000 });
    await expect(database.query({ text: 'select pg_sleep(60)' })).rejects.toMatchObject({ code: '57014' });
    expect(await database.unfitness()).toBeNull();
    const processId = async (): Promise<unknown> =>
      (await database.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })).rows[0]?.pid;
    const before = await processId();
    const waits = database.transaction((transaction) => transaction.query({ text: 'select pg_sleep(60)' }));
    await expect(waits).rejects.toMatchObject({ code: '57014' });
    expect(await processId()).toBe(before);
    await database.close();
  });

  describe('shared by accounts', () => {
    /** Begins work of an account that lasts until it is told to end. */
    function work(shares: AccountShares, accountId: string, begun: string[]): () => void {
      let end = (): void => undefined;
      void shares.run(accountId, () => {
        begun.push(accountId);
        return new Promise<void>((resolve) => (end = resolve));
      });
      return () => end();
    }

    it('go to one account up to half of what the others leave, and never to all accounts together', async () => {
      const shares = new AccountShares(8, PATIENT_MS);
      const begun: string[] = [];
      const works = ['a', 'b', 'c', 'd'].flatMap((id) => Array.from({ length: 8 }, () => work(shares, id, begun)));
      const at = (id: string): number => begun.filter((other) => other === id).length;
      expect(['a', 'b', 'c', 'd'].map(at)).toEqual([4, 1, 1, 0]);
      await eventually(() => {
        for (const end of works) end();
        return begun.length === 32;
      });
    });

    it('go next to the account that has least of them', async () => {
      const shares = new AccountShares(4, PATIENT_MS);
      const begun: string[] = [];
      const works = ['a', 'a', 'b', 'a', 'b', 'c'].map((id) => work(shares, id, begun));
      expect(begun).toEqual(['a', 'a', 'b']);
      works[0]?.();
      await eventually(() => begun.length > 3);
      expect(begun).toEqual(['a', 'a', 'b', 'c']);
      await eventually(() => {
        for (const end of works) end();
        return begun.length === works.length;
      });
    });

    it('are left free for what no account waits for, however many accounts read at once', async () => {
      const database = openDatabase({
        DATABASE_POOL_SIZE: 4,
        DATABASE_ANSWER_TIMEOUT_MS: PATIENT_MS,
        DATABASE_CONNECT_TIMEOUT_SECONDS: 60,
      });
      const unlock = await lockTable();
      const readers = ['a', 'b', 'c', 'd', 'e', 'f'];
      const blocked = Promise.all(readers.flatMap((id) => [1, 2].map(() => database.of(id).query(count))));
      await untilBlocked(test.database, 3);
      expect((await database.query(one)).rows).toEqual([{ one: 1 }]);
      const { total, idle, waiting } = database.connections();
      expect({ busy: total - idle, waiting }).toEqual({ busy: 3, waiting: 0 });
      await unlock();
      expect(await blocked).toHaveLength(12);
      await database.close();
    });

    it('go to the work of an account in the order in which it came', async () => {
      const shares = new AccountShares(2, PATIENT_MS);
      const order: number[] = [];
      const works = [0, 1, 2, 3].map((nth) => shares.run('a', () => Promise.resolve(order.push(nth))));
      await Promise.all(works);
      expect(order).toEqual([0, 1, 2, 3]);
    });
  });
});
