import { DeadlineKeeper } from './deadline-keeper.js';
import { FakeVendor } from './testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

describe('The deadline of a task', () => {
  let bench: TaskBench;
  let keeper: DeadlineKeeper;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
    keeper = new DeadlineKeeper('image', bench.moves, bench.settlement, bench.providers);
  });
  afterEach(() => keeper.stop());
  afterAll(() => bench.close());

  async function ended(taskId: string): Promise<string> {
    for (let turn = 0; turn < 200; turn += 1) {
      const { state } = await bench.row(taskId);
      if (state === 'failed') return state;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return (await bench.row(taskId)).state;
  }

  it('ends a task that lay there for a whole month, and gives its hold back', async () => {
    const taskId = await bench.submit();
    await bench.change(taskId, `created_at = now() - interval '30 days', deadline_at = now() - interval '29 days'`);
    keeper.start();
    expect(await ended(taskId)).toBe('failed');
    expect(await bench.entries(taskId)).toEqual(['hold', 'release']);
  });
});
