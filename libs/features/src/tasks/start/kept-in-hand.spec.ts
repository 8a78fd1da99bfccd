import { eventually } from '#testing';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { AdmissionController } from './admission-controller.js';
import { createTaskSteps } from '../run/testing/create-task-steps.js';
import { order } from '../run/testing/order-tasks.js';
import { ScriptedUpstream } from '../run/testing/scripted-upstream.js';
import { openTaskBench, type TaskBench } from '../run/testing/task-bench.js';

describe('An order that comes too early for the rate of starts of its upstream', () => {
  const upstreams = new MediaUpstreams();
  let slow: ScriptedUpstream;
  let bench: TaskBench;
  let early: string;
  let round = 0;
  beforeAll(async () => {
    bench = await openTaskBench(upstreams);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    slow = new ScriptedUpstream(`slow-${(round += 1)}`);
    upstreams.exchange([slow.routed({ limits: { startsPerMinute: 1 } })]);
    await order(bench);
    early = await bench.submit();
  });

  /** A worker's step with the early order, once it only waits. */
  async function waiting(admissions: AdmissionController): Promise<{ readonly over: Promise<void> }> {
    const { start } = createTaskSteps(bench.platform, { ...bench, leaseMs: 60_000, admissions });
    let isReleased = false;
    const slot = {
      releaseSlot: () => (isReleased = true),
      outsideSlot: () => Promise.reject(new Error('it has no files')),
    };
    const over = start.run(await bench.claim(early), new AbortController().signal, slot);
    await eventually(() => isReleased);
    return { over };
  }
  const controller = () => new AdmissionController(upstreams, bench.circuits, bench.limits);

  it('is kept in hand, while its worker claims no other for that upstream', async () => {
    const admissions = controller();
    const { over } = await waiting(admissions);
    expect((await admissions.claimLimits('image')).closed).toContain('eta-image-2.0');
    expect(await bench.row(early)).toMatchObject({ state: 'submitting', start_intent_at: null, attempt: 1 });
    expect(slow.taken).toHaveLength(1);
    admissions.releaseHeld();
    await over;
  });

  it('is handed over in the same attempt when its upstreams change', async () => {
    const other = new ScriptedUpstream(`other-${round}`);
    const { over } = await waiting(controller());
    upstreams.exchange([other.routed()]);
    await over;
    expect([slow.taken.length, other.taken]).toEqual([1, [early]]);
    expect(await bench.row(early)).toMatchObject({ state: 'running', attempt: 1 });
  });

  it('is given back at once by a process that is about to stop', async () => {
    const admissions = controller();
    const { over } = await waiting(admissions);
    admissions.stop();
    await over;
    expect(await bench.row(early)).toMatchObject({ state: 'queued', failures: 0, lease_owner: null });
    expect(slow.taken).toHaveLength(1);
  });

  it('goes back to the queue when its worker lets go, and is kept in hand again when it is claimed again', async () => {
    const admissions = controller();
    for (let turn = 1; turn <= 2; turn += 1) {
      const { over } = await waiting(admissions);
      admissions.releaseHeld();
      await over;
      expect(await bench.row(early)).toMatchObject({ state: 'queued', attempt: turn });
    }
  });
});
