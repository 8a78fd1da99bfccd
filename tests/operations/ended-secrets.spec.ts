import { KEY_CACHE_MS } from '#features';
import { eventually } from '#testing';
import { consoleClient } from '../harness/console-client.js';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

interface Made {
  readonly id: string;
  readonly key: string;
}

describe('What a secret of a key has opened', () => {
  let gateway: TestGateway;
  let accountId: string;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN } });
    accountId = (await admin<{ id: string }>('/accounts', { name: 'rotating' })).id;
    await admin(`/accounts/${accountId}/top-ups`, { amount: '10', reason: 'test' });
    await gateway.database.query({
      text: 'update account set unlimited = true where id = $1',
      values: [accountId],
    });
  });
  afterAll(() => gateway.stop());

  async function admin<Data>(path: string, body: object, method = 'POST'): Promise<Data> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    return (await gateway.send<{ data: Data }>(method, `/admin/v1${path}`, body, headers)).body.data;
  }
  const newKey = (): Promise<Made> => admin<Made>(`/accounts/${accountId}/keys`, { name: 'key' });
  const rotate = ({ id }: Made, seconds: number): Promise<Made> =>
    admin<Made>(`/keys/${id}/rotate`, { overlap_seconds: seconds });

  async function signIn(key: string): Promise<() => Promise<number>> {
    const page = consoleClient(gateway);
    expect((await page.call('POST /sign-in/key', { key })).status).toBe(200);
    return async () => (await page.call('GET /session')).status;
  }

  it('in the console ends at once with a rotation without overlap', async () => {
    const made = await newKey();
    const session = await signIn(made.key);
    expect(await session()).toBe(200);
    const next = await rotate(made, 0);
    expect(await session()).toBe(401);
    expect(await (await signIn(next.key))()).toBe(200);
  });

  it('in the console ends with the overlap, and with the second rotation', async () => {
    const made = await newKey();
    const first = await signIn(made.key);
    const second = await rotate(made, 3_600);
    const session = await signIn(second.key);
    expect([await first(), await session()]).toEqual([200, 200]);
    await gateway.database.query({
      text: `update api_key set previous_valid_until = now() where id = $1`,
      values: [made.id],
    });
    expect([await first(), await session()]).toEqual([401, 200]);
    await rotate(made, 3_600);
    expect([await first(), await session()]).toEqual([401, 200]);
    await rotate(made, 3_600);
    expect(await session()).toBe(401);
  });

  it('in the console ends with the account', async () => {
    const made = await newKey();
    const session = await signIn(made.key);
    const disable = (disabled: boolean) =>
      gateway.database.query({
        text: `update account set disabled_at = case when $2 then now() end where id = $1`,
        values: [accountId, disabled],
      });
    await disable(true);
    expect(await session()).toBe(401);
    await disable(false);
  });

  /** Ends or narrows the key while the answer waits, and lets the task change once that has reached everybody. */
  async function meanwhile(taskId: string, change: () => Promise<unknown>, key: string): Promise<void> {
    await change();
    await eventually(
      async () =>
        (await gateway.send('GET', `/v1/tasks/${taskId}`, undefined, { authorization: `Bearer ${key}` })).status !==
        200,
      { limitMs: KEY_CACHE_MS + 10_000 },
    );
    await gateway.database.query({
      text: `update task set deadline_at = now() where id = $1`,
      values: [taskId],
    });
  }

  it.each<[string, (made: Made) => Promise<unknown>, number, string]>([
    ['rotated without overlap', (made) => rotate(made, 0), 401, 'invalid_api_key'],
    [
      'narrowed to other scopes',
      (made) => admin(`/keys/${made.id}`, { scopes: ['usage'] }, 'PATCH'),
      403,
      'permission_denied',
    ],
  ])('tells a wait and a stream nothing more of a task when the key is %s', async (_how, change, status, code) => {
    const made = await newKey();
    const headers = { authorization: `Bearer ${made.key}` };
    const { body } = await gateway.send<{ data: [{ task_id: string }] }>(
      'POST',
      '/v1/images/generations',
      IMAGE,
      headers,
    );
    const taskId = body.data[0].task_id;
    const events = fetch(`${gateway.baseUrl}/v1/tasks/${taskId}/events`, { headers }).then((answer) => answer.text());
    const wait = gateway.send('GET', `/v1/tasks/${taskId}?wait=30`, undefined, headers);
    await meanwhile(taskId, () => change(made), made.key);
    const cancelled = await admin<object>(`/tasks/${taskId}/cancel`, { reason: 'test' });
    expect(cancelled).toBeDefined();
    expect(await wait).toMatchObject({ status, body: { error: { code } } });
    const told = await events;
    expect(told).toContain(code);
    expect(told).not.toContain('task.cancelled');
  });
});
