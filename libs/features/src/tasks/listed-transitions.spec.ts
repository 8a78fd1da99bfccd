import { isFinal, TASK_TRANSITIONS, type TaskState } from '#contracts';
import { FakeVendor } from './run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './run/testing/task-bench.js';

const STATES = Object.keys(TASK_TRANSITIONS) as TaskState[];

describe('The states of a task', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  /** The words of a condition that it is true for. */
  const statesThat = async (constraint: string, isFinished: boolean): Promise<string[]> => {
    const text = 'select pg_get_expr(conbin, conrelid) as condition from pg_constraint where conname = $1';
    const { rows } = await bench.database.query<{ condition: string }>({ text, values: [constraint] });
    const condition = rows[0]?.condition ?? '';
    const words = [...new Set(condition.match(/\w+/g))];
    const found = await bench.database.query<{ state: string }>({
      text: `select state from unnest($1::text[]) as state, (values ($2::timestamptz)) as t(finished_at) where ${condition}`,
      values: [words, isFinished ? new Date() : null],
    });
    return found.rows.map(({ state }) => state);
  };

  it('match the states and the final states of the database', async () => {
    expect((await statesThat('task_state_known', false)).toSorted()).toEqual(STATES.toSorted());
    const finals = await statesThat('task_finished_when_final', true);
    expect(finals.toSorted()).toEqual(STATES.filter(isFinal).toSorted());
  });

  it('change only as listed: the test bench refuses any other transition', async () => {
    const taskId = await bench.submit();
    await expect(bench.change(taskId, `state = 'storing'`)).rejects.toThrow('may not go from queued to storing');
    await bench.claim(taskId);
    await expect(bench.row(taskId)).resolves.toMatchObject({ state: 'submitting' });
  });
});
