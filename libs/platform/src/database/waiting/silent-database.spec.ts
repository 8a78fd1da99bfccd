import { createTestDatabase, eventually, FaultProxy, quickestOf, type TestDatabase } from '#testing';
import { isConnectionError } from '../connection-errors.js';
import { DatabaseConfig } from '../database.config.js';
import { Database } from '../database.js';

/** Many times what a wait may cost, for slow machines; a wait without a limit continues until the end of the test. */
const LIMIT_MS = 25_000;
/** Less than a statement waits for its answer, so that it was refused without being asked. */
const WITHOUT_ASKING_MS = 1_500;

describe('A Postgres that stops responding', () => {
  let test: TestDatabase;
  let proxy: FaultProxy;
  let database: Database;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({ text: 'create table example (id bigint primary key)' });
  });
  afterAll(() => test.remove());
  beforeEach(async () => {
    proxy = await FaultProxy.start(test.url);
    database = new Database(proxy.urlOf(test.url), Object.assign(new DatabaseConfig(), { DATABASE_POOL_SIZE: 4 }));
    await eventually(() =>
      warm().then(
        () => true,
        () => false,
      ),
    );
  });
  afterEach(async () => {
    await database.close();
    await proxy.close();
  });

  const ask = (): Promise<unknown> => database.query({ name: 'ask', text: 'select 1' });
  /** Every connection of the pool is open and idle. */
  const warm = async (): Promise<void> => {
    await Promise.all(Array.from({ length: 4 }, () => database.query({ text: 'select pg_sleep(0.05)' })));
  };
  /** How each of them ended, and after how long. */
  const timed = async (works: readonly (() => Promise<unknown>)[]) =>
    Promise.all(
      works.map(async (work) => {
        const beganMs = performance.now();
        const error = await work().then(
          () => null,
          (reason: unknown) => reason,
        );
        return { tookMs: performance.now() - beganMs, error };
      }),
    );
  const isAnswered = (): Promise<boolean> =>
    ask().then(
      () => true,
      () => false,
    );
  const untilAnswered = (): Promise<boolean> => eventually(isAnswered, { pauseMs: 50 });

  it('fails statements on half-open connections within the limit, discards the connections, and works on new ones', async () => {
    proxy.set('half-open');
    const ended = await timed(Array.from({ length: 12 }, () => ask));
    for (const { tookMs, error } of ended) {
      expect(tookMs).toBeLessThan(LIMIT_MS);
      expect(error === null || isConnectionError(error)).toBe(true);
    }
    await untilAnswered();
    expect(await database.unfitness()).toBeNull();
    // No connection is left that could cost a later statement the same wait.
    for (const { error } of await timed(Array.from({ length: 12 }, () => ask))) expect(error).toBeNull();
  });

  it('refuses at once while no statement is answered, says so, and recovers by itself', async () => {
    proxy.set('black-hole');
    for (const { tookMs, error } of await timed(Array.from({ length: 12 }, () => ask))) {
      expect(tookMs).toBeLessThan(LIMIT_MS);
      expect(isConnectionError(error)).toBe(true);
    }
    expect(await database.unfitness()).toBe('the database does not answer');
    const later = async (): Promise<number> => {
      const [ended] = await timed([ask]);
      expect(isConnectionError(ended?.error)).toBe(true);
      return ended?.tookMs ?? Number.NaN;
    };
    expect(await quickestOf(WITHOUT_ASKING_MS, later)).toBeLessThan(WITHOUT_ASKING_MS);
    proxy.set('pass');
    await untilAnswered();
    expect(await database.unfitness()).toBeNull();
  });

  it('recovers even while a client retries without a pause and leaves the process no time to probe', async () => {
    proxy.set('black-hole');
    await timed([ask]);
    const restored = new Promise((resolve) => setTimeout(resolve, 500)).then(() => proxy.set('pass'));
    while (!(await isAnswered()));
    await restored;
    expect(await database.unfitness()).toBeNull();
  });

  it('also ends transactions and model queries, and releases their locks', async () => {
    const insert = (id: number) => () =>
      database.transaction(async (tx) => {
        await tx.query({ text: 'insert into example values (1) on conflict do nothing' });
        if (id === 1) proxy.set('half-open');
        await tx.query({ text: 'select 1' });
      });
    const [lost] = await timed([insert(1)]);
    expect(isConnectionError(lost?.error)).toBe(true);
    expect(lost?.tookMs).toBeLessThan(LIMIT_MS);
    proxy.set('black-hole');
    const [counted, interactive] = await timed([
      async () => (await database.models()).account.count(),
      async () => (await database.models()).$transaction((tx) => tx.account.count()),
    ]);
    for (const ended of [counted, interactive]) {
      expect(isConnectionError(ended?.error)).toBe(true);
      expect(ended?.tookMs).toBeLessThan(LIMIT_MS);
    }
    proxy.set('pass');
    await untilAnswered();
    await expect((await database.models()).account.count()).resolves.toBe(0);
  });

  it('lets a long statement run, while a short one is ended, also on the server', async () => {
    const slow = { text: 'select pg_sleep(2.5) /* abandoned */' };
    const [long, short] = await timed([() => database.query({ ...slow, limit: 'long' }), () => database.query(slow)]);
    expect(long?.error).toBeNull();
    expect(short?.error).toMatchObject({ code: '57014' });
    // One slow statement is no silent server.
    await ask();
    expect(await database.unfitness()).toBeNull();
  });

  it('distinguishes a long statement from one whose response was lost', async () => {
    const working = database.query({ text: 'select pg_sleep(6)', limit: 'long' });
    working.catch(() => undefined);
    const lost = timed([() => database.query({ text: 'select pg_sleep(2)', limit: 'long' })]);
    const SLEEPING = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
    await eventually(async () => (await test.database.query({ text: SLEEPING })).rows.length === 2);
    proxy.set('half-open');
    const [ended] = await lost;
    expect(isConnectionError(ended?.error)).toBe(true);
    const [patient] = await timed([() => database.query({ text: 'select pg_sleep(6)', limit: 'long' })]);
    expect(patient?.error).toBeNull();
    await expect(working).rejects.toThrow();
  });

  it('closes although the server does not answer its termination message', async () => {
    proxy.set('black-hole');
    const other = new Database(proxy.urlOf(test.url));
    await expect(Promise.all([other.close(), database.close()])).resolves.toBeDefined();
    database = new Database(test.url);
  });
});
