import { startAdminGateway, type AdminGateway } from '../../../../tests/harness/admin-gateway.js';
import type { TestGateway } from '../../../../tests/harness/test-gateway.js';

const KEY = 'sk-of-an-upstream-0123456789';
const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

describe('The admin API', () => {
  let api: AdminGateway;
  let gateway: TestGateway;
  beforeAll(async () => {
    // So that a test can come from many addresses: one that guesses is slowed down.
    api = await startAdminGateway({ TRUSTED_PROXIES: '127.0.0.1' });
    gateway = api.gateway;
  });
  afterAll(() => gateway.stop());

  const admin: AdminGateway['admin'] = (method, path, body) => api.admin(method, path, body);
  const newAccount: AdminGateway['newAccount'] = (settings) => api.newAccount(settings);
  const newKey: AdminGateway['newKey'] = (accountId, settings) => api.newKey(accountId, settings);

  const auditCount = async () =>
    (await gateway.database.query<{ n: number }>({ text: 'select count(*)::integer n from audit_record' })).rows[0]?.n;

  it('requires the right token on every route, including routes that do not exist', async () => {
    const routes = adminRoutes(gateway);
    expect(routes.length).toBeGreaterThanOrEqual(23);
    let addresses = 0;
    for (const [method, path] of [...routes, ['GET', '/admin/v1/anything'], ['POST', '/admin/v1']]) {
      for (const sent of [{}, { authorization: 'Bearer wrong' }, { authorization: `Bearer ${api.token}x` }]) {
        const headers = { ...sent, 'x-forwarded-for': `203.0.113.${(addresses += 1) % 250}` };
        const answer = await gateway.send(method, path, method === 'GET' ? undefined : {}, headers);
        expect([method, path, answer.status]).toEqual([method, path, 401]);
      }
    }
    expect(routes.every(([, path]) => path?.startsWith('/admin/v1/'))).toBe(true);
  });

  it('does not accept an API key as the token', async () => {
    expect((await gateway.send('GET', '/admin/v1/accounts')).status).toBe(401);
  });

  it('records every change with its actor, what changed and the previous value', async () => {
    const changes: [string, () => Promise<unknown>][] = [];
    const account = await newAccount();
    const key = await newKey(account.id);
    const accountPath = `/accounts/${account.id}`;
    const keyPath = `/keys/${key.id}`;
    changes.push(
      ['account.created', () => newAccount()],
      ['account.updated', () => admin('PATCH', accountPath, { name: 'Video studio' })],
      ['account.top_up', () => admin('POST', `${accountPath}/top-ups`, { amount: '5', reference: 'invoice-1' })],
      [
        'account.adjustment',
        () => admin('POST', `${accountPath}/adjustments`, { amount: '-1.5', reference: 'case-1' }),
      ],
      ['key.created', () => newKey(account.id)],
      ['key.updated', () => admin('PATCH', keyPath, { name: 'editors', quota: '3' })],
      ['key.rotated', () => admin('POST', `${keyPath}/rotate`, { overlap_seconds: 60 })],
      ['key.revoked', () => admin('POST', `${keyPath}/revoke`)],
      [
        'price.added',
        () =>
          admin('POST', '/prices', {
            model: 'eta-image-2.0',
            unit: 'image',
            amount: '0.05',
            effective_from: '2126-01-01T00:00:00Z',
          }),
      ],
    );
    const prices = [{ model: 'eta-image-2.0', unit: 'image', amount: '0.06', effective_from: '2127-01-01' }];
    changes.push(['prices.imported', () => admin('POST', '/prices/import', { prices })]);
    const other = await newAccount();
    const rules = [{ model: '*', factor: '0.9' }];
    const limits = [{ tag: 'nightly', daily_limit: '5' }];
    changes.push(
      ['price_list.added', () => admin('POST', '/price-lists', { id: 'partners', name: 'Partners', rules: [] })],
      ['price_list.rules_added', () => admin('POST', '/price-lists/partners/rules', { rules })],
      ['account.price_list_set', () => admin('POST', `/accounts/${other.id}/price-list`, { list: 'partners' })],
      ['account.tag_limits_set', () => admin('PUT', `/accounts/${other.id}/tag-limits`, { limits })],
    );
    const own = { model: 'audited', unit: 'input_token', amount: '1', per_quantity: 1_000_000 };
    await admin('POST', '/prices/import', { prices: [{ ...own, effective_from: '2026-01-01' }] });
    const file = JSON.stringify({ audited: { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 } });
    const proposed = await admin<{ id: string; items: { id: string }[] }>('POST', '/price-proposals', {
      source: 'litellm',
      file,
    });
    const { id: proposal, items } = proposed.body.data;
    const chosen = { items: items.map(({ id }) => id) };
    const name = { source: 'litellm', id: 'audited', model: 'ours' };
    changes.push(
      ['price_proposal.added', () => admin('POST', '/price-proposals', { source: 'litellm', file, factor: '2' })],
      ['price_proposal.applied', () => admin('POST', `/price-proposals/${proposal}/apply`, chosen)],
      ['price_proposal.undone', () => admin('POST', `/price-proposals/${proposal}/undo`)],
      ['price_name.set', () => admin('PUT', '/price-names', name)],
    );
    const prompts = `/accounts/${other.id}/prompt-log`;
    await admin('PUT', prompts, { enabled: true });
    await gateway.database.query({
      text: `insert into prompt_entry (id, log_id, request_id, api_key_id, model, sealed, kept_bytes, created_at)
        select 'prompt_audited', id, 'req', 'key', 'm', '', 0, now() from prompt_log where account_id = $1`,
      values: [other.id],
    });
    changes.push(
      ['account.prompt_log_set', () => admin('PUT', prompts, { enabled: true, retention_days: 7 })],
      ['account.prompt_removed', () => admin('DELETE', `${prompts}/entries/prompt_audited`)],
      ['account.prompt_log_cleared', () => admin('DELETE', `${prompts}/entries`)],
    );
    const upstream = {
      id: 'audited',
      protocol: 'chat',
      base_url: 'http://127.0.0.1:1/v1',
      models: { m: 'm' },
      key: KEY,
    };
    changes.push(
      ['upstream.created', () => admin('POST', '/upstreams', upstream)],
      ['upstream.updated', () => admin('PATCH', '/upstreams/audited', { enabled: false, key: `${KEY}2` })],
      ['upstream.deleted', () => admin('DELETE', '/upstreams/audited')],
    );
    const open = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:delay=60000]' });
    const made = await gateway.submit(IMAGES, IMAGE);
    const failed = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:fail=upstream_error]' });
    await gateway.waitForTask(made);
    await gateway.waitForTask(failed);
    await gateway.database.query({
      text: `insert into webhook_delivery (id, account_id, event_type, url, payload, state, finished_at)
        values ('msg_audited', $1, 'webhook.test', 'http://127.0.0.1:1/', '{}', 'failed', now())`,
      values: [account.id],
    });
    changes.push(
      ['task.cancel_requested', () => admin('POST', `/tasks/${open}/cancel`)],
      ['task.refunded', () => admin('POST', `/tasks/${made}/refund`, { reference: 'case-2', reason: 'blurred' })],
      ['task.redriven', () => admin('POST', `/tasks/${failed}/redrive`)],
      ['webhook_delivery.redelivered', () => admin('POST', '/webhooks/deliveries/msg_audited/redeliver')],
    );
    for (const [action, change] of changes) {
      const before = (await auditCount()) ?? 0;
      await change();
      expect([action, await auditCount()]).toEqual([action, before + 1]);
    }
    // A reconciliation compares, a verification asks a vendor, and a simulation counts: none changes anything.
    const changing = adminRoutes(gateway).filter(
      ([method, path]) => method !== 'GET' && !/\/reconciliations$|\/verify$|\/price-simulations$/.test(path),
    );
    expect(changing).toHaveLength(changes.length);
    const audit = await admin('GET', `/audit?subject_id=${account.id}&limit=2`);
    expect(audit.body.data).toMatchObject([
      {
        action: 'account.adjustment',
        actor: 'finance@example.com',
        before: { available: '5.000000' },
        after: { available: '3.500000', reference: 'case-1' },
      },
      { action: 'account.top_up', request_id: expect.stringMatching(/^req_/) },
    ]);
    const everything = await gateway.database.query<{ text: string }>({
      text: 'select string_agg(r::text, chr(10)) as text from audit_record r',
    });
    expect(everything.rows[0]?.text).not.toContain(key.key);
    expect(everything.rows[0]?.text).not.toContain(KEY);
  });

  it('leaves neither change nor record when a change is refused', async () => {
    const account = await newAccount();
    const before = await auditCount();
    const path = `/accounts/${account.id}`;
    expect((await admin('POST', `${path}/adjustments`, { amount: '-1', reference: 'r' })).status).toBe(409);
    expect((await admin('PATCH', path, { name: '' })).status).toBe(400);
    expect((await admin('PATCH', '/accounts/acct_none', { name: 'x' })).status).toBe(404);
    expect(await auditCount()).toBe(before);
  });

  it('finds accounts by a part of their name, and shows the price list that one has', async () => {
    const { id } = await newAccount({ name: 'Northern lighthouse' });
    await newAccount();
    const found = await admin<object[]>('GET', '/accounts?name=lighth');
    expect(found.body.data).toMatchObject([{ id, name: 'Northern lighthouse' }]);
    expect((await admin('GET', `/accounts/${id}`)).body.data).toMatchObject({ id, price_list: null });
    const list = { id: 'lighthouses', name: 'Lighthouses' };
    await admin('POST', '/price-lists', list);
    await admin('POST', `/accounts/${id}/price-list`, { list: list.id });
    expect((await admin('GET', `/accounts/${id}`)).body.data).toMatchObject({ price_list: list });
  });

  it('books a repeated payment once', async () => {
    const path = `/accounts/${(await newAccount()).id}`;
    const top = { amount: '10.50', reference: 'payment-77' };
    const answers = await Promise.all([1, 2, 3].map(() => admin('POST', `${path}/top-ups`, top)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.filter(({ body }) => body.data['replayed'] === false)).toHaveLength(1);
    expect((await admin('GET', path)).body.data).toMatchObject({ available: '10.500000', used: '0.000000' });
    expect((await admin('POST', `${path}/top-ups`, { ...top, amount: '11' })).status).toBe(409);
  });

  it.each(['0', '-5', '0.0000001', '1e3', '9223372036854.775808', 'NaN', ''])(
    'refuses a top-up of %j',
    async (amount) => {
      const path = `/accounts/${(await newAccount()).id}/top-ups`;
      expect(await admin('POST', path, { amount, reference: 'r' })).toMatchObject({
        status: 400,
        body: { error: { param: 'amount' } },
      });
    },
  );

  it('refuses an amount sent as a JSON number, which may have lost digits', async () => {
    const path = `/accounts/${(await newAccount()).id}/top-ups`;
    expect(await admin('POST', path, { amount: 10.5, reference: 'r' })).toMatchObject({ status: 400 });
  });

  it('accepts balances up to the maximum and not beyond', async () => {
    const path = `/accounts/${(await newAccount()).id}`;
    await admin('POST', `${path}/top-ups`, { amount: '9223372036854.775807', reference: 'all' });
    expect((await admin('GET', path)).body.data).toMatchObject({ available: '9223372036854.775807' });
    expect(await admin('POST', `${path}/top-ups`, { amount: '0.000001', reference: 'more' })).toMatchObject({
      status: 400,
    });
  });

  it('reports an unknown field instead of ignoring it', async () => {
    expect(await admin('POST', '/accounts', { name: 'x', ballance: '5' })).toMatchObject({
      status: 400,
      body: { error: { code: 'unknown_parameter', param: 'ballance' } },
    });
  });
});

/** Every route below /admin that the running server has, with its parameters filled in. */
function adminRoutes(gateway: TestGateway): ReturnType<TestGateway['routes']> {
  return gateway.routes().filter(([, path]) => path.startsWith('/admin'));
}
