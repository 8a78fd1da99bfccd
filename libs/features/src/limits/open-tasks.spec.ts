import { mock } from 'node:test';
import { setImmediate as untilIdle } from 'node:timers/promises';
import type { Database } from '#platform';
import { FakeVendor } from '../tasks/run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from '../tasks/run/testing/task-bench.js';
import { OpenTasks } from './open-tasks.js';

/** A database that has so many open tasks, and answers when it is let. */
class CountingDatabase implements Pick<Database, 'query'> {
  open = 0;
  asked = 0;
  failing = false;
  answered: Promise<void> = Promise.resolve();

  async query(): Promise<never> {
    this.asked += 1;
    const { open } = this;
    await this.answered;
    if (this.failing) throw new Error('gone');
    return { rows: [{ open }] } as never;
  }
}

/** Longer than a count is believed that took no time. */
const OLD_MS = 1_001;

describe('The bound on open tasks', () => {
  let nowMs = 0;
  beforeEach(() => void mock.method(performance, 'now', () => nowMs));
  afterEach(() => mock.restoreAll());

  const outcomes = async (tasks: OpenTasks, count: number): Promise<string[]> =>
    (await Promise.allSettled(Array.from({ length: count }, () => tasks.admit('acct')))).map(({ status }) => status);

  it('accepts what fits and refuses the rest, with one count for concurrent requests', async () => {
    const database = new CountingDatabase();
    database.open = 7;
    const answers = await outcomes(new OpenTasks(database, 10), 64);
    expect(answers.filter((status) => status === 'fulfilled')).toHaveLength(3);
    expect(database.asked).toBe(1);
  });

  it('does not wait for a new count while the old one allows the request', async () => {
    const database = new CountingDatabase();
    const tasks = new OpenTasks(database, 10);
    await tasks.admit('acct');
    nowMs += OLD_MS;
    let answer = (): void => undefined;
    database.answered = new Promise((resolve) => (answer = resolve));
    database.open = 5;
    expect(await outcomes(tasks, 5)).toEqual(Array.from({ length: 5 }, () => 'fulfilled'));
    expect(database.asked).toBe(2);
    answer();
    await untilIdle();
    // Five there were, and five were let in meanwhile.
    await expect(tasks.admit('acct')).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterMs: 5_000 });
  });

  it('never refuses by an old count: at the limit it waits for a new one', async () => {
    const database = new CountingDatabase();
    database.open = 10;
    const tasks = new OpenTasks(database, 10);
    await expect(tasks.admit('acct')).rejects.toThrow('10 open tasks');
    nowMs += OLD_MS;
    database.open = 3;
    await expect(tasks.admit('acct')).resolves.toBeUndefined();
  });

  it('caches a slow count for longer, so that counting never dominates', async () => {
    const database = new CountingDatabase();
    const tasks = new OpenTasks(database, 10);
    let answer = (): void => undefined;
    database.answered = new Promise((resolve) => (answer = resolve));
    const first = tasks.admit('acct');
    nowMs += 100;
    answer();
    await first;
    nowMs += 1_999;
    await tasks.admit('acct');
    expect(database.asked).toBe(1);
    nowMs += 2;
    await tasks.admit('acct');
    expect(database.asked).toBe(2);
  });

  it('fails the waiting requests when counting fails, and counts again for the next', async () => {
    const database = new CountingDatabase();
    const tasks = new OpenTasks(database, 10);
    database.failing = true;
    await expect(tasks.admit('acct')).rejects.toThrow('gone');
    database.failing = false;
    await expect(tasks.admit('acct')).resolves.toBeUndefined();
    nowMs += OLD_MS;
    database.failing = true;
    await expect(tasks.admit('acct')).resolves.toBeUndefined();
    await untilIdle();
    database.failing = false;
    await expect(tasks.admit('acct')).resolves.toBeUndefined();
    expect(database.asked).toBe(4);
  });
});

describe('The bound on orders that come to nothing by what their account does', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  const query = (text: string, ...values: unknown[]) => bench.database.query({ text, values });
  /** Whether another order of the account is let in. */
  const admits = async (taskId: string): Promise<boolean> => {
    const { account_id: accountId } = await bench.row(taskId);
    const admitted = new OpenTasks(bench.database, 100_000).admit(accountId);
    return admitted.then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'rate_limit_exceeded', message: expect.stringContaining('10000') });
        return false;
      },
    );
  };

  it('counts those of a day, lets one more through for each that was paid, and none that the vendor is to blame for', async () => {
    const taskId = await bench.submit();
    await bench.settlement.cancelUnstarted(taskId);
    const { account_id: accountId } = await bench.row(taskId);
    await query(
      `insert into task select (jsonb_populate_record(t, jsonb_build_object('id', t.id || nth, 'state', 'failed',
        'error_code', (array['invalid_media', 'content_policy'])[1 + nth % 2]))).*
      from task t, generate_series(1, 9998) as nth where t.id = $1`,
      taskId,
    );
    expect(await admits(taskId)).toBe(true);
    await query(
      `insert into task select (jsonb_populate_record(t, jsonb_build_object('id', t.id || 'b'))).* from task t where t.id = $1`,
      taskId,
    );
    expect(await admits(taskId)).toBe(false);
    await query(
      `insert into usage_daily (account_id, day, model, api_key_id, kind, requests, failed_requests, amount_micros, quantity)
      values ($1, current_date, 'eta-image-2.0', 'paid', 'image', 3, 2, 1, 1)`,
      accountId,
    );
    expect(await admits(taskId)).toBe(true);
    await query(`delete from usage_daily where api_key_id = 'paid'`);
    await query(`update task set error_code = 'upstream_error' where id = $1 || '1'`, taskId);
    expect(await admits(taskId)).toBe(true);
    await query(`update task set error_code = 'invalid_media' where id = $1 || '1'`, taskId);
    expect(await admits(taskId)).toBe(false);
    await query(`update task set finished_at = now() - interval '25 hours' where id = $1 || '1'`, taskId);
    expect(await admits(taskId)).toBe(true);
  });
});
