import { startAdminGateway, type AdminGateway } from '../harness/admin-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

/** A task id that does not exist. */
const UNKNOWN_TASK = 'task_00000000000000000000000000';

describe('The data of an account', () => {
  let api: AdminGateway;
  let owner: string;
  let stranger: string;
  beforeAll(async () => {
    api = await startAdminGateway();
    const newKey = async () => (await api.newKey((await api.newAccount({ unlimited: true })).id)).key;
    [owner, stranger] = [await newKey(), await newKey()];
  });
  afterAll(() => api.gateway.stop());

  const send = <Body>(key: string, method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    api.gateway.send<Body>(method, path, body, { authorization: `Bearer ${key}`, ...more });
  const submit = async (key: string, more: Record<string, string> = {}): Promise<string> =>
    (await send<{ data: [{ task_id: string }] }>(key, 'POST', '/v1/images/generations', IMAGE, more)).body.data[0]
      .task_id;

  it('is not found by another account: a task, its events, its batch and its cancellation', async () => {
    const task = await submit(owner);
    const responsesFor = async (id: string) => {
      const answers = [];
      for (const [method, path] of [
        ['GET', `/v1/tasks/${id}`],
        ['GET', `/v1/tasks/${id}?wait=1`],
        ['GET', `/v1/tasks/${id}/events`],
        ['POST', `/v1/tasks/${id}/cancel`],
      ] as const) {
        const { status, body } = await send(stranger, method, path);
        answers.push([
          path.replace(id, ''),
          status,
          JSON.stringify(body)
            .replaceAll(id, '')
            .replaceAll(/req_\w+/g, ''),
        ]);
      }
      return answers;
    };
    expect((await send(owner, 'GET', `/v1/tasks/${task}`)).status).toBe(200);
    const nothing = await responsesFor(UNKNOWN_TASK);
    expect(nothing.map(([, status]) => status)).toEqual([404, 404, 404, 404]);
    expect(await responsesFor(task)).toEqual(nothing);
    const batch = await send(stranger, 'POST', '/v1/tasks/batch', { task_ids: [task] });
    expect(batch.body).toMatchObject({ data: [], not_found: [task] });
    expect((await send<{ data: object[] }>(stranger, 'GET', '/v1/tasks')).body.data).toEqual([]);
  });

  it('is not shared through an Idempotency-Key that both use', async () => {
    const headers = { 'idempotency-key': 'one-of-both' };
    const [theirs, mine] = [await submit(owner, headers), await submit(stranger, headers)];
    expect(mine).not.toBe(theirs);
    expect([await submit(owner, headers), await submit(stranger, headers)]).toEqual([theirs, mine]);
  });

  it('is neither read, deleted nor continued when it is a stored response', async () => {
    const order = { model: 'vendor-5', input: 'Remember this', store: true };
    const { body } = await send<{ id: string }>(owner, 'POST', '/v1/responses', order);
    const path = `/v1/responses/${body.id}`;
    expect((await send(owner, 'GET', path)).status).toBe(200);
    const calls = [
      ['GET', path],
      ['GET', `${path}?stream=true`],
      ['GET', `${path}/input_items`],
      ['POST', `${path}/cancel`],
      ['DELETE', path],
    ] as const;
    for (const [method, where] of calls)
      expect([method, where, (await send(stranger, method, where)).status]).toEqual([method, where, 404]);
    const goOn = { model: 'vendor-5', input: 'What was it?', previous_response_id: body.id };
    expect((await send(stranger, 'POST', '/v1/responses', goOn)).status).toBe(400);
    expect((await send(stranger, 'POST', '/v1/responses/compact', goOn)).status).toBe(400);
    expect((await send(owner, 'POST', '/v1/responses', goOn)).status).toBe(200);
  });

  it('is not in the usage, the records or the webhook settings of another', async () => {
    const { body: secrets } = await send<{ data: { secret: string } }>(owner, 'GET', '/v1/webhooks/signing-secret');
    for (const path of ['/v1/usage', '/v1/usage/records', '/v1/webhooks/endpoints', '/v1/webhooks/deliveries']) {
      const fresh = (await api.newKey((await api.newAccount({ unlimited: true })).id)).key;
      expect([path, (await send<{ data: object[] }>(fresh, 'GET', path)).body.data]).toEqual([path, []]);
    }
    const { body: others } = await send<{ data: { secret: string } }>(stranger, 'GET', '/v1/webhooks/signing-secret');
    expect(others).not.toEqual(secrets);
  });
});
