import { mock } from 'node:test';
import { setImmediate as untilIdle } from 'node:timers/promises';
import type { Database } from '#platform';
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
