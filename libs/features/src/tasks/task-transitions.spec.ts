import { FakeVendor } from './run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './run/testing/task-bench.js';

describe('The lease of a claimed task', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  it('is renewed while its step runs, and no longer once the task waits again', async () => {
    const task = await bench.claim(await bench.submit());
    expect(await bench.transitions.renewLease(task)).toBe(true);
    await bench.transitions.requeue(task, { reason: 'The vendor is away.', delayMs: 3_600_000, counts: true });
    expect(await bench.transitions.renewLease(task)).toBe(false);
  });
});

describe('The limits of running tasks', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
    await bench.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash, max_running_tasks)
        values ('key_narrow', 'acct_bench', 'n', 'sk', 'n', 2)`,
    });
  });
  afterAll(() => bench.close());

  it('apply to a key as to its account, and do not delay other keys', async () => {
    const narrow = await Promise.all([1, 2, 3, 4].map(() => bench.submit({ apiKeyId: 'key_narrow' })));
    const first = await bench.transitions.claimDue('image', 3);
    expect(first.map(({ id }) => id).every((id) => narrow.includes(id))).toBe(true);
    expect(first).toHaveLength(2);
    const wide = await bench.submit();
    expect((await bench.transitions.claimDue('image', 3)).map(({ id }) => id)).toEqual([wide]);
    const [ended] = first;
    await bench.settlement.failUnclaimed(
      { id: ended?.id ?? '', outputs: null },
      ['submitting'],
      'upstream_error',
      'Refused.',
    );
    expect(await bench.transitions.claimDue('image', 3)).toHaveLength(1);
  });

  it.each([
    ['a priority beyond 100', 'update account set priority = 1024'],
    ['fewer than no running tasks for an account', 'update account set max_running_tasks = -1'],
    ['fewer than no running tasks for a key', 'update api_key set max_running_tasks = -1'],
  ])('refuse %s, which would block every worker', async (_, text) => {
    await expect(bench.database.query({ text })).rejects.toMatchObject({ code: '23514' });
  });
});
