import { signals } from '#platform';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { order, orderTogether } from '../run/testing/order-tasks.js';
import { ScriptedUpstream } from '../run/testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

describe('A vendor that gives two orders one name', () => {
  const upstreams = new MediaUpstreams();
  let bench: TaskBench;
  let vendor: ScriptedUpstream;
  let round = 0;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
  });
  afterAll(() => bench.close());
  beforeEach(() => {
    round += 1;
    vendor = new ScriptedUpstream(`vendor-${round}`);
    vendor.onName = () => 'the-one-job';
    upstreams.exchange([vendor.routed()]);
  });

  const mixedUp = async (): Promise<number> => {
    const { values } = await signals.mediaOrders.get();
    return values
      .filter(({ labels }) => labels.upstream === vendor.id && labels.outcome === 'mixed_up')
      .reduce((sum, { value }) => sum + value, 0);
  };

  it('hands the files of the first to no other task: the second fails, and its money is given back', async () => {
    const [first, firstState] = await order(bench);
    const [second, secondState] = await order(bench);
    expect([firstState, secondState]).toEqual(['running', 'failed']);
    expect(await bench.row(second)).toMatchObject({
      error_code: 'upstream_error',
      charged_micros: 0n,
      operation: null,
    });
    expect(await bench.entries(second)).toEqual(['hold', 'release']);
    expect(await bench.entries(first)).toEqual(['hold']);
    expect(await mixedUp()).toBe(1);
  });

  it('gives the files to one of both when both are answered at once', async () => {
    const states = await orderTogether(bench, 4);
    expect(states.toSorted()).toEqual(['failed', 'failed', 'failed', 'running']);
    expect(await mixedUp()).toBe(3);
  });

  it('is distinguished from another account of the same vendor, whose names may be the same', async () => {
    const other = new ScriptedUpstream(`other-${round}`);
    other.onName = vendor.onName;
    const [, firstState] = await order(bench);
    upstreams.exchange([other.routed()]);
    const [, secondState] = await order(bench);
    expect([firstState, secondState]).toEqual(['running', 'running']);
  });

  it('is also detected by the second upstream of its vendor account', async () => {
    const other = new ScriptedUpstream(`other-${round}`, vendor.vendorAccount);
    other.onName = vendor.onName;
    await order(bench);
    upstreams.exchange([other.routed()]);
    const [, state] = await order(bench);
    expect(state).toBe('failed');
  });
});
