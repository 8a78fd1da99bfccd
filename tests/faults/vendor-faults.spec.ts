import { Readable } from 'node:stream';
import {
  MediaFailure,
  type MediaOrder,
  type MediaUpstream,
  type OperationState,
  type Started,
  type TaskView,
  type VendorCall,
} from '#contracts';
import { TasksNeedingAttentionService } from '#features';
import { eventually, pngSample } from '#testing';
import { PlainUpstream } from '#vendor-fakes';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const IMAGES = '/v1/images/generations';

/** A vendor whose behaviour each test sets. It counts what it takes. */
class ScriptedVendor extends PlainUpstream {
  override findableAfterMs = 300;
  override repeatStart: MediaUpstream['traits']['repeatStart'] = 'unknown';
  taken: string[] = [];
  /** Runs after an order was taken; what it throws is what the caller sees. */
  onTaken: () => void = () => undefined;
  /** Runs before an order is taken. */
  onAsked: () => void = () => undefined;
  checked: () => OperationState = () => DONE;
  cancel?: NonNullable<MediaUpstream['cancel']>;

  async start({ taskId }: MediaOrder): Promise<Started> {
    this.onAsked();
    this.taken.push(taskId);
    this.onTaken();
    return { kind: 'operation', operation: { task_id: taskId } };
  }

  async check(): Promise<OperationState> {
    return this.checked();
  }

  async find({ ticket: { taskId } }: VendorCall): Promise<Started | null> {
    const known = typeof taskId === 'string' && this.taken.includes(taskId);
    return known ? { kind: 'operation', operation: { task_id: taskId } } : null;
  }

  async open() {
    return Readable.from([pngSample({ width: 8, height: 8 })], { objectMode: false });
  }

  reset(): void {
    this.taken = [];
    this.onTaken = () => undefined;
    this.onAsked = () => undefined;
    this.checked = () => DONE;
    delete this.cancel;
  }
}

const DONE: OperationState = {
  state: 'succeeded',
  outputs: [{ role: 'output', contentType: 'image/png', url: 'scripted:image' }],
};

/** Fails the first `times` calls. */
function failing(times: number, error: () => Error): () => void {
  let left = times;
  return () => {
    left -= 1;
    if (left >= 0) throw error();
  };
}

describe('A task and the faults of its vendor', () => {
  const vendor = new ScriptedVendor();
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ vendor });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => vendor.reset());
  // What a test left open would meet the vendor of the next.
  afterEach(async () => {
    const text = 'update task set deadline_at = now() where finished_at is null returning id';
    await eventually(async () => (await gateway.database.query({ text })).rows.length === 0);
  });

  const stateOf = async (taskId: string) => {
    const { rows } = await gateway.database.query<{ state: string; failures: number; last_failure: string | null }>({
      text: 'select state, failures, last_failure from task where id = $1',
      values: [taskId],
    });
    return rows[0];
  };
  const until = async (taskId: string, holds: (row: Awaited<ReturnType<typeof stateOf>>) => boolean) => {
    let row: Awaited<ReturnType<typeof stateOf>>;
    await eventually(async () => holds((row = await stateOf(taskId))), { shows: () => JSON.stringify(row) });
  };

  it('never repeats an order whose response was lost, and releases the money at once', async () => {
    vendor.repeatStart = 'unknown';
    vendor.onTaken = failing(1, () => new MediaFailure('ambiguous', 'unanswered'));
    const taskId = await gateway.submit(IMAGES, IMAGE);
    expect(await gateway.waitForTask(taskId)).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_unknown' },
      usage: { amount: '0.000000', final: true },
    });
    expect(vendor.taken).toEqual([taskId]);
  });

  it('finds an order whose response was lost at a vendor with a search', async () => {
    vendor.repeatStart = 'lookup';
    vendor.onTaken = failing(1, () => new MediaFailure('ambiguous', 'unanswered'));
    const taskId = await gateway.submit(IMAGES, IMAGE);
    expect(await gateway.waitForTask(taskId)).toMatchObject({ status: 'completed' });
    expect(vendor.taken).toEqual([taskId]);
  });

  it('repeats an order only after the vendor had time to register it and did not', async () => {
    vendor.repeatStart = 'lookup';
    vendor.onAsked = failing(1, () => new MediaFailure('ambiguous', 'unanswered'));
    const began = Date.now();
    const taskId = await gateway.submit(IMAGES, IMAGE);
    expect(await gateway.waitForTask(taskId)).toMatchObject({ status: 'completed' });
    expect(vendor.taken).toEqual([taskId]);
    expect(Date.now() - began).toBeGreaterThan(vendor.findableAfterMs);
  });

  it('counts an unexpected error as lost, not as unsent', async () => {
    vendor.repeatStart = 'unknown';
    vendor.onTaken = failing(1, () => new TypeError('cannot read properties of undefined'));
    const taskId = await gateway.submit(IMAGES, IMAGE);
    expect(await gateway.waitForTask(taskId)).toMatchObject({ status: 'failed', error: { code: 'upstream_unknown' } });
    expect(vendor.taken).toEqual([taskId]);
  });

  it('does not call a busy vendor for the time it asks for, and counts no failure of the task', async () => {
    vendor.repeatStart = 'idempotent';
    const asked: number[] = [];
    const busy = failing(2, () => new MediaFailure('busy', 'busy', { retryAfterMs: 400 }));
    vendor.onAsked = () => {
      asked.push(Date.now());
      busy();
    };
    const taskId = await gateway.submit(IMAGES, IMAGE);
    expect(await gateway.waitForTask(taskId)).toMatchObject({ status: 'completed' });
    expect(await stateOf(taskId)).toMatchObject({ failures: 0 });
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(390);
  });

  it('gives up a task that fails repeatedly for a reason of ours, releases its money, and shows it to operators', async () => {
    vendor.repeatStart = 'idempotent';
    vendor.onAsked = failing(100, () => new TypeError('a bug of an adapter'));
    const taskId = await gateway.submit(IMAGES, IMAGE);
    const hasten = setInterval(() => {
      void gateway.database.query({
        text: `update task set lease_until = now() where lease_owner is null and lease_until > now()`,
      });
    }, 50);
    const task = await gateway.waitForTask(taskId).finally(() => clearInterval(hasten));
    expect(task).toMatchObject({ status: 'failed', error: { code: 'parked' }, usage: { amount: '0.000000' } });
    expect(JSON.stringify(task)).not.toContain('adapter');
    const { parked } = await new TasksNeedingAttentionService(gateway.database).list();
    expect(parked).toEqual([expect.objectContaining({ id: taskId, last_failure: 'a bug of an adapter' })]);
  });

  it('treats an unknown state as work in progress', async () => {
    vendor.repeatStart = 'idempotent';
    const answers = [{ state: 'contemplating' } as unknown, { state: 'pending', pollDelayMs: 20 }, DONE];
    vendor.checked = () => (answers.length > 1 ? answers.shift() : DONE) as OperationState;
    const taskId = await gateway.submit(IMAGES, IMAGE);
    expect(await gateway.waitForTask(taskId)).toMatchObject({ status: 'completed' });
  });

  it('reports that a vendor cannot cancel, and charges when it delivers', async () => {
    vendor.repeatStart = 'idempotent';
    vendor.checked = () => ({ state: 'pending', pollDelayMs: 50 });
    const taskId = await gateway.submit(IMAGES, IMAGE);
    await until(taskId, (row) => row?.state === 'running');
    const { status, body } = await gateway.send('POST', `/v1/tasks/${taskId}/cancel`);
    expect([status, body['message']]).toEqual([409, expect.stringMatching(/cannot stop work.*charged if it succeeds/)]);
    vendor.checked = () => DONE;
    expect(await gateway.waitForTask(taskId)).toMatchObject({
      status: 'completed',
      usage: { amount: '0.035000' },
      cancellation: { outcome: 'unsupported' },
    });
  });

  it('carries out a cancellation that came while the order was being sent', async () => {
    vendor.repeatStart = 'lookup';
    vendor.cancel = () => Promise.resolve('cancelled');
    vendor.onTaken = failing(1, () => new MediaFailure('ambiguous', 'unanswered'));
    vendor.checked = () => ({ state: 'pending', pollDelayMs: 50 });
    const taskId = await gateway.submit(IMAGES, IMAGE);
    await until(taskId, (row) => row?.last_failure === 'The vendor did not say whether it accepted the order.');
    const { status, body } = await gateway.send<{ data: TaskView }>('POST', `/v1/tasks/${taskId}/cancel`);
    expect([status, body.data.status, body.data.usage.amount]).toEqual([200, 'cancelled', '0.000000']);
  });
});
