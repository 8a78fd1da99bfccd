import { eventually, untilBlocked } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';

const MESSAGE = { model: 'vendor-haiku-4-5-20251001', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };

/** What an account may read that takes as long as it makes it take. */
const READS = [
  '/v1/files?purpose=assistants',
  '/v1/vector_stores?limit=100',
  '/v1/vector_stores/vs_1',
  '/v1/vector_stores/vs_1/files',
  '/v1/vector_stores/vs_1/files/file_1/content',
  '/v1/webhooks/endpoints',
  '/v1/webhooks/deliveries',
  '/v1/responses/resp_1',
  '/v1/responses/resp_1/input_items',
] as const;
const LOCKED = 'uploaded_file, vector_store, webhook_delivery, webhook_endpoint, text_response';

describe('The database', () => {
  let api: AdminGateway;
  let hostile: { readonly id: string; readonly key: string };
  let victim: string;
  beforeAll(async () => {
    api = await startAdminGateway({}, { workers: false });
    const [one, other] = [await api.newAccount({ unlimited: true }), await api.newAccount({ unlimited: true })];
    hostile = { id: one.id, key: (await api.newKey(one.id)).key };
    victim = (await api.newKey(other.id)).key;
    // The models are loaded before a lock could make them wait.
    await api.withKey(hostile.key, '/v1/webhooks/endpoints');
  });
  afterAll(() => api.gateway.stop());

  const upload = (key: string): Promise<Response> => {
    const body = new FormData();
    body.set('purpose', 'assistants');
    body.set('file', new Blob(['A text to find.']), 'a.txt');
    const headers = { authorization: `Bearer ${key}` };
    return fetch(`${api.gateway.baseUrl}/v1/files`, { method: 'POST', headers, body });
  };

  it('serves other accounts while everything that one account reads and stores is blocked', async () => {
    let unlock = (): void => undefined;
    let isLocked = false;
    const locked = api.gateway.database.transaction(async (transaction) => {
      await transaction.query({ text: `lock table ${LOCKED} in access exclusive mode` });
      isLocked = true;
      await new Promise<void>((resolve) => (unlock = resolve));
    });
    await eventually(() => isLocked);
    try {
      const search = api.withKey(hostile.key, '/v1/vector_stores/vs_1/search', 'POST', { query: 'anything' });
      const reads = [...READS, ...READS].map((path) => api.withKey(hostile.key, path));
      const request = { model: 'vendor-5', input: 'Remember this' };
      const writes = READS.map(() => api.withKey(hostile.key, '/v1/responses', 'POST', request));
      const uploads = [1, 2, 3].map(() => upload(hostile.key));
      await untilBlocked(api.gateway.database);
      const headers = { authorization: `Bearer ${victim}`, 'anthropic-version': '2023-06-01' };
      const answer = await api.gateway.send('POST', '/v1/messages', MESSAGE, headers);
      expect([answer.status, (await api.gateway.send('GET', '/readyz')).status]).toEqual([200, 200]);
      const { rows } = await api.gateway.database.query({
        text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      });
      // Of six connections: the three of the account's share, and the one that stores short responses of all accounts together.
      expect(rows.length).toBeLessThanOrEqual(4);
      unlock();
      await locked;
      const statuses = (await Promise.all([search, ...reads, ...writes, ...uploads])).map(({ status }) => status);
      expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([]);
    } finally {
      unlock();
      await locked;
    }
  });

  it('is read for a page of tasks no further than a bound, behind which the next page goes on', async () => {
    const text = `
      insert into task (id, account_id, api_key_id, medium, path, family, model, mode, parameters, state, hold_micros,
        billing_unit, billing_variant, billing_settle, quantity, request_id, deadline_at, finished_at)
      select 'task_' || lpad(nth::text, 26, '0'), $1, (select id from api_key where account_id = $1), 'image', '/v1/images/generations',
        'eta', case when nth = 1 then 'rare' else 'eta-image-2.0' end, 'text-to-image', '{}', 'failed', 0, 'image', '1K', 'per-output',
        1, 'req', now(), now()
      from generate_series(1, 10100) as nth`;
    await api.gateway.database.query({ text, values: [hostile.id] });
    const page = async (cursor = '') =>
      (
        await api.withKey<{ data: { id: string }[]; has_more: boolean; next_cursor: string | null }>(
          hostile.key,
          `/v1/tasks?model=rare&limit=1${cursor}`,
        )
      ).body;
    const first = await page();
    expect(first).toMatchObject({ data: [], has_more: true, next_cursor: `task_${'101'.padStart(26, '0')}` });
    const second = await page(`&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ has_more: false, next_cursor: null });
    expect(second.data.map(({ id }) => id)).toEqual([`task_${'1'.padStart(26, '0')}`]);
  });
});
