import type { Operation, VendorCall } from '#contracts';
import type { Database } from '#platform';
import { eventually } from '#testing';
import { DeadlineKeeper } from './deadline-keeper.js';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { FakeVendor } from './testing/fake-vendor.js';
import { ScriptedUpstream } from './testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** The stored type is read from the bytes, whatever the vendor calls it, so each type is a possible key. */
const TYPES = ['png', 'jpg', 'webp', 'gif', 'mp4', 'mov'];

describe('The deadline of a task', () => {
  let bench: TaskBench;
  let keeper: DeadlineKeeper;
  const keeperOf = (upstreams = bench.upstreams): DeadlineKeeper =>
    new DeadlineKeeper('image', bench.transitions, bench.settlement, upstreams, bench.database, bench.circuits);
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
    keeper = keeperOf();
  });
  afterEach(() => keeper.stop());
  afterAll(() => bench.close());

  const ended = (taskId: string): Promise<string> =>
    eventually(async () => {
      const { state } = await bench.row(taskId);
      return FINAL.has(state) && state;
    });

  it('ends a task that lay there for a whole month, and gives its hold back', async () => {
    const taskId = await bench.submit();
    await bench.change(taskId, `created_at = now() - interval '30 days', deadline_at = now() - interval '29 days'`);
    keeper.start();
    expect(await ended(taskId)).toBe('failed');
    expect(await bench.entries(taskId)).toEqual(['hold', 'release']);
  });

  it('notes the files that were copied before it, so that they are removed', async () => {
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), new AbortController().signal);
    await bench.schedule.finish(taskId, [
      { role: 'output', contentType: 'image/png', url: 'https://vendor.example/0.png' },
      { role: 'output', contentType: 'text/html', url: 'https://vendor.example/1.jpg' },
    ]);
    await bench.change(taskId, 'deadline_at = now()');
    keeper = keeperOf();
    keeper.start();
    expect(await ended(taskId)).toBe('failed');
    const { rows } = await bench.database.query({
      text: `select store_key, expires_at between now() and now() + interval '1 hour' as soon from task_file where task_id = $1`,
      values: [taskId],
    });
    const keys = [0, 1].flatMap((ordinal) => TYPES.map((type) => `${ordinal}.${type}`));
    expect(rows).toEqual(keys.map((key) => ({ store_key: `media/${taskId}/${key}`, soon: true })));
  });

  it('records the videos that a check may have kept of work with an unknown end', async () => {
    const taskId = await bench.submit();
    await bench.start.run(await bench.claim(taskId), new AbortController().signal);
    await bench.change(taskId, `provider = 'inline', deadline_at = now()`);
    const upstream = Object.assign(new ScriptedUpstream('inline'), { mayKeep: () => 2 });
    upstream.traits = { ...upstream.traits, checksBring: 'video' };
    keeper = keeperOf(MediaUpstreams.of(upstream));
    keeper.start();
    expect(await ended(taskId)).toBe('failed');
    const { rows } = await bench.database.query<{ store_key: string }>({
      text: 'select store_key from task_file where task_id = $1',
      values: [taskId],
    });
    const keys = [0, 1].flatMap((ordinal) => TYPES.map((type) => `media/${taskId}/${ordinal}.${type}`));
    expect(rows.map(({ store_key: key }) => key)).toEqual(keys);
  });

  it('ends other tasks while the vendor of one does not say whether it stops', async () => {
    const silent = await bench.submit();
    await bench.start.run(await bench.claim(silent), new AbortController().signal);
    await bench.change(silent, `provider = 'silent', deadline_at = now()`);
    let asked = (_call: VendorCall): void => undefined;
    const isAsked = new Promise<VendorCall>((resolve) => (asked = resolve));
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const upstream = Object.assign(new ScriptedUpstream('silent'), {
      cancel: async (_operation: Operation, call: VendorCall) => {
        asked(call);
        await answered;
        return 'cancelled' as const;
      },
    });
    keeper = keeperOf(MediaUpstreams.of(upstream));
    keeper.start();
    const { signal } = await isAsked;
    const other = await bench.submit();
    await bench.change(other, 'deadline_at = now()');
    await eventually(async () => (await bench.row(other)).state === 'failed');
    // The vendor was still waited for.
    expect(signal.aborted).toBe(false);
    answer();
    expect(await ended(silent)).toBe('failed');
  });

  /** From now on the database refuses to end these tasks. */
  const refuseToEnd = (taskIds: readonly string[]) =>
    bench.database.query({
      text: `create table unendable as select unnest(array[${taskIds.map((id) => `'${id}'`).join(', ')}]) as id;
        create function refuse_to_end() returns trigger language plpgsql as $$ begin
          if new.finished_at is not null and new.id in (select id from unendable) then raise 'it will not end'; end if;
          return new; end $$;
        create trigger unendable before update on task for each row execute function refuse_to_end()`,
    });

  it('passes over those that will not end, with a growing pause and a row for operators, and ends the others', async () => {
    const stuck = await Promise.all(Array.from({ length: 120 }, () => bench.submit()));
    const last = await bench.submit();
    const text = `update task set deadline_at = now() - interval '1 hour' where id = any($1)`;
    await bench.database.query({ text, values: [stuck] });
    await bench.change(last, `deadline_at = now() - interval '1 second'`);
    await refuseToEnd(stuck);
    keeper = keeperOf();
    keeper.start();
    const paused = () => pausesOf(bench.database, 'deadline', stuck[0] ?? '');
    const first = await eventually(async () => (await paused())[0]);
    expect(first).toMatchObject({ failures: 1, reason: 'it will not end' });
    expect(await ended(last)).toBe('failed');
    const [{ failures: before } = first] = await paused();
    await bench.database.query({ text: `update paused_work set resumes_at = now()` });
    const second = await eventually(async () => (await paused()).find(({ failures }) => failures > before));
    expect(second.pauseSeconds).toBeGreaterThan(1.5 * first.pauseSeconds);
    await bench.database.query({ text: 'drop trigger unendable on task' });
    await eventually(async () => {
      // Some were about to fail once more.
      await bench.database.query({ text: 'update paused_work set resumes_at = now()' });
      const open = `select from task where id = any($1) and state <> 'failed'`;
      return (await bench.database.query({ text: open, values: [stuck] })).rows.length === 0;
    });
  });
});

/** What is noted of work that failed; a pause is in seconds. */
const pausesOf = async (database: Database, job: string, subject: string) =>
  (
    await database.query<{ failures: number; reason: string; pauseSeconds: number }>({
      text: `select failures, reason, extract(epoch from resumes_at - failed_at)::float8 as "pauseSeconds"
        from paused_work where job = $1 and subject_id = $2`,
      values: [job, subject],
    })
  ).rows;
