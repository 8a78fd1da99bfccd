import { FakeVendor, intentOf } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const never = new AbortController().signal;

describe('Attempts that end without a report', () => {
  const vendor = new FakeVendor();
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(vendor);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    await bench.database.query({ text: 'truncate task cascade' });
    vendor.repeatStart = 'idempotent';
    vendor.taken.length = 0;
    vendor.start = async (order) => vendor.take(order);
    delete vendor.find;
  });

  /** The lease of a worker that died is over. */
  const overdue = (taskId: string): Promise<void> => bench.change(taskId, `lease_until = now() - interval '1 second'`);

  /** A worker that works on nothing else takes the task, and dies with it. */
  async function dieAlone(taskId: string): Promise<void> {
    await overdue(taskId);
    const task = await bench.transitions.claimSuspect('image', 0);
    if (task?.id !== taskId) throw new Error('another worker has it');
    expect(await bench.transitions.beginStep(task)).toBe(true);
  }

  async function dieTogether(...taskIds: string[]): Promise<void> {
    for (const taskId of taskIds) await overdue(taskId);
    const claimed = await bench.transitions.claimDue('image', 10);
    expect(claimed.map(({ id }) => id).toSorted()).toEqual(taskIds.toSorted());
    for (const task of claimed) await bench.transitions.recordStartIntent(task, intentOf(vendor));
  }

  it('are counted; those that report their end are not', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    const again = await bench.claim(taskId);
    expect(again).toMatchObject({ crash_count: 1, early_crash_count: 1 });
    await bench.transitions.retryLater(again, { reason: 'Busy.', delayMs: 0, counts: false });
    expect(await bench.claim(taskId)).toMatchObject({ crash_count: 1, early_crash_count: 1 });
  });

  it('make a task run alone after two, and park it after three with its money returned', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    await dieTogether(taskId);
    await overdue(taskId);
    expect(await bench.transitions.claimDue('image', 10)).toEqual([]);
    await dieAlone(taskId);
    await overdue(taskId);
    const last = await bench.transitions.claimSuspect('image', 0);
    if (!last) throw new Error('no worker took it');
    expect(await bench.advance.endsWithoutWork(last)).toBe(true);
    expect(await bench.row(taskId)).toMatchObject({ state: 'failed', error_code: 'processing_crashed' });
    expect(await bench.entries(taskId)).toEqual(['hold', 'release']);
    const { rows } = await bench.database.query<{ kind: string; worker: string }>({
      text: 'select kind, worker from task_event where task_id = $1 order by id',
      values: [taskId],
    });
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ kind: 'lapsed', worker: 'bench' })));
  });

  it('are not counted for tasks claimed together with it', async () => {
    const [poison, ...innocents] = [await bench.submit(), await bench.submit(), await bench.submit()];
    await dieTogether(poison, ...innocents);
    await dieTogether(poison, ...innocents);
    for (const innocent of innocents) {
      await overdue(innocent);
      const task = await bench.transitions.claimSuspect('image', 0);
      if (!task) throw new Error('no worker took it');
      expect(await bench.advance.endsWithoutWork(task)).toBe(false);
      expect(await bench.transitions.beginStep(task)).toBe(true);
      await bench.advance.advance(task, never);
      expect(await bench.row(innocent)).toMatchObject({ state: 'running', crash_count: 0, early_crash_count: 0 });
    }
  });

  it('count nothing when the worker only kept the task until it had nothing else to do', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    await dieTogether(taskId);
    for (let turn = 0; turn < 3; turn += 1) {
      await overdue(taskId);
      expect(await bench.transitions.claimSuspect('image', 0)).toMatchObject({ id: taskId, crash_count: 2 });
    }
  });

  it('do not park a long step that was cut off by three deploys in a row', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    for (let deploy = 0; deploy < 3; deploy += 1) {
      await bench.transitions.renewLease(await bench.row(taskId));
      await overdue(taskId);
      const [task] = [...(await bench.transitions.claimDue('image', 1))];
      const taken = task ?? (await bench.transitions.claimSuspect('image', 0));
      if (!taken) throw new Error('no worker took it');
      expect(await bench.advance.endsWithoutWork(taken)).toBe(false);
      if (!task) await bench.transitions.beginStep(taken);
    }
    expect(await bench.row(taskId)).toMatchObject({ state: 'submitting', crash_count: 3, early_crash_count: 0 });
  });

  it('count nothing when the worker was stopping', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    const text = `insert into worker (id, role, version, host, pid, stopping_at) values ('bench', 'image-worker', '1', 'h', 1, now())`;
    await bench.database.query({ text });
    expect(await bench.claim(taskId)).toMatchObject({ crash_count: 0 });
    await bench.database.query({ text: 'delete from worker' });
  });

  it('are not sudden when every other process fell silent at the same moment: that was a deploy', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    const text = `insert into worker (id, role, version, host, pid, started_at, seen_at) values
      ('bench', 'image-worker', '1', 'a', 1, now() - interval '1 hour', now() - interval '70 seconds'),
      ('other', 'maintenance-worker', '1', 'b', 1, now() - interval '1 hour', now() - interval '68 seconds'),
      ('successor', 'image-worker', '1', 'c', 1, now() - interval '65 seconds', now())`;
    await bench.database.query({ text });
    expect(await bench.claim(taskId)).toMatchObject({ crash_count: 1, early_crash_count: 0 });
    await bench.database.query({ text: `update worker set seen_at = now() where id = 'other'` });
    await overdue(taskId);
    expect(await bench.transitions.claimSuspect('image', 0)).toMatchObject({ crash_count: 2, early_crash_count: 1 });
    await bench.database.query({ text: 'delete from worker' });
  });

  it('are counted per step: storing does not inherit the lapses of the start', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    await bench.start.run(await bench.claim(taskId), never);
    await bench.schedule.finish(taskId, []);
    expect(await bench.claim(taskId)).toMatchObject({ state: 'storing', crash_count: 0 });
    expect(await bench.claim(taskId)).toMatchObject({ state: 'storing', crash_count: 1 });
  });

  it('let the owner stop the task between them, though its start was announced', async () => {
    const taskId = await bench.submit();
    await dieTogether(taskId);
    await bench.transitions.requestCancel(taskId, 'acct_bench');
    await bench.advance.advance(await bench.claim(taskId), never);
    expect(vendor.taken).toEqual([]);
    expect(await bench.row(taskId)).toMatchObject({ state: 'cancelled' });
    expect(await bench.entries(taskId)).toEqual(['hold', 'release']);
  });

  it('let the owner stop a task that its vendor turns out not to have', async () => {
    vendor.repeatStart = 'lookup';
    vendor.find = async () => null;
    const taskId = await bench.submit();
    await dieTogether(taskId);
    await bench.transitions.requestCancel(taskId, 'acct_bench');
    await bench.change(taskId, `start_intent_at = now() - interval '1 hour'`);
    await bench.advance.advance(await bench.claim(taskId), never);
    expect(vendor.taken).toEqual([]);
    expect(await bench.row(taskId)).toMatchObject({ state: 'cancelled' });
  });
});
