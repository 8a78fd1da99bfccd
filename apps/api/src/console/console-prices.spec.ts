import { type ConsoleClient, consoleClient } from '../../../../tests/harness/console-client.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';

describe('Prices in the console', () => {
  let gateway: TestGateway;
  let operator: ConsoleClient;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment: { ADMIN_TOKEN } });
    operator = consoleClient(gateway);
    await operator.call('POST /sign-in/operator', { token: ADMIN_TOKEN });
  });
  afterAll(() => gateway.stop());

  const price = (unit: string, amount: string, more: object = {}) => ({
    model: 'set-together',
    unit,
    amount,
    per_quantity: 1_000_000,
    ...more,
  });
  const pricesOf = async () =>
    (await operator.call('GET /admin/prices', undefined, '/admin/prices?model=set-together')).body.items;

  it('are set together, all or none, and a dry run sets nothing', async () => {
    const base = [price('input_token', '2'), price('output_token', '10')];
    const looked = await operator.call('POST /admin/prices/set', { prices: base, dry_run: true });
    expect([looked.status, looked.body.added, await pricesOf()]).toEqual([200, 2, []]);
    const band = price('input_token', '4', { from_input_tokens: 200_001 });
    const gap = await operator.call('POST /admin/prices/set', { prices: [...base, band] });
    expect([gap.status, gap.body.error?.message, await pricesOf()]).toEqual([
      400,
      expect.stringContaining('output_token default from 200001'),
      [],
    ]);
    expect((await operator.call('POST /admin/prices/set', { prices: base })).body.added).toBe(2);
    expect((await pricesOf()).map(({ unit, amount, withdrawn_at: end }) => [unit, amount, end])).toEqual([
      ['input_token', '2.000000', null],
      ['output_token', '10.000000', null],
    ]);
  });

  it('never begin in the past, whatever a price among them says', async () => {
    const past = '2026-01-02T00:00:00Z';
    const prices = [price('input_token', '3', { effective_from: past })];
    const refused = await operator.call('POST /admin/prices/set', { prices, effective_from: past });
    expect([refused.status, refused.body.error?.field]).toEqual([400, 'effective_from']);
    expect((await operator.call('POST /admin/prices/set', { prices })).status).toBe(200);
    const [input] = (await pricesOf()).filter(({ unit }) => unit === 'input_token');
    expect([input?.amount, Date.parse(input?.effective_from ?? '') > Date.now() - 60_000]).toEqual(['3.000000', true]);
  });

  it('of media are told to be below their cost in the preview of one, before it is set', async () => {
    const entry = {
      kind: 'media',
      id: 'acme-ark',
      protocol: 'ark-video',
      key: 'vendor-key',
      models: { 'alpha-2.0': 'seedance' },
      costs: { unit: 'USD', 'alpha-2.0': { '480p': 0.1, '720p': 0.3 } },
    };
    const token = { authorization: `Bearer ${ADMIN_TOKEN}` };
    expect((await gateway.send('POST', '/admin/v1/upstreams', entry, token)).status).toBe(200);
    const preview = async (amount: string) =>
      (
        await operator.call('POST /admin/prices/preview', {
          model: 'alpha-2.0',
          unit: 'second',
          variant: '720p',
          amount,
        })
      ).body.warnings;
    expect(await preview('0.29')).toEqual([expect.stringMatching(/^alpha-2\.0 .*0\.29.*0\.3.*acme-ark$/)]);
    expect(await preview('0.3')).toEqual([]);
  });

  it('of entries that are no model of ours are paged and searched by a part of their names', async () => {
    const entry = { litellm_provider: 'acme', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
    const names = Array.from({ length: 7 }, (_each, index) => [`acme/strange-${index}`, entry]);
    const list = { ...Object.fromEntries(names), 'set-together': entry };
    const { body } = await operator.call('POST /admin/price-proposals', {
      source: 'litellm',
      file: JSON.stringify(list),
    });
    const path = `/admin/price-proposals/${body.id}`;
    const details = await operator.call('GET /admin/price-proposals/:proposal_id', undefined, path);
    expect([details.body.items.map(({ model }) => model), details.body.others]).toEqual([['set-together'], 7]);
    const read = async (query: string) =>
      (await operator.call('GET /admin/price-proposals/:proposal_id/others', undefined, `${path}/others?${query}`))
        .body;
    const first = await read('limit=5');
    const second = await read(`limit=5&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(names.map(([id]) => id));
    expect(second.next_cursor).toBeNull();
    expect((await read('text=STRANGE-3')).items.map(({ id }) => id)).toEqual(['acme/strange-3']);
  });

  it('of a list are told with the names of the accounts that have it', async () => {
    await operator.call('POST /admin/price-lists', {
      id: 'silver',
      name: 'Silver',
      rules: [{ model: '*', factor: '0.95' }],
    });
    const path = `/admin/accounts/${gateway.accountId}/price-list`;
    const assigned = await operator.call('POST /admin/accounts/:account_id/price-list', { list: 'silver' }, path);
    expect(assigned.body).toMatchObject({ account_id: gateway.accountId, list: 'silver' });
    const account = `/admin/accounts/${gateway.accountId}`;
    const listOfAccount = async () =>
      (await operator.call('GET /admin/accounts/:account_id', undefined, account)).body.price_list;
    const one = await operator.call('GET /admin/price-lists/:list_id', undefined, '/admin/price-lists/silver');
    expect(one.body).toMatchObject({
      rules: [{ model: '*', factor: '0.95' }],
      accounts: [{ id: gateway.accountId, name: 'First account' }],
      account_count: 1,
    });
    expect(await listOfAccount()).toEqual({ id: 'silver', name: 'Silver' });
    const { items } = (await operator.call('GET /admin/price-lists')).body;
    expect(items).toEqual([
      expect.objectContaining({
        id: 'silver',
        factor: '0.95',
        rule_count: 1,
        account_count: 1,
        account_names: ['First account'],
      }),
    ]);
    expect((await operator.call('POST /admin/accounts/:account_id/price-list', { list: null }, path)).status).toBe(200);
    expect(await listOfAccount()).toBeNull();
  });
});
