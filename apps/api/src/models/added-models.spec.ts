import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdminGateway, startAdminGateway } from '../../../gateway/src/testing/admin-gateway.js';
import type { TestGateway } from '../../../gateway/src/testing/test-gateway.js';
import type { ModelView } from './model-view.js';

const FILE = `
upstreams:
  - { id: house, protocol: sandbox, models: { house-writer: any } }
`;

describe('A text model that an operator adds', () => {
  let api: AdminGateway;
  let gateway: TestGateway;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-upstreams-'));
    await writeFile(join(folder, 'upstreams.yaml'), FILE);
    api = await startAdminGateway({ UPSTREAMS_FILE: join(folder, 'upstreams.yaml') });
    gateway = api.gateway;
    await gateway.database.query({
      text: `insert into price (id, model, unit, variant, amount_micros, per_quantity, effective_from, created_by)
        select 'p_' || unit, 'house-writer', unit, 'default', 2000000, 1000000, now(), 'test'
        from unnest(array['input_token', 'output_token']) as unit`,
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true });
  });

  const VIEW = {
    id: 'house-writer',
    kind: 'text',
    paths: ['/v1/responses', '/v1/messages', '/v1beta/models/house-writer:generateContent'],
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

  it('is shown alone, and suggested to whom misspells it', async () => {
    expect((await gateway.send('GET', '/v1/models/house-writer')).body).toMatchObject({ ...VIEW, data: VIEW });
    const { status, body } = await gateway.send('GET', '/v1/models/hose-writer');
    expect([status, JSON.stringify(body)]).toEqual([404, expect.stringContaining('house-writer')]);
  });

  it('is kept from keys that may not use it', async () => {
    const { key } = await api.newKey(gateway.accountId, { allowed_models: ['vendor-5'] });
    const { body } = await api.withKey<{ data: ModelView[] }>(key, '/v1/models');
    expect(body.data.map(({ id }) => id)).toEqual(['vendor-5']);
    expect((await api.withKey(key, '/v1/models/house-writer')).status).toBe(404);
  });

  it('answers, and is named in the metrics', async () => {
    const body = { model: 'house-writer', input: 'Hello' };
    expect((await gateway.send('POST', '/v1/responses', body)).status).toBe(200);
    const page = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
    expect(page).toMatch(/gateway_http_requests_total\{.*model="house-writer",code="200"\}/);
  });
});
