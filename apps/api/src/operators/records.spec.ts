import { eventually } from '#testing';
import { startAdminGateway, type AdminGateway } from '../../../../tests/harness/admin-gateway.js';
import type { TestGateway } from '../../../../tests/harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

describe('Records for operators: prices, lists, usage and reconciliation', () => {
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

  describe('prices', () => {
    it('charges by the price in force at submission', async () => {
      const price = { model: 'eta-image-2.0-pro', unit: 'image', amount: '0.9' };
      expect((await admin('POST', '/prices', price)).body.data).toMatchObject({ amount: '0.900000', per_quantity: 1 });
      const future = { ...price, amount: '5', effective_from: '2126-01-01T00:00:00Z' };
      await admin('POST', '/prices', future);
      expect((await admin('GET', '/prices?model=eta-image-2.0-pro')).body.data).toMatchObject([{ amount: '0.900000' }]);
      expect((await admin('GET', '/prices?model=eta-image-2.0-pro&at=2127-01-01T00:00:00Z')).body.data).toMatchObject([
        { amount: '5.000000' },
      ]);
      expect((await admin('POST', '/prices', future)).status).toBe(409);
    });

    it.each([
      [{ effective_from: '2020-01-01T00:00:00Z' }, 'effective_from'],
      [{ amount: '-1' }, 'amount'],
      [{ amount: '0.000001', per_quantity: 3 }, 'amount'],
      [{ unit: 'minute' }, 'unit'],
    ])('refuses %j', async (change, param) => {
      const answer = await admin('POST', '/prices', { model: 'eta-image-2.0', unit: 'image', amount: '1', ...change });
      expect(answer).toMatchObject({ status: 400, body: { error: { param } } });
    });
  });

  describe('lists', () => {
    it('lists all accounts page by page, each once', async () => {
      for (let made = 0; made < 5; made += 1) await newAccount();
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const path: string = `/accounts?limit=2${cursor && `&cursor=${cursor}`}`;
        const { body } = await admin<{ id: string }[]>('GET', path);
        seen.push(...body.data.map(({ id }) => id));
        cursor = body.next_cursor ?? null;
      }
      expect(new Set(seen).size).toBe(seen.length);
      const { rows } = await gateway.database.query<{ n: number }>({ text: 'select count(*)::integer n from account' });
      expect(seen).toHaveLength(rows[0]?.n ?? -1);
    });

    it('refuses an invalid cursor and a limit out of bounds', async () => {
      expect(await admin('GET', '/ledger?cursor=abc')).toMatchObject({
        status: 400,
        body: { error: { param: 'cursor' } },
      });
      expect(await admin('GET', '/ledger?limit=0')).toMatchObject({ status: 400, body: { error: { param: 'limit' } } });
    });

    it('lists the entries and the usage record of one text request, on whatever day', async () => {
      const { id } = await newAccount({ unlimited: true });
      const { key } = await newKey(id);
      const ask = async (): Promise<string> => {
        const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'vendor-5', input: 'Hello' }),
        });
        await answer.text();
        return answer.headers.get('x-request-id') ?? '';
      };
      const [requestId] = [await ask(), await ask()];
      const entries = await eventually(async () => {
        const { body } = await admin<{ request_id: string }[]>('GET', `/ledger?request_id=${requestId}`);
        return body.data.length > 0 && body.data;
      });
      expect(new Set(entries.map(({ request_id: each }) => each))).toEqual(new Set([requestId]));
      expect((await admin('GET', '/ledger?request_id=req_of_nobody')).body.data).toEqual([]);
      const ofRequest = `/usage/records?request_id=${requestId}`;
      const records = [{ request_id: requestId, model: 'vendor-5' }];
      expect((await admin('GET', ofRequest)).body).toMatchObject({ data: records, next_cursor: null });
      expect((await withKey(key, `/v1${ofRequest}`)).body).toMatchObject({ data: records, next_cursor: null });
      expect((await gateway.send('GET', `/v1${ofRequest}`)).body['data']).toEqual([]);
      const before = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
      expect((await admin('GET', `${ofRequest}&to=${before}`)).body.data).toEqual([]);
      expect((await admin('GET', '/usage/records?request_id=req_of_nobody')).body.data).toEqual([]);
      expect((await admin('GET', `/ledger?request_id=${requestId}&account_id=acct_other`)).body.data).toEqual([]);
    });

    it('exports as CSV, with formulas escaped', async () => {
      const { id } = await newAccount();
      const path = `/admin/v1/accounts/${id}/top-ups`;
      const headers = { authorization: `Bearer ${api.token}` };
      await gateway.send('POST', path, { amount: '1', reference: 'csv-1', note: '=HYPERLINK("x")' }, headers);
      const answer = await fetch(`${gateway.baseUrl}/admin/v1/ledger?account_id=${id}&format=csv`, { headers });
      const [head, row] = (await answer.text()).split('\n');
      expect(answer.headers.get('content-type')).toContain('text/csv');
      expect(head).toContain('id,time,account_id');
      expect(row).toContain('1.000000,csv-1');
      expect(row).toContain(`'=HYPERLINK`);
    });
  });

  describe('usage and books', () => {
    it('explains each price to the holder of the key, sums it, and shows it to no other account', async () => {
      const { id } = await newAccount({ unlimited: true });
      const { key } = await newKey(id);
      const submitted = await withKey<{ data: { task_id: string }[] }>(key, '/v1/images/generations', 'POST', IMAGE);
      const taskId = submitted.body.data[0]?.task_id ?? '';
      await waitUntilUsed(gateway, taskId);
      const records = await withKey<{ data: { request_id: string }[] }>(key, '/v1/usage/records');
      const requestId = records.body.data[0]?.request_id;
      expect((await withKey(key, `/v1/usage/records?request_id=${requestId}`)).body).toMatchObject({
        data: [{ task_id: taskId }],
      });
      expect(records.body).toMatchObject({
        next_cursor: null,
        data: [
          {
            task_id: taskId,
            amount: '0.035000',
            lines: [{ unit: 'image', price: '0.035000', quantity: 1, amount: '0.035000', source: 'price_book' }],
          },
        ],
      });
      const sums = await withKey(key, '/v1/usage?group_by=model');
      expect(sums.body['data']).toMatchObject([{ model: 'eta-image-2.0', requests: 1, amount: '0.035000', day: null }]);
      expect((await gateway.send('GET', '/v1/usage/records')).body['data']).toEqual([]);
      expect((await admin('GET', `/usage?account_id=${id}`)).body.data).toMatchObject([{ amount: '0.035000' }]);
    });

    it.each([
      '?group_by=account',
      '?from=2026-02-30',
      '?to=0000-01-01',
      '?to=0001-01-02',
      '?from=2026-03-02&to=2026-03-01',
      '?from=2020-01-01',
      '?days=3',
    ])('refuses %s', async (query) => {
      expect((await gateway.send('GET', `/v1/usage${query}`)).status).toBe(400);
    });

    it('reconciles the ledger, and reports mismatches', async () => {
      const { body } = await admin('POST', '/reconciliations', {});
      expect(body.data).toMatchObject({ balanced: true, findings: [] });
      const { id } = await newAccount();
      await gateway.database.query({ text: 'update account set available_micros = 5 where id = $1', values: [id] });
      const broken = await admin('POST', '/reconciliations', {});
      await gateway.database.query({ text: 'update account set available_micros = 0 where id = $1', values: [id] });
      expect(broken.body.data).toMatchObject({
        balanced: false,
        findings: [{ check: 'account_balances', subject: id, expected: '0 / 0 / 0', found: '5 / 0 / 0' }],
      });
      const reports = await admin<object[]>('GET', '/reconciliations');
      expect(reports.body.data.slice(0, 2)).toMatchObject([{ balanced: false }, { balanced: true }]);
      expect(Object.keys(reports.body.data[0] ?? {})).toContain('finished_at');
      expect((await admin('POST', '/reconciliations', {})).body.data).toMatchObject({ balanced: true, full: true });
      expect((await admin('POST', '/reconciliations', {})).body.data).toMatchObject({ balanced: true, full: false });
      expect((await admin('POST', '/reconciliations?full=true', {})).body.data).toMatchObject({ full: true });
      expect(await admin('POST', '/reconciliations?full=yes', {})).toMatchObject({
        status: 400,
        body: { error: { param: 'full' } },
      });
    });
  });
});

function waitUntilUsed(gateway: TestGateway, taskId: string): Promise<boolean> {
  const statement = { text: 'select 1 from usage_record where task_id = $1', values: [taskId] };
  return eventually(async () => (await gateway.database.query(statement)).rows.length > 0);
}
