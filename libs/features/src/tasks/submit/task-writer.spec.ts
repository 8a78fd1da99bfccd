import { Database, DatabaseConfig } from '#platform';
import { FakeVendor } from '../run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';
import { TaskWriter } from './task-writer.js';

/** Nothing listens here. */
const NOWHERE = 'postgresql://nobody@127.0.0.1:1/nothing';

describe('Writing tasks', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  const writerOn = (database: Database): TaskWriter =>
    new TaskWriter(database, bench.platform.notifier, bench.platform.failpoints, 200);

  it('gives up all tasks of a batch together while the database is away, not one after the other', async () => {
    const away = new Database(NOWHERE, new DatabaseConfig());
    const writer = writerOn(away);
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4].map(() => writer.write({ ...bench.newTask(), keyHasQuota: false })),
    );
    const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? (outcome.reason as unknown) : null));
    expect(reasons[0]).toMatchObject({ code: 'ECONNREFUSED' });
    expect(new Set(reasons).size).toBe(1);
    await away.close();
  });

  it('writes the neighbours of a task that cannot be written', async () => {
    const writer = writerOn(bench.database);
    const tasks = [bench.newTask(), bench.newTask({ priceId: 'no such price' }), bench.newTask()];
    const outcomes = await Promise.allSettled(tasks.map((task) => writer.write({ ...task, keyHasQuota: false })));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
