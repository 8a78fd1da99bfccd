import { eventually } from '#testing';
import { DeadlineKeeper } from './deadline-keeper.js';
import { MediaUpstreams } from '../../media-upstreams/media-upstreams.js';
import { FakeVendor } from './testing/fake-vendor.js';
import { ScriptedUpstream } from './testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** The stored type is read from the bytes, whatever the vendor calls it, so each type is a possible key. */
const TYPES = ['png', 'jpg', 'webp', 'gif', 'mp4', 'mov'];

describe('The deadline of a task', () => {
  let bench: TaskBench;
  let keeper: DeadlineKeeper;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
    keeper = new DeadlineKeeper('image', bench.transitions, bench.settlement, bench.upstreams);
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
    keeper = new DeadlineKeeper('image', bench.transitions, bench.settlement, bench.upstreams);
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
    keeper = new DeadlineKeeper('image', bench.transitions, bench.settlement, MediaUpstreams.of(upstream));
    keeper.start();
    expect(await ended(taskId)).toBe('failed');
    const { rows } = await bench.database.query<{ store_key: string }>({
      text: 'select store_key from task_file where task_id = $1',
      values: [taskId],
    });
    const keys = [0, 1].flatMap((ordinal) => TYPES.map((type) => `media/${taskId}/${ordinal}.${type}`));
    expect(rows.map(({ store_key: key }) => key)).toEqual(keys);
  });
});
