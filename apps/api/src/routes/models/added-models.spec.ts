import { type AdminGateway, startAdminGateway } from '../../../../../tests/harness/admin-gateway.js';
import type { TestGateway } from '../../../../../tests/harness/test-gateway.js';
import type { ModelView } from './model-view.js';

describe('A text model that an operator adds', () => {
  let api: AdminGateway;
  let gateway: TestGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
    gateway = api.gateway;
    // The name clients use, and the upstream's own.
    await api.admin('POST', '/upstreams', { id: 'house', protocol: 'sandbox', models: { 'house-writer': 'writer-1' } });
    for (const unit of ['input_token', 'output_token'])
      await api.admin('POST', '/prices', { model: 'house-writer', unit, amount: '2', per_quantity: 1_000_000 });
  });
  afterAll(() => gateway.stop());

  const VIEW = {
    id: 'house-writer',
    kind: 'text',
    paths: ['/v1/responses', '/v1/chat/completions', '/v1/messages', '/v1beta/models/house-writer:generateContent'],
    prices: [
      { unit: 'input_token', variant: 'default', amount: '2.000000', per_quantity: 1_000_000, currency: 'USD' },
      { unit: 'output_token', variant: 'default', amount: '2.000000', per_quantity: 1_000_000, currency: 'USD' },
    ],
  };

  it('is listed with the others, once, with its prices', async () => {
    const { body } = await gateway.send<{ data: ModelView[] }>('GET', '/v1/models');
    expect(body.data.filter(({ id }) => id === 'house-writer')).toMatchObject([VIEW]);
    expect(new Set(body.data.map(({ id }) => id)).size).toBe(body.data.length);
  });

  it('is shown by its name, and suggested when it is misspelled', async () => {
    expect((await gateway.send('GET', '/v1/models/house-writer')).body).toMatchObject({ ...VIEW, data: VIEW });
    const { status, body } = await gateway.send('GET', '/v1/models/hose-writer');
    expect([status, JSON.stringify(body)]).toEqual([404, expect.stringContaining('house-writer')]);
  });

  it('is hidden from keys that may not use it', async () => {
    const { key } = await api.newKey(gateway.accountId, { allowed_models: ['vendor-5'] });
    const { body } = await api.withKey<{ data: ModelView[] }>(key, '/v1/models');
    expect(body.data.map(({ id }) => id)).toEqual(['vendor-5']);
    expect((await api.withKey(key, '/v1/models/house-writer')).status).toBe(404);
    const google = await api.withKey<{ models: { name: string }[] }>(key, '/v1beta/models');
    expect(google.body.models.map(({ name }) => name)).toEqual(['models/vendor-5']);
    expect((await api.withKey(key, '/v1beta/models/house-writer')).status).toBe(404);
  });

  it('can be requested, and is named in the metrics', async () => {
    const body = { model: 'house-writer', input: 'Hello' };
    expect((await gateway.send('POST', '/v1/responses', body)).status).toBe(200);
    const page = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
    expect(page).toMatch(/gateway_http_requests_total\{.*model="house-writer",code="200"\}/);
  });
});
