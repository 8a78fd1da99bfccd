import { createHash } from 'node:crypto';
import { eventually, skewClock } from '#testing';
import { startAdminGateway, type AdminGateway } from '../../../../tests/harness/admin-gateway.js';
import type { TestGateway } from '../../../../tests/harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

describe('API keys managed by operators', () => {
  let api: AdminGateway;
  let gateway: TestGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
    gateway = api.gateway;
  });
  afterAll(() => gateway.stop());

  const admin: AdminGateway['admin'] = (method, path, body) => api.admin(method, path, body);
  const withKey: AdminGateway['withKey'] = (key, path, method, body) => api.withKey(key, path, method, body);
  const newAccount: AdminGateway['newAccount'] = (settings) => api.newAccount(settings);
  const newKey: AdminGateway['newKey'] = (accountId, settings) => api.newKey(accountId, settings);

  it('shows a key once and never again, and accepts it', async () => {
    const account = await newAccount();
    const key = await newKey(account.id);
    expect((await withKey(key.key)).body).toMatchObject({ success: true, remain_balance: 0 });
    const list = JSON.stringify((await admin('GET', `/accounts/${account.id}/keys`)).body);
    expect(list).toContain(key.prefix);
    expect(list).not.toContain(key.key);
    expect(list).not.toContain('hash');
  });

  it('stores only a hash of a key, made with a secret outside of the database', async () => {
    const { id, key } = await newKey((await newAccount()).id);
    const { rows } = await gateway.database.query<{ row: string; key_hash: Buffer }>({
      text: 'select row_to_json(k)::text as row, key_hash from api_key k where id = $1',
      values: [id],
    });
    expect(rows[0]?.row).not.toContain(key);
    expect(rows[0]?.row).not.toContain(key.slice(16));
    expect(rows[0]?.key_hash).toHaveLength(32);
    expect(rows[0]?.key_hash).not.toEqual(createHash('sha256').update(key).digest());
  });

  it('rotates with an overlap: both secrets work until it ends, on one quota', async () => {
    const account = await newAccount();
    const old = await newKey(account.id, { quota: '7' });
    const next = (await admin('POST', `/keys/${old.id}/rotate`, { overlap_seconds: 3600 })).body.data;
    expect(next.id).toBe(old.id);
    for (const { key } of [old, next] as { key: string }[]) {
      expect((await withKey(key, '/v1/balance')).body).toMatchObject({ success: true, total_quota: 7 });
    }
    await admin('POST', `/keys/${old.id}/rotate`, { overlap_seconds: 0 });
    await eventually(async () => (await withKey(old.key)).status !== 200);
    expect((await withKey(old.key)).status).toBe(401);
  });

  it.each([-1, 1])(
    'ends an old secret by the clock of the database, with that of the process %i h off',
    async (hours) => {
      const { id, key: first } = await newKey((await newAccount()).id);
      const rotated = async (overlap_seconds: number): Promise<string> => {
        const setRight = skewClock(hours * 3_600_000);
        const answer = await admin<{ key: string }>('POST', `/keys/${id}/rotate`, { overlap_seconds }).finally(
          setRight,
        );
        return answer.body.data.key;
      };
      const second = await rotated(600);
      for (const key of [first, second]) expect((await withKey(key)).status).toBe(200);
      await rotated(0);
      await eventually(async () => (await withKey(second)).status === 401);
    },
  );

  it('enforces the models, addresses and expiry of a key', async () => {
    const { id } = await newAccount({ unlimited: true });
    const models = await newKey(id, { allowed_models: ['beta-2.7'] });
    const submitted = await withKey(models.key, '/v1/images/generations', 'POST', IMAGE);
    expect(submitted).toMatchObject({ status: 403, body: { error: { code: 'model_not_allowed' } } });
    const elsewhere = await newKey(id, { allowed_addresses: ['203.0.113.0/24'] });
    expect((await withKey(elsewhere.key, '/v1/tasks/x')).status).toBe(403);
    const here = await newKey(id, { allowed_addresses: ['127.0.0.0/8', '::1'] });
    expect((await withKey(here.key)).status).toBe(200);
    const ended = await newKey(id, { expires_at: '2020-01-01T00:00:00Z' });
    expect((await withKey(ended.key)).status).toBe(401);
  });

  describe('with scopes', () => {
    const ROUTES = [
      ['generate', 'GET', '/v1/models'],
      ['generate', 'POST', '/v1/quote'],
      ['generate', 'POST', '/v1/responses'],
      ['tasks:read', 'GET', '/v1/tasks'],
      ['tasks:read', 'GET', '/v1/tasks/task_x/events'],
      ['tasks:cancel', 'POST', '/v1/tasks/task_x/cancel'],
      ['responses', 'GET', '/v1/responses/resp_x'],
      ['webhooks', 'GET', '/v1/webhooks/signing-secret'],
      ['webhooks', 'POST', '/v1/webhooks/endpoints'],
      ['webhooks', 'GET', '/v1/webhooks/deliveries'],
      ['balance', 'GET', '/v1/balance'],
      ['balance', 'GET', '/v1/user/balance'],
      ['usage', 'GET', '/v1/usage'],
      ['ledger', 'GET', '/v1/ledger'],
    ] as const;

    it('allows only what its scopes name', async () => {
      const { id } = await newAccount({ unlimited: true });
      for (const scope of new Set(ROUTES.map(([needed]) => needed))) {
        const { key } = await newKey(id, { scopes: [scope] });
        for (const [needed, method, path] of ROUTES) {
          const { status } = await withKey(key, path, method, method === 'POST' ? {} : undefined);
          expect([scope, method, path, status === 403]).toEqual([scope, method, path, needed !== scope]);
        }
      }
    });

    it('shows it only its own tasks and replays only its own responses, unless it has the account scope', async () => {
      const { id } = await newAccount({ unlimited: true });
      const [whole, own] = [await newKey(id), await newKey(id, { scopes: ['generate', 'tasks:read', 'tasks:cancel'] })];
      const headers = { 'idempotency-key': 'the-same' };
      const submit = async (key: string) => {
        const answer = await gateway.send<{ data: [{ task_id: string }] }>('POST', '/v1/images/generations', IMAGE, {
          authorization: `Bearer ${key}`,
          ...headers,
        });
        return answer.body.data[0].task_id;
      };
      const theirs = await submit(whole.key);
      const mine = await submit(own.key);
      expect(mine).not.toBe(theirs);
      expect(await submit(own.key)).toBe(mine);
      expect(await submit(whole.key)).toBe(theirs);
      const list = (await withKey(own.key, '/v1/tasks')).body.data as { task_id: string }[];
      expect(list.map(({ task_id }) => task_id)).toEqual([mine]);
      for (const [method, path] of [
        ['GET', `/v1/tasks/${theirs}`],
        ['GET', `/v1/tasks/${theirs}?wait=1`],
        ['GET', `/v1/tasks/${theirs}/events`],
        ['POST', `/v1/tasks/${theirs}/cancel`],
      ] as const) {
        expect([path, (await withKey(own.key, path, method)).status]).toEqual([path, 404]);
      }
      const batch = await withKey(own.key, '/v1/tasks/batch', 'POST', { task_ids: [mine, theirs] });
      expect(batch.body).toMatchObject({ data: [{ task_id: mine }], not_found: [theirs] });
      expect((await withKey(whole.key, `/v1/tasks/${mine}`)).status).toBe(200);
      await admin('PATCH', `/keys/${own.id}`, { scopes: ['tasks:read', 'account'] });
      while ((await withKey(own.key, `/v1/tasks/${theirs}`)).status !== 200);
      expect((await withKey(own.key, '/v1/images/generations', 'POST', IMAGE)).status).toBe(403);
    });

    it('does not let it continue from stored responses without the scope for them', async () => {
      const { id } = await newAccount({ unlimited: true });
      const { key } = await newKey(id, { scopes: ['generate'] });
      for (const body of [
        { model: 'vendor-5', input: 'x', previous_response_id: 'resp_x' },
        { model: 'vendor-5', input: [{ type: 'item_reference', id: 'msg_x' }] },
      ]) {
        expect((await withKey(key, '/v1/responses', 'POST', body)).status).toBe(403);
      }
    });
  });

  it('tells nothing more of a task it follows to a key that was revoked meanwhile', async () => {
    const account = await newAccount({ unlimited: true });
    const [leaked, other] = [await newKey(account.id), await newKey(account.id)];
    const order = { ...IMAGE, prompt: '[sandbox:hang] a secret sequel' };
    const { body } = await withKey(leaked.key, '/v1/images/generations', 'POST', order);
    const [{ task_id: id }] = body.data as [{ task_id: string }];
    const stream = await fetch(`${gateway.baseUrl}/v1/tasks/${id}/events`, {
      headers: { authorization: `Bearer ${leaked.key}` },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async (): Promise<string> => (await reader?.read())?.value ?? '';
    for (let told = await next(); !told.includes('in_progress');) told += await next();
    await admin('POST', `/keys/${leaked.id}/revoke`, {});
    await eventually(async () => (await withKey(leaked.key, '/v1/usage')).status === 401);
    expect((await withKey(other.key, `/v1/tasks/${id}/cancel`, 'POST')).status).toBe(200);
    let rest = '';
    for (let part = await next(); part !== ''; part = await next()) rest += part;
    // What came before the revocation may still be read; nothing of the cancellation after it.
    expect(rest).not.toMatch(/"cancellation":\{|"status":"cancelled"/);
  });

  it('stops a key at its quota', async () => {
    const { id } = await newAccount({ unlimited: true });
    const { key, id: keyId } = await newKey(id, { quota: '0.07' });
    const statuses: number[] = [];
    for (let sent = 0; sent < 3; sent += 1) {
      statuses.push((await withKey(key, '/v1/images/generations', 'POST', IMAGE)).status);
    }
    expect(statuses).toEqual([200, 200, 402]);
    expect(await admin('PATCH', `/keys/${keyId}`, { quota: '0.01' })).toMatchObject({ status: 409 });
  });

  it.each([
    [{ allowed_addresses: ['10.0.0.0/33'] }, 'allowed_addresses'],
    [{ quota: '-1' }, 'quota'],
    [{ scopes: ['everything'] }, 'scopes'],
    [{ scopes: 'generate' }, 'scopes'],
    [{ requests_per_minute: 0 }, 'requests_per_minute'],
    [{ requests_per_minute: '60' }, 'requests_per_minute'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
  ])('refuses %j and names the field', async (settings, param) => {
    const { id } = await newAccount();
    const answer = await admin('POST', `/accounts/${id}/keys`, { name: 'k', ...settings });
    expect(answer).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('notes when a key was last used', async () => {
    const { id } = await newAccount();
    const { key } = await newKey(id);
    await withKey(key);
    const lastUse = async () => {
      const { rows } = await gateway.database.query<{ last_used_at: Date | null }>({
        text: 'select last_used_at from api_key where account_id = $1',
        values: [id],
      });
      return rows[0]?.last_used_at;
    };
    await eventually(lastUse);
    expect(await lastUse()).toBeInstanceOf(Date);
  });

  it('has at most 1,000 keys of an account in use and 10,000 rows, also when several are made at once', async () => {
    const { id } = await api.newAccount();
    const add = (count: number, revokedAt: string): Promise<unknown> =>
      api.gateway.database.query({
        text: `insert into api_key (id, account_id, name, prefix, key_hash, revoked_at)
          select gen_random_uuid(), $1, 'k', 'sk', sha256(gen_random_uuid()::text::bytea), ${revokedAt} from generate_series(1, $2::integer)`,
        values: [id, count],
      });
    const make = () => api.admin('POST', `/accounts/${id}/keys`, { name: 'k' });
    await add(998, 'null');
    const made = await Promise.all([make(), make(), make(), make()]);
    expect(made.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 200, 409, 409]);
    expect(await make()).toMatchObject({ body: { error: { message: expect.stringContaining('at most 1000 keys') } } });
    await api.gateway.database.query({
      text: 'update api_key set revoked_at = now() where account_id = $1',
      values: [id],
    });
    await add(8_999, 'now()');
    expect((await make()).status).toBe(200);
    expect(await make()).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('revoked') } },
    });
  });
});
