import { MODEL_IDS, type ModelId } from '#contracts';
import { startTestGateway, type TestGateway } from '../../../../../tests/harness/test-gateway.js';
import type { QuoteView } from '../quote/quotes.js';
import type { ModelView } from './model-view.js';

describe('The catalogue and its prices', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  const quote = async (body: unknown): Promise<QuoteView> =>
    (await gateway.send<{ data: QuoteView }>('POST', '/v1/quote', body)).body.data;

  it('lists every model of the documents with fields, modes and at least one price', async () => {
    const { status, body } = await gateway.send<{ data: ModelView[] }>('GET', '/v1/models');
    expect(status).toBe(200);
    const media = body.data.filter(({ kind }) => kind !== 'text');
    expect(media.map(({ id }) => id)).toEqual(MODEL_IDS);
    for (const model of media) {
      expect(model.modes.length).toBeGreaterThan(0);
      expect(model.fields.find(({ name }) => name === 'model')?.required).toBeDefined();
      expect(model.prices.length).toBeGreaterThan(0);
    }
    expect(body.data.filter(({ kind }) => kind === 'text').map(({ id }) => id)).toContain('vendor-sonnet-4-5-20250929');
  });

  it('shows one model at the top for client libraries and in data for other clients', async () => {
    const { body } = await gateway.send<ModelView & { data: ModelView }>('GET', '/v1/models/eta-image-2.0');
    expect(body).toMatchObject({ id: 'eta-image-2.0', object: 'model', data: { id: 'eta-image-2.0', kind: 'image' } });
    expect(body.prices).toEqual([
      { unit: 'image', variant: 'default', amount: '0.035000', per_quantity: 1, currency: 'USD' },
    ]);
  });

  it('describes each field as data, so that a program can draw a form', async () => {
    const { body } = await gateway.send<ModelView>('GET', '/v1/models/beta-2.5-preview');
    const field = (name: string) => body.fields.find((each) => each.name === name);
    expect(field('resolution')).toMatchObject({
      allowed: '480p, 720p or 1080p',
      schema: { type: 'string', enum: ['480p', '720p', '1080p'] },
      group: 'output',
      unit: null,
    });
    expect(field('duration')).toMatchObject({ unit: 'second', schema: { type: 'integer', enum: [5, 10] } });
    expect(field('model')?.order).toBe(1);
  });

  it('lists every variant of a model with its price, or null where it has none', async () => {
    await gateway.database.query({ text: `delete from price where model = 'zeta-q3-mix' and variant = '720p'` });
    const { body } = await gateway.send<ModelView>('GET', '/v1/models/zeta-q3-mix');
    expect(body.variants).toEqual([
      { variant: '720p', unit: 'second', price: null },
      { variant: '1080p', unit: 'second', price: { amount: '0.155000', per_quantity: 1, currency: 'USD' } },
    ]);
    const text = await gateway.send<ModelView>('GET', '/v1/models/vendor-sonnet-4-5-20250929');
    expect(text.body.variants.map(({ unit }) => unit)).toEqual(text.body.prices.map(({ unit }) => unit));
  });

  it('answers 404 to an unknown model and suggests the nearest', async () => {
    const { status, body } = await gateway.send('GET', '/v1/models/eta-image-20');
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
    expect(JSON.stringify(body)).toContain('eta-image-2.0');
  });

  it('requires a key', async () => {
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['GET', '/v1/models/eta-image-2.0'],
      ['POST', '/v1/quote'],
    ] as const) {
      expect((await gateway.send(method, path, undefined, {})).status).toBe(401);
    }
  });

  it('quotes the hold of a later submission, and holds nothing itself', async () => {
    const body = {
      model: 'beta-2.5-preview' satisfies ModelId,
      prompt: 'waves',
      resolution: '720P',
      size: '16:9',
      duration: 10,
    };
    const quoted = await quote(body);
    expect(quoted).toMatchObject({
      valid: true,
      path: '/v1/videos/generations',
      mode: 'text-to-video',
      unit_price: '0.100000',
      quantity: 10,
      per: 'second',
      amount: '1.000000',
      currency: 'USD',
      request: { resolution: '720p', duration: 10 },
      valid_until: null,
    });
    const held = async () =>
      (await gateway.database.query<{ held: bigint }>({ text: 'select sum(held_micros)::bigint as held from account' }))
        .rows[0]?.held;
    expect(await held()).toBe(0n);
    await gateway.submit('/v1/videos/generations', body);
    expect(await held()).toBe(1_000_000n);
  });

  it('says until when a price is valid once another is set', async () => {
    await gateway.database.query({
      text: `insert into price (id, model, unit, variant, amount_micros, effective_from, created_by)
        values ('p_next', 'eta-image-2.0', 'image', 'default', 1, timestamptz '2100-01-01', 'test')`,
    });
    expect((await quote({ model: 'eta-image-2.0', prompt: 'x' })).valid_until).toBe(Date.UTC(2100, 0, 1) / 1000);
  });

  it('refuses what a submission refuses, with the same error', async () => {
    const wrong = { model: 'eta-image-2.0', prompt: 'x', n: 7 };
    const [quoted, submitted] = await Promise.all([
      gateway.send('POST', '/v1/quote', wrong),
      gateway.send('POST', '/v1/images/generations', wrong),
    ]);
    expect(quoted.status).toBe(400);
    expect(quoted.body).toEqual(submitted.body);
    expect((await gateway.send('POST', '/v1/quote', { prompt: 'x' })).body).toMatchObject({
      error: { param: 'model' },
    });
    expect((await gateway.send('POST', '/v1/quote', { model: 'eta-image-20' })).status).toBe(404);
  });
});
