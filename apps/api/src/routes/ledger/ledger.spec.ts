import { eventually } from '#testing';
import { startAdminGateway, type AdminGateway } from '../../../../../tests/harness/admin-gateway.js';
import type { TestGateway } from '../../../../../tests/harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

interface Entry {
  readonly id: string;
  readonly task_id: string | null;
  readonly request_id: string | null;
  readonly kind: string;
  readonly amount: string;
  readonly reference: string | null;
  readonly usage: {
    readonly status: string;
    readonly amount: string;
    readonly model: string;
    readonly lines: readonly { readonly unit: string; readonly amount: string; readonly quantity: number }[];
  } | null;
}
interface Entries {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
}

describe('The ledger of an account', () => {
  let api: AdminGateway;
  let gateway: TestGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
    gateway = api.gateway;
  });
  afterAll(() => gateway.stop());

  const entries = async (key: string, query = ''): Promise<Entries> => {
    const { status, body } = await api.withKey<Entries>(key, `/v1/ledger${query}`);
    expect(status).toBe(200);
    return body;
  };

  /** An account with money, and a key of it. */
  async function funded(): Promise<{ id: string; key: string }> {
    const { id } = await api.newAccount();
    await api.admin('POST', `/accounts/${id}/top-ups`, { amount: '5', reference: `paid-${id}`, note: 'our own note' });
    return { id, key: (await api.newKey(id)).key };
  }

  async function image(key: string, body: object = IMAGE): Promise<string> {
    const submitted = await api.withKey<{ data: [{ task_id: string }] }>(key, '/v1/images/generations', 'POST', body);
    const [{ task_id }] = submitted.body.data;
    await eventually(async () => {
      const path = `/v1/tasks/${task_id}?wait=10`;
      return (await api.withKey<{ data: { usage: { final: boolean } } }>(key, path)).body.data.usage.final;
    });
    return task_id;
  }

  it('shows each movement with its price lines, both the hold and the settlement', async () => {
    const { key, id } = await funded();
    const task_id = await image(key);
    const { data } = await entries(key);
    expect(data.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['capture', '0.035000'],
      ['hold', '0.035000'],
      ['top_up', '5.000000'],
    ]);
    for (const entry of data.slice(0, 2)) {
      expect(entry).toMatchObject({
        task_id,
        usage: { status: 'completed', amount: '0.035000', lines: [{ unit: 'image', quantity: 1, amount: '0.035000' }] },
      });
    }
    expect(data[2]).toMatchObject({ usage: null, reference: `paid-${id}` });
    expect(JSON.stringify(data)).not.toContain('our own note');
  });

  it('explains a release by the failed work, and a refund by the refunded charge', async () => {
    const { key } = await funded();
    const failed = await image(key, { ...IMAGE, prompt: '[sandbox:fail=content_policy]' });
    const made = await image(key);
    await api.admin('POST', `/tasks/${made}/refund`, { reference: 'sorry', reason: 'wrong colour' });
    const [refund] = (await entries(key)).data;
    expect(refund).toMatchObject({ kind: 'refund', task_id: made, usage: { status: 'refunded', amount: '-0.035000' } });
    const ofFailed = (await entries(key, `?task_id=${failed}`)).data;
    expect(ofFailed.map(({ kind, usage }) => [kind, usage?.status])).toEqual([
      ['release', 'failed'],
      ['hold', 'failed'],
    ]);
    const ofMade = (await entries(key, `?task_id=${made}`)).data;
    expect(ofMade.map(({ kind }) => kind)).toEqual(['refund', 'capture', 'hold']);
  });

  it('finds the tokens of a text request by its request id', async () => {
    const { key } = await funded();
    const answer = await api.withKey(key, '/v1/responses', 'POST', { model: 'vendor-5', input: 'Hello' });
    const requestId = answer.headers.get('x-request-id') ?? '';
    const capture = await eventually(async () =>
      (await entries(key, `?request_id=${requestId}`)).data.find(({ kind }) => kind === 'capture'),
    );
    expect(capture).toMatchObject({ request_id: requestId, usage: { model: 'vendor-5', status: 'completed' } });
    expect(capture.usage?.lines.map(({ unit }) => unit)).toContain('output_token');
    expect(capture.usage?.amount).toBe(capture.amount);
  });

  it('lists all entries page by page, each once', async () => {
    const { key } = await funded();
    for (let made = 0; made < 2; made += 1) await image(key);
    const whole = (await entries(key)).data.map(({ id }) => id);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Entries = await entries(key, `?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(whole);
    expect(new Set(seen).size).toBe(5);
  });

  it('shows no account the entries of another, neither in the list nor by task or request', async () => {
    const [one, other] = [await funded(), await funded()];
    const task_id = await image(one.key);
    const [entry] = (await entries(one.key)).data;
    expect((await entries(other.key)).data.map(({ kind }) => kind)).toEqual(['top_up']);
    expect((await entries(other.key, `?task_id=${task_id}`)).data).toEqual([]);
    expect((await entries(other.key, `?request_id=${entry?.request_id ?? ''}`)).data).toEqual([]);
  });

  it('requires a key, and the scope if the key has scopes', async () => {
    const { id } = await funded();
    expect((await gateway.send('GET', '/v1/ledger', undefined, {})).status).toBe(401);
    const { key: without } = await api.newKey(id, { scopes: ['usage', 'balance', 'account'] });
    expect((await api.withKey(without, '/v1/ledger')).status).toBe(403);
    const { key: allowed } = await api.newKey(id, { scopes: ['ledger'] });
    expect((await entries(allowed)).data).toHaveLength(1);
  });

  it.each([
    ['limit=0', 'limit'],
    ['cursor=abc', 'cursor'],
    [`cursor=${Buffer.from('2026-11-20T00:00:00.000000Z|task_x').toString('base64url')}`, 'cursor'],
  ])('refuses %s', async (query, param) => {
    const refusal = { status: 400, body: { error: { param } } };
    expect(await gateway.send('GET', `/v1/ledger?${query}`)).toMatchObject(refusal);
    expect(await api.admin('GET', `/ledger?${query}`)).toMatchObject(refusal);
  });

  it('exports the whole list as CSV', async () => {
    const { key } = await funded();
    const answer = await fetch(`${gateway.baseUrl}/v1/ledger?format=csv`, { headers: { 'x-api-key': key } });
    expect(answer.headers.get('content-type')).toContain('text/csv');
    expect((await answer.text()).split('\n')[1]).toContain('top_up');
  });
});
