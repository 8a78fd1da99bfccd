import { MediaFailure } from '#contracts';
import { configureLog } from '#platform';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { attempt, order } from './testing/order-tasks.js';
import { ScriptedUpstream } from './testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from './testing/task-bench.js';

type Line = Record<string, unknown>;

describe('The log of an order whose vendor refuses the key', () => {
  const upstreams = new MediaUpstreams();
  const lines: Line[] = [];
  let bench: TaskBench;
  let taskId: string;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
    const upstream = new ScriptedUpstream('wrong-key');
    const vendor = { status: 401, code: 'AuthenticationError', message: 'a sentence of the vendor' };
    upstream.onStart = () => Promise.reject(new MediaFailure('unfit', 'wrong_key', { vendor }));
    upstreams.exchange([upstream.routed()]);
    configureLog({ LOG_LEVEL: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Line) }, 'video-worker');
    [taskId] = await order(bench);
    await attempt(bench, taskId);
  });
  afterAll(() => bench.close());

  const linesOf = (event: string): Line[] =>
    lines.filter((line) => line['event'] === event && line['taskId'] === taskId);

  it('names the upstream, the kind of failure and the status of the vendor, without its message', () => {
    const [line] = linesOf('upstream.start_failed');
    expect(line).toMatchObject({
      upstream: 'wrong-key',
      attempt: 1,
      why: 'wrong_key',
      status: 401,
      code: 'AuthenticationError',
    });
    expect(JSON.stringify(lines)).not.toContain('a sentence of the vendor');
  });

  it('states why it waits and for how long, and never that the vendor is busy', async () => {
    const waits = linesOf('task.waiting');
    expect(waits.map(({ reason }) => reason)).toEqual([
      'The vendor does not serve this model at present.',
      'Every upstream of this model is closed for now: it cools down after failures, or was asked to wait.',
    ]);
    expect(waits[1]).toMatchObject({ accountId: expect.any(String) as string, model: expect.any(String) as string });
    expect(Number(waits[1]?.['waitMs'])).toBeGreaterThan(60_000);
    expect(await bench.row(taskId)).toMatchObject({ last_failure: waits[1]?.['reason'] });
  });
});
