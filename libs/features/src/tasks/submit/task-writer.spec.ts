import type { JsonObject, TaskFailureCode } from '#contracts';
import { Database, DatabaseConfig } from '#platform';
import { untilBlocked } from '#testing';
import { withLargeParameters, withoutLargeParameters } from '../large-parameters.js';
import { FakeVendor } from '../run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';
import type { NewTask } from './submit-statement.js';
import { TaskWriter } from './task-writer.js';

/** Nothing listens here. */
const NOWHERE = 'postgresql://unknown@127.0.0.1:1/nothing';

describe('Writing tasks', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  const writerOn = (database: Database): TaskWriter =>
    new TaskWriter(database, bench.platform.notifier, bench.platform.failpoints, 200);

  it('fails all tasks of a batch together while the database is unavailable, not one after the other', async () => {
    const away = new Database(NOWHERE, new DatabaseConfig());
    const writer = writerOn(away);
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => writer.write(bench.newTask())));
    const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? (outcome.reason as unknown) : null));
    expect(reasons[0]).toMatchObject({ code: 'ECONNREFUSED' });
    expect(new Set(reasons).size).toBe(1);
    await away.close();
  });

  it('writes the other tasks of a batch when one cannot be written', async () => {
    const writer = writerOn(bench.database);
    const tasks = [bench.newTask(), bench.newTask({ priceId: 'no such price' }), bench.newTask()];
    const outcomes = await Promise.allSettled(tasks.map((task) => writer.write(task)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('reads on the share of the account why one is refused, so that who has no money delays no other', async () => {
    const patient = Object.assign(new DatabaseConfig(), { DATABASE_CONNECT_TIMEOUT_SECONDS: 60 });
    const database = new Database(bench.platform.config.database.DATABASE_URL ?? '', patient);
    const writer = writerOn(database);
    const task = bench.newTask({ holdMicros: 10n ** 15n });
    let free = (): void => undefined;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const busy = Promise.all(Array.from({ length: 12 }, () => database.of(task.accountId).transaction(() => freed)));
    const order: string[] = [];
    const refuse = async (): Promise<void> => {
      await expect(writer.write(task)).rejects.toMatchObject({ code: 'insufficient_balance' });
      order.push('refused');
    };
    const refused = refuse();
    // Later than a refusal that waits for nothing.
    for (let written = 0; written < 5; written += 1) await writer.write(bench.newTask());
    order.push('written');
    free();
    await Promise.all([refused, busy]);
    expect(order).toEqual(['written', 'refused']);
    await database.close();
  });

  describe('of a key with a limit', () => {
    const PRICE = 300_000n;
    const limitTo = (micros: bigint | null, table = 'api_key') =>
      bench.database.query({ text: `update ${table} set daily_limit_micros = $1`, values: [micros] });
    afterEach(() => Promise.all(['api_key', 'account'].map((table) => limitTo(null, table))));

    const write = async (writer: TaskWriter, count: number, more: Partial<NewTask> = {}): Promise<number> => {
      const tasks = Array.from({ length: count }, () => bench.newTask({ holdMicros: PRICE, ...more }));
      const outcomes = await Promise.allSettled(tasks.map((task) => writer.write(task)));
      const refusals = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
      );
      for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'spend_limit_reached' });
      return count - refusals.length;
    };
    const room = async (micros: bigint): Promise<bigint> => {
      const { rows } = await bench.database.query<{ spent: bigint }>({
        text: `select held_micros + spent_micros(account_id, id, 'day', used_micros) as spent from api_key`,
      });
      return (rows[0]?.spent ?? 0n) + micros;
    };

    it('keeps to a limit set after the key was last used, alone and together', async () => {
      const writer = writerOn(bench.database);
      expect(await write(writer, 2)).toBe(2);
      await limitTo(await room(3n * PRICE));
      expect(await write(writer, 5)).toBe(3);
      expect(await write(writer, 1)).toBe(0);
    });

    it.each(['api_key', 'account'])(
      'keeps to a limit of the %s while money that was held becomes spent',
      async (table) => {
        const writer = writerOn(bench.database);
        await limitTo(await room(PRICE), table);
        expect(await write(writer, 1)).toBe(1);
        // Begins before that is committed, and is carried out behind it.
        let late: Promise<number> | undefined;
        await bench.database.transaction(async (settlement) => {
          const spend = `held_micros = held_micros - $1, used_micros = used_micros + $1`;
          await settlement.query({ text: `update account set ${spend}`, values: [PRICE] });
          await settlement.query({ text: `update api_key set ${spend}`, values: [PRICE] });
          await settlement.query({
            text: `insert into usage_daily (account_id, day, model, api_key_id, kind, requests, amount_micros)
            select account_id, (now() at time zone 'utc')::date, $2, id, 'image', 1, $1 from api_key`,
            values: [PRICE, `of the ${table}`],
          });
          late = write(writer, 1);
          await untilBlocked(bench.database);
        });
        expect(await late).toBe(0);
      },
    );

    it('writes again as soon as the limit is lifted or raised', async () => {
      const writer = writerOn(bench.database);
      await limitTo(await room(PRICE - 1n));
      expect(await write(writer, 1)).toBe(0);
      await limitTo(await room(PRICE));
      expect(await write(writer, 3)).toBe(1);
      await limitTo(null);
      expect(await write(writer, 3)).toBe(3);
    });
  });

  describe('that wait behind a settlement of their account', () => {
    it.each([
      ['balance', 'account', 'available_micros'],
      ["key's quota", 'api_key', 'quota_micros'],
    ])('are written with what it left of the %s', async (_what, table, column) => {
      const writer = writerOn(bench.database);
      const { rows: before } = await bench.database.query<{ micros: bigint | null; held: bigint }>({
        text: `select ${column} as micros, held_micros as held from ${table}`,
      });
      const [{ micros, held } = { micros: 0n, held: 0n }] = before;
      const left = (least: bigint) =>
        `update ${table} set ${column} = ${column === 'quota_micros' ? `held_micros + used_micros + ${least}` : least}`;
      await bench.database.query({ text: left(10n) });
      await expect(writer.write(bench.newTask({ holdMicros: 100n }))).rejects.toMatchObject({
        code: column === 'quota_micros' ? 'insufficient_key_quota' : 'insufficient_balance',
      });
      const late = await bench.database.transaction(async (settlement) => {
        await settlement.query({ text: 'update account set held_micros = held_micros' });
        await settlement.query({ text: left(100n) });
        const written = writer.write(bench.newTask({ holdMicros: 100n }));
        await untilBlocked(bench.database);
        return { written };
      });
      await late.written;
      const { rows } = await bench.database.query<{ held: bigint }>({
        text: `select held_micros as held from ${table}`,
      });
      expect(rows).toEqual([{ held: held + 100n }]);
      await bench.database.query({ text: `update ${table} set ${column} = $1`, values: [micros] });
    });
  });

  describe('with inline files', () => {
    const FILES = ['A', 'é😀'].map((unit) => `data:image/png;base64,${unit.repeat(900_000)}`);
    const PARAMETERS = {
      model: 'eta-image-2.0',
      prompt: 'a lighthouse',
      image_urls: ['https://x.example/a.png', ...FILES],
    };
    const write = (more: Partial<NewTask> = {}): Promise<void> => {
      const task = bench.newTask({ ...withoutLargeParameters(PARAMETERS), ...more });
      return writerOn(bench.database).write(task);
    };
    const rows = (table: string, id: string, column = 'id') =>
      bench.database.query({ text: `select * from ${table} where ${column} = $1`, values: [id] });

    it('keeps them beside the row, where a claim does not read them, and returns them to the worker that starts it', async () => {
      const { id } = bench.newTask();
      await write({ id });
      const [row] = (await rows('task', id)).rows as { parameters: JsonObject }[];
      expect(JSON.stringify(row?.parameters).length).toBeLessThan(500);
      expect(row?.parameters).toMatchObject({ prompt: 'a lighthouse' });
      expect(await withLargeParameters(bench.database, id, row?.parameters ?? {})).toEqual(PARAMETERS);
    });

    it('removes them with the end of their use: of all but failed tasks that may be sent again', async () => {
      const kept = async (end: (taskId: string) => Promise<boolean>): Promise<boolean> => {
        const { id } = bench.newTask();
        await write({ id });
        expect(await end(id)).toBe(true);
        return (await rows('task_long_text', id, 'task_id')).rows.length > 0;
      };
      const failing = (code: TaskFailureCode) => async (id: string) =>
        bench.settlement.fail(await bench.claim(id), code, 'It failed.');
      expect(await kept((id) => bench.settlement.cancelUnstarted(id))).toBe(false);
      expect(await kept(failing('invalid_media'))).toBe(false);
      expect(await kept(failing('content_policy'))).toBe(false);
      expect(await kept(failing('upstream_error'))).toBe(true);
      expect(
        await kept(async (id) => {
          const claimed = await bench.claim(id);
          await bench.change(id, `state = 'storing', provider = 'fake'`);
          const result = { files: [], resultTtlSeconds: null, notices: [] };
          return bench.settlement.complete(claimed, { chargeMicros: 1n, quantity: 1, ...result });
        }),
      ).toBe(false);
    });

    it('writes them together with the row or not at all, without delaying tasks without files', async () => {
      const { id } = bench.newTask();
      await expect(write({ id, priceId: 'no such price' })).rejects.toThrow('price');
      await expect(write({ id, holdMicros: 10n ** 15n })).rejects.toMatchObject({ code: 'insufficient_balance' });
      expect((await rows('task_long_text', id, 'task_id')).rows).toEqual([]);
      await write({ id });
      expect((await rows('task_long_text', id, 'task_id')).rows).not.toEqual([]);
    });
  });
});
