import type { JsonObject } from '#contracts';
import { configureLog } from '#platform';
import { eventually } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest } from '../harness/text-vendor/text-requests.js';
import { TEST_KEY } from '../harness/test-gateway.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const SAID = {
  'x-session-id': 'session-secret-1',
  'thread-id': 'planner',
  'x-end-user-id': 'ada',
  'x-tags': 'team:a,run',
};

describe('What clients say of their text requests', () => {
  let gateway: TextGateway;
  const written: string[] = [];
  beforeAll(async () => {
    gateway = await startTextGateway({ ADMIN_TOKEN });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    written.length = 0;
    configureLog({ LOG_LEVEL: 'debug' }, { write: (line) => void written.push(line) });
  });

  const admin = (method: string, path: string, body?: unknown) =>
    gateway.send<{ data: JsonObject & readonly JsonObject[] }>(method, `/admin/v1${path}`, body, {
      authorization: `Bearer ${ADMIN_TOKEN}`,
    });
  const rows = async (path: string): Promise<JsonObject[]> =>
    (await gateway.send<{ data: JsonObject[] }>('GET', path)).body.data;

  async function ask(style: (typeof STYLES)[number], stream: boolean, headers = {}, body = {}): Promise<void> {
    const request = textRequest(style, { key: TEST_KEY, model: MODEL_OVER[style], stream });
    const response = await fetch(`${gateway.baseUrl}${request.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...request.headers, ...headers },
      body: JSON.stringify({ ...request.body, ...body }),
    });
    const text = await response.text();
    expect({ status: response.status, text: response.status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
    await gateway.settled();
  }

  it.each(STYLES.flatMap((style) => [[style, false] as const, [style, true] as const]))(
    'stands in its record, its ledger lines and exports, and in no log line: %s, streamed: %s',
    async (style, stream) => {
      const session = `session-secret-${style}-${stream}`;
      await ask(style, stream, { ...SAID, 'x-session-id': session });
      const said = { session, agent: 'planner', end_user: 'ada', tags: ['team:a', 'run'] };
      const records = await rows(`/v1/usage/records?session=${session}`);
      expect(records).toEqual([expect.objectContaining(said)]);
      const requestId = records[0]?.['request_id'] as string;
      const [entry] = await rows(`/v1/ledger?request_id=${requestId}`);
      expect(entry?.['usage']).toMatchObject(said);
      const csv = await fetch(`${gateway.baseUrl}/v1/usage/records?format=csv&session=${session}`, {
        headers: { authorization: `Bearer ${TEST_KEY}` },
      });
      expect(await csv.text()).toContain(`${session},planner,ada`);
      expect(written.join('')).toContain(requestId);
      expect(written.join('')).not.toContain('session-secret');
    },
  );

  it('is read from the fields that each style has for it', async () => {
    await ask('chat', false, {}, { user: 'body-user', prompt_cache_key: 'body-chat', metadata: { tags: 'one,two' } });
    await ask('responses', false, {}, { safety_identifier: 'body-safe', prompt_cache_key: 'body-responses' });
    await ask('messages', false, {}, { metadata: { user_id: 'body-person' } });
    const [chat] = await rows('/v1/usage/records?session=body-chat');
    expect(chat).toMatchObject({ end_user: 'body-user', tags: ['one', 'two'] });
    expect(await rows('/v1/usage/records?session=body-responses')).toMatchObject([{ end_user: 'body-safe' }]);
    expect(await rows('/v1/usage/records?end_user=body-person')).toMatchObject([{ session: null, tags: null }]);
  });

  it('is left out where it breaks a bound, and the request is answered', async () => {
    const headers = { 'x-session-id': 'x'.repeat(257), 'x-end-user-id': 'y'.repeat(129), 'x-tags': 'no blanks here,ü' };
    await ask('chat', false, headers);
    const [record] = await rows('/v1/usage/records?limit=1');
    expect(record).toMatchObject({ session: null, agent: null, end_user: null, tags: null });
  });

  it('narrows records page by page, and sums by tag with the tags of the key, which no request takes away', async () => {
    const keys = await admin('GET', `/accounts/${gateway.accountId}/keys`);
    const keyId = keys.body.data.at(-1)?.['id'] as string;
    expect((await admin('PATCH', `/keys/${keyId}`, { tags: ['bad tag'] })).status).toBe(400);
    const changed = await admin('PATCH', `/keys/${keyId}`, { tags: ['of-the-key'] });
    expect(changed.body.data['tags']).toEqual(['of-the-key']);
    await eventually(async () => {
      await ask('chat', false, { 'x-session-id': 'until-known' });
      return (await rows('/v1/usage/records?session=until-known&tag=of-the-key')).length > 0;
    });
    for (let turn = 0; turn < 5; turn += 1) await ask('chat', false, { 'x-session-id': 'paged', 'x-tags': 'paged' });
    const found: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `/v1/usage/records?tag=paged&limit=2${cursor && `&cursor=${cursor}`}`;
      const page = await gateway.send<{ data: JsonObject[]; next_cursor: string | null }>('GET', path);
      found.push(...page.body.data.map((record) => record['tags']));
      cursor = page.body.next_cursor;
    }
    expect(found).toEqual(Array.from({ length: 5 }, () => ['of-the-key', 'paged']));
    const sums = await rows('/v1/usage?group_by=tag');
    expect(sums.find(({ tag }) => tag === 'paged')).toMatchObject({ requests: 5, day: null });
    expect(sums.find(({ tag }) => tag === 'of-the-key')).toMatchObject({ day: null });
    expect(await rows('/v1/usage?group_by=day&tag=paged')).toMatchObject([{ requests: 5, tag: null }]);
    const everybody = await admin('GET', '/usage?group_by=account,tag&tag=paged');
    expect(everybody.body.data).toMatchObject([{ account_id: gateway.accountId, tag: 'paged', requests: 5 }]);
    const records = await admin('GET', '/usage/records?tag=paged&session=paged');
    expect(records.body.data).toHaveLength(5);
    expect((await gateway.send('GET', '/v1/usage?group_by=tag,model')).status).toBe(400);
  });
});

describe('What clients say of their media orders', () => {
  let started: AdminGateway;
  beforeAll(async () => {
    started = await startAdminGateway();
  });
  afterAll(() => started.gateway.stop());

  it('stands in the record of the task, and in the sums of its tags', async () => {
    const { gateway } = started;
    const order = { model: 'seedream-4.0', prompt: 'a house' };
    const models = await gateway.send<{ data: { id: string }[] }>('GET', '/v1/models');
    const model = models.body.data.map(({ id }) => id).find((id) => /image|seedream/.test(id)) ?? order.model;
    const sent = await gateway.send<{ data: { task_id: string }[] }>(
      'POST',
      '/v1/images/generations',
      { ...order, model },
      {
        authorization: `Bearer ${TEST_KEY}`,
        ...SAID,
      },
    );
    expect(sent.status).toBe(200);
    const taskId = sent.body.data[0]?.task_id ?? '';
    await gateway.waitForTask(taskId);
    const path = '/v1/usage/records?session=session-secret-1';
    const { body } = await gateway.send<{ data: JsonObject[] }>('GET', path);
    expect(body.data).toMatchObject([{ task_id: taskId, agent: 'planner', end_user: 'ada', tags: ['team:a', 'run'] }]);
    const sums = await gateway.send<{ data: JsonObject[] }>('GET', '/v1/usage?group_by=tag');
    expect(Object.fromEntries(sums.body.data.map(({ tag, requests }) => [tag, requests]))).toEqual({
      run: 1,
      'team:a': 1,
    });
    const refund = { amount: '0.000001', reference: 'r1', reason: 'a test' };
    expect((await started.admin('POST', `/tasks/${taskId}/refund`, refund)).status).toBe(200);
    const after = await gateway.send<{ data: JsonObject[] }>('GET', `${path}&tag=run`);
    expect(after.body.data.map((record) => record['status'])).toEqual(['refunded', 'completed']);
  });
});
