import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { startAdminGateway, type AdminGateway } from '../../../../tests/harness/admin-gateway.js';
import type { TestGateway } from '../../../../tests/harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const FAILING = { ...IMAGE, prompt: '[sandbox:fail=upstream_error]' };
const IMAGES = '/v1/images/generations';

interface Found {
  readonly id: string;
  readonly status: string;
  readonly request_id: string;
  readonly api_key_id: string;
  readonly vendor_ids: JsonObject;
}

describe('Actions of operators on tasks', () => {
  let api: AdminGateway;
  let gateway: TestGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
    gateway = api.gateway;
  });
  afterAll(() => gateway.stop());

  const find = async (query: string): Promise<string[]> =>
    (await api.admin<Found[]>('GET', `/tasks?${query}`)).body.data.map(({ id }) => id);
  async function submitAndWait(body: object): Promise<string> {
    const taskId = await gateway.submit(IMAGES, body);
    await gateway.waitForTask(taskId);
    return taskId;
  }
  async function balance(): Promise<{ available: bigint; used: bigint; keyUsed: bigint }> {
    const { rows } = await gateway.database.query<{ available: bigint; used: bigint; keyUsed: bigint }>({
      text: `select a.available_micros as available, a.used_micros as used,
        (select sum(used_micros)::bigint from api_key where account_id = a.id) as "keyUsed" from account a where id = $1`,
      values: [gateway.accountId],
    });
    if (!rows[0]) throw new Error('there is no account');
    return rows[0];
  }
  const balanced = async (): Promise<unknown> => (await api.admin('POST', '/reconciliations?full=true', {})).body.data;

  it('finds a task by each of its identifiers, and no other', async () => {
    const taskId = await submitAndWait(IMAGE);
    const other = await submitAndWait({ ...IMAGE, model: 'eta-image-2.0-pro' });
    await gateway.database.query({
      text: `update task set operation = '{"job": {"id": "job-\\"17"}, "region": "eu"}' where id = $1`,
      values: [taskId],
    });
    await gateway.database.query({
      text: `insert into task_call (task_id, attempt, upstream, vendor_account, started_at, ended_at, outcome, vendor_request_id)
        values ($1, 1, 'it', 'it', now(), now(), 'taken', 'req/17')`,
      values: [taskId],
    });
    const { body } = await api.admin<Found[]>('GET', `/tasks?task_id=${taskId}`);
    const [task] = body.data;
    expect(task?.vendor_ids).toEqual({ region: 'eu' });
    const vendors = [`vendor_id=${encodeURIComponent('job-"17')}`, `vendor_request_id=${encodeURIComponent('req/17')}`];
    for (const query of [`request_id=${task?.request_id}`, ...vendors]) {
      expect([query, await find(query)]).toEqual([query, [taskId]]);
    }
    for (const query of [
      `account_id=${gateway.accountId}`,
      `api_key_id=${task?.api_key_id}`,
      'status=completed',
      'state=completed&type=image',
      'created_from=2020-01-01T00:00:00Z',
    ]) {
      expect(await find(query)).toEqual(expect.arrayContaining([taskId, other]));
    }
    expect(await find('model=eta-image-2.0')).not.toContain(other);
    for (const query of [
      'account_id=acct_other',
      'created_to=2020-01-01T00:00:00Z',
      'status=cancelled',
      'vendor_id=x"y',
      'vendor_request_id=req',
    ]) {
      expect([query, await find(query)]).toEqual([query, []]);
    }
    expect(await api.admin('GET', '/tasks?statu=failed')).toMatchObject({ status: 400 });
  });

  it('lists open and ended tasks page by page, each once', async () => {
    await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:delay=60000]' });
    await submitAndWait(IMAGE);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const path: string = `/tasks?limit=1${cursor && `&cursor=${cursor}`}`;
      const { body } = await api.admin<Found[]>('GET', path);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.next_cursor ?? null;
    }
    const { rows } = await gateway.database.query<{ id: string }>({ text: 'select id from task order by id desc' });
    expect(seen).toEqual(rows.map(({ id }) => id));
  });

  it('shows the whole history of a task', async () => {
    const taskId = await submitAndWait({ ...IMAGE, prompt: '[sandbox:flaky=1]' });
    const { body } = await api.admin<{ timeline: { event: string }[]; entries: object[]; usage: object[] }>(
      'GET',
      `/tasks/${taskId}`,
    );
    const events = body.data.timeline.map(({ event }) => event);
    expect(events).toEqual(
      expect.arrayContaining([
        'submitted',
        'ledger.hold',
        'first_claimed',
        'call.unavailable',
        'running',
        'produced',
        'completed',
      ]),
    );
    expect(events.indexOf('call.unavailable')).toBeLessThan(events.indexOf('running'));
    expect(body.data).toMatchObject({
      entries: [{ kind: 'hold' }, { kind: 'capture' }],
      usage: [{ amount: '0.035000' }],
    });
    expect(JSON.stringify(body)).not.toContain('sandbox:flaky');
    expect((await api.admin('GET', '/tasks/task_00000000000000000000000000')).status).toBe(404);
  });

  it('says of a task that went well at the first try that no try failed', async () => {
    const taskId = await submitAndWait(IMAGE);
    const { body } = await api.admin<{ task: { failures: number; attempt: number } }>('GET', `/tasks/${taskId}`);
    expect(body.data.task.failures).toBe(0);
  });

  it('cancels the task of a customer', async () => {
    const taskId = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:delay=60000]' });
    const answer = await api.admin('POST', `/tasks/${taskId}/cancel`, { reason: 'asked by mail' });
    expect(answer).toMatchObject({ status: 200, body: { data: { status: 'cancelled' } } });
    const audit = await api.admin('GET', `/audit?subject_id=${taskId}`);
    expect(audit.body.data).toMatchObject([{ action: 'task.cancel_requested', actor: 'finance@example.com' }]);
  });

  it('refunds in parts, once for each reference and never more than was charged', async () => {
    const taskId = await submitAndWait(IMAGE);
    const before = await balance();
    const refund = (body: object) => api.admin('POST', `/tasks/${taskId}/refund`, { reason: 'blurred', ...body });
    expect(await refund({ amount: '0.035001', reference: 'r-0' })).toMatchObject({ status: 409 });
    expect(await refund({ amount: '-0.01', reference: 'r-0' })).toMatchObject({ status: 409 });
    expect((await refund({ amount: '0.01', reference: 'r-1' })).body.data).toMatchObject({
      amount: '0.010000',
      refunded: '0.010000',
      charged: '0.035000',
      replayed: false,
    });
    expect((await refund({ amount: '0.01', reference: 'r-1' })).body.data).toMatchObject({ replayed: true });
    expect(await refund({ amount: '0.02', reference: 'r-1' })).toMatchObject({ status: 409 });
    // All that is left, by many hands at once.
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((hand) => refund({ reference: `r-${hand}` })));
    expect(all.map(({ status }) => status).toSorted((first, second) => first - second)).toEqual([200, 409, 409, 409]);
    const after = await balance();
    expect(after).toEqual({
      available: before.available + 35_000n,
      used: before.used - 35_000n,
      keyUsed: before.keyUsed - 35_000n,
    });
    expect(await balanced()).toMatchObject({ balanced: true, findings: [] });
    const ledger = await api.admin('GET', `/ledger?task_id=${taskId}`);
    expect(ledger.body.data).toMatchObject([
      { kind: 'refund', debit: 'revenue', credit: 'available', note: 'blurred' },
      { kind: 'refund', amount: '0.010000', reference: 'r-1' },
      { kind: 'capture' },
      { kind: 'hold' },
    ]);
  });

  it('refunds nothing for a task that was not charged', async () => {
    const taskId = await submitAndWait(FAILING);
    const answer = await api.admin('POST', `/tasks/${taskId}/refund`, { reference: 'r-2', reason: 'x' });
    expect(answer).toMatchObject({
      status: 409,
      body: { error: { param: 'amount', message: 'The task was not charged: there is nothing to refund.' } },
    });
  });

  it('redrives a failed task once, as a new task with a hold of its own', async () => {
    const taskId = await submitAndWait(FAILING);
    await gateway.database.query({
      text: `update task set parameters = jsonb_set(parameters, '{prompt}', '"a lighthouse"') where id = $1`,
      values: [taskId],
    });
    const redrive = () => api.admin<{ new_task_id: string }>('POST', `/tasks/${taskId}/redrive`, { reason: 'fixed' });
    const made = await Promise.all([redrive(), redrive()]);
    const [newTaskId = ''] = new Set(made.map(({ body }) => body.data.new_task_id));
    expect(made.map(({ body }) => body.data.new_task_id)).toEqual([newTaskId, newTaskId]);
    expect(await gateway.waitForTask(newTaskId)).toMatchObject({ status: 'completed' });
    const { body } = await api.admin<{ task: object }>('GET', `/tasks/${newTaskId}`);
    expect(body.data).toMatchObject({ task: { redrive_of: taskId }, entries: [{ kind: 'hold' }, { kind: 'capture' }] });
    expect((await api.admin('POST', `/tasks/${newTaskId}/redrive`, {})).status).toBe(409);
    expect(await balanced()).toMatchObject({ balanced: true });
  });

  it('redrives nothing whose inline files are not kept any more', async () => {
    const taskId = await submitAndWait(FAILING);
    await gateway.database.query({
      text: `update task set parameters = parameters || '{"image_urls":[{"long_text":0,"characters":90000}]}' where id = $1`,
      values: [taskId],
    });
    expect(await api.admin('POST', `/tasks/${taskId}/redrive`, {})).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('inline files') } },
    });
    expect(await balanced()).toMatchObject({ balanced: true });
  });

  it('redrives nothing that the account cannot pay for', async () => {
    const { id } = await api.newAccount();
    const { key } = await api.newKey(id);
    await api.admin('POST', `/accounts/${id}/top-ups`, { amount: '0.035', reference: 'first' });
    const sent = await api.withKey<{ data: { task_id: string }[] }>(key, IMAGES, 'POST', FAILING);
    const taskId = sent.body.data[0]?.task_id ?? '';
    await untilEnded(taskId);
    await api.admin('POST', `/accounts/${id}/adjustments`, { amount: '-0.01', reference: 'second' });
    const redrive = () => api.admin('POST', `/tasks/${taskId}/redrive`, {});
    expect(await redrive()).toMatchObject({ status: 402, body: { error: { code: 'insufficient_balance' } } });
    await api.admin('POST', `/accounts/${id}/top-ups`, { amount: '10', reference: 'third' });
    await api.admin('PATCH', `/accounts/${id}`, { daily_limit: '0.01' });
    expect(await redrive()).toMatchObject({ status: 402, body: { error: { code: 'spend_limit_reached' } } });
    expect((await api.admin('GET', `/tasks/${taskId}`)).body.data).toMatchObject({ task: { redriven_as: null } });
  });

  const untilEnded = (taskId: string): Promise<boolean> =>
    eventually(async () => {
      const { body } = await api.admin<{ task: { finished_at: string | null } }>('GET', `/tasks/${taskId}`);
      return body.data.task.finished_at !== null;
    });

  it('shows the webhook deliveries of all accounts, and sends one again', async () => {
    const taskId = await submitAndWait(IMAGE);
    const url = 'http://127.0.0.1:1/hook';
    await gateway.database.query({
      text: `insert into webhook_delivery (id, account_id, task_id, event_type, url, payload, state, finished_at)
        values ('msg_spec', $1, $2, 'task.completed', $3, '{}', 'failed', now())`,
      values: [gateway.accountId, taskId, url],
    });
    const listed = await api.admin('GET', `/webhooks/deliveries?status=failed&account_id=${gateway.accountId}`);
    expect(listed.body.data).toMatchObject([{ id: 'msg_spec', task_id: taskId, status: 'failed' }]);
    expect((await api.admin('GET', '/webhooks/deliveries?account_id=acct_other')).body.data).toEqual([]);
    const again = await api.admin('POST', '/webhooks/deliveries/msg_spec/redeliver');
    expect(again.body.data).toMatchObject({ id: 'msg_spec', status: 'pending' });
    expect((await api.admin('POST', '/webhooks/deliveries/msg_none/redeliver')).status).toBe(404);
  });

  it('shows the workers, their uptime and their tasks', async () => {
    await eventually(async () => (await api.admin<object[]>('GET', '/workers')).body.data.length === 3);
    const { body } = await api.admin('GET', '/workers');
    const worker = { status: 'live', version: expect.any(String), last_heartbeat_at: expect.any(String) };
    expect(body.data).toMatchObject([
      { ...worker, role: 'image-worker', tasks_in_hand: expect.any(Number), concurrency: 16 },
      { ...worker, role: 'maintenance-worker', concurrency: null },
      { ...worker, role: 'video-worker' },
    ]);
  });
});
