import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatMicros, parseMicros, type TaskView } from '#contracts';
import { eventually } from '#testing';
import { FakeVendor, FakeXaiImage } from '#vendor-fakes';
import { type AdminGateway, startAdminGateway } from '../../../../tests/harness/admin-gateway.js';

const KEY = 'key-of-the-vendor-0123456789-wxyz';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
const OTHER_IMAGE = { model: 'theta-image-turbo', prompt: 'a lighthouse' };

/** Makes one model by the sandbox, as an operator may say. */
const studio = (change: object = {}) => ({
  kind: 'media',
  id: 'studio',
  protocol: 'sandbox',
  models: { 'eta-image-2.0': 'eta-image-2.0' },
  ...change,
});

describe('Media upstreams in the admin API', () => {
  let api: AdminGateway;
  beforeAll(async () => {
    api = await startAdminGateway();
  });
  afterAll(() => api.gateway.stop());
  afterEach(async () => {
    const { data } = (await api.admin<{ id: string; kind: string }[]>('GET', '/upstreams')).body;
    for (const { id } of data.filter(({ kind }) => kind === 'media')) await api.admin('DELETE', `/upstreams/${id}`);
  });

  /** Not as long as work of the test before is at the upstream of that name, of which this one would know nothing. */
  const inService = (change: object = {}) =>
    eventually(async () => (await api.admin('POST', '/upstreams', studio(change))).status === 200);
  const order = (body: object, path = '/v1/images/generations') => api.gateway.send('POST', path, body);
  const balance = async () => (await api.gateway.send('GET', '/v1/balance')).body;
  const isAvailable = async (model: string): Promise<unknown> => {
    const { body } = await api.gateway.send<{ data: { available: boolean } }>('GET', `/v1/models/${model}`);
    return body.data.available;
  };
  /** The task of an order; undefined while its upstream is not known yet. */
  const taken = async (body: object): Promise<string | undefined> =>
    ((await order(body)).body as { data?: { task_id: string }[] }).data?.[0]?.task_id;
  const providerOf = async (taskId: string): Promise<string | null | undefined> => {
    const text = 'select provider from task where id = $1';
    const { rows } = await api.gateway.database.query<{ provider: string | null }>({ text, values: [taskId] });
    return rows[0]?.provider;
  };

  it('decide which models are available: the rest is listed as not available and refused before money is held', async () => {
    expect(await Promise.all([isAvailable(IMAGE.model), isAvailable(OTHER_IMAGE.model)])).toEqual([true, true]);
    expect((await api.admin('POST', '/upstreams', studio())).status).toBe(200);
    expect(await Promise.all([isAvailable(IMAGE.model), isAvailable(OTHER_IMAGE.model)])).toEqual([true, false]);
    const before = await balance();
    expect(await order(OTHER_IMAGE)).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_available', param: 'model' } },
    });
    expect(await balance()).toEqual(before);
  });

  it('refuse an order that none of them can make before money is held, naming the field', async () => {
    const models = { 'alpha-2.0': 'seedance-2' };
    await inService({ protocol: 'ark-video', key: KEY, models });
    const before = await balance();
    const video = {
      model: 'alpha-2.0',
      prompt: 'waves',
      image_with_roles: [{ url: 'https://media.example.com/last.png', role: 'last_frame' }],
    };
    expect(await order(video, '/v1/videos/generations')).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_parameter', param: expect.stringContaining('image_with_roles') } },
    });
    expect(await balance()).toEqual(before);
  });

  it('take what an operator says of their vendor from then on, and show what holds', async () => {
    const models = { 'alpha-2.0': 'seedance-2' };
    const video = { model: 'alpha-2.0', prompt: 'waves', seed: 7 };
    const quoted = async () => (await order(video, '/v1/videos/generations')).body;
    const limits = async (): Promise<unknown> =>
      (await api.gateway.send<{ data: { limits: unknown } }>('GET', '/v1/models/alpha-2.0')).body.data.limits;
    // Nothing listens there: what the vendor says does not matter here.
    const closed = { base_url: 'http://127.0.0.1:1', protocol: 'ark-video', key: KEY, models };
    await api.admin(
      'POST',
      '/upstreams',
      studio({ ...closed, model_traits: { 'alpha-*': { seed: { one_of: [-1] } } } }),
    );
    const before = await balance();
    expect(await quoted()).toMatchObject({
      error: { code: 'unsupported_parameter', param: 'seed', message: 'seed must be -1 here.' },
    });
    expect([await balance(), await limits()]).toEqual([before, ['seed must be -1 here.']]);
    const { body } = await api.admin<{ traits: unknown }>('POST', '/upstreams/studio/verify');
    expect(body.data.traits).toEqual({
      'alpha-2.0': [{ field: 'seed', rules: ['seed must be -1 here.'], by: 'entry', source: null, checked: null }],
    });
    await api.admin('PATCH', '/upstreams/studio', { model_traits: { 'alpha-*': { seed: null } } });
    expect([await limits(), await quoted()]).toEqual([[], expect.objectContaining({ code: 200 })]);
  });

  it('never fall back to the sandbox, not even when the only one is disabled', async () => {
    await inService({ enabled: false });
    for (const body of [IMAGE, OTHER_IMAGE]) expect(await order(body)).toMatchObject({ status: 404 });
    expect(await isAvailable(IMAGE.model)).toBe(false);
  });

  it('are changed field by field, and shown without their key', async () => {
    const models = { 'alpha-2.0': 'seedance-2' };
    const sent = studio({ protocol: 'ark-video', key: KEY, models, limits: { running: 3 } });
    expect((await api.admin('POST', '/upstreams', sent)).body.data).toMatchObject({
      kind: 'media',
      source: 'database',
      key_set: true,
      limits: { running: 3 },
      enabled: true,
    });
    await api.admin('PATCH', '/upstreams/studio', { limits: { starts_per_minute: 30 }, weight: 2 });
    const { body } = await api.admin('GET', '/upstreams/studio');
    expect(body.data).toMatchObject({ limits: { running: 3, starts_per_minute: 30 }, weight: 2, key_set: true });
    expect(JSON.stringify(body)).not.toContain(KEY);
    const twice = await api.admin('POST', '/upstreams', sent);
    expect(twice).toMatchObject({ status: 409, body: { error: { param: 'id' } } });
    const moved = await api.admin('PATCH', '/upstreams/studio', { base_url: 'https://elsewhere.example/v3' });
    expect(moved).toMatchObject({ status: 400, body: { error: { param: 'key' } } });
  });

  it.each([
    [{ protocol: 'soap' }, 'protocol'],
    [{ models: { 'eta-image-9': 'x' } }, 'models.eta-image-9'],
    [{ limits: { running: 0 } }, 'limits.running'],
    [{ key: KEY }, 'key'],
    [{ colour: 'red' }, 'colour'],
    [
      { protocol: 'kling', key: KEY, models: 'all', model_traits: { 'delta-*': { mode: { one_of: ['max'] } } } },
      'model_traits.delta-*.mode.one_of',
    ],
    [{ model_traits: {} }, 'model_traits'],
    [{ kind: 'sound' }, 'kind'],
  ])('are refused with a mistake that names the field: %j', async (change, param) => {
    expect(await api.admin('POST', '/upstreams', studio(change))).toMatchObject({
      status: 400,
      body: { error: { param } },
    });
  });

  it.each([
    ['switched off', () => api.admin('PATCH', '/upstreams/studio', { enabled: false })],
    ['removed', () => api.admin('DELETE', '/upstreams/studio')],
  ])('take no new orders when they are %s, and finish the running ones', async (_, leave) => {
    await inService();
    const taskId = await eventually(() => taken({ ...IMAGE, prompt: '[sandbox:delay=1500] a lighthouse' }));
    // Workers look once a second on their own.
    await eventually(async () => (await providerOf(taskId)) === 'studio');
    await leave();
    expect(await order(IMAGE)).toMatchObject({ status: 404, body: { error: { code: 'model_not_available' } } });
    const task: TaskView = await api.gateway.waitForTask(taskId);
    expect(task).toMatchObject({ status: 'completed', usage: { final: true } });
    expect(await providerOf(taskId)).toBe('studio');
  });

  it('move to another server only without work, so that none is asked for where nobody knows it', async () => {
    await inService();
    const taskId = await eventually(() => taken({ ...IMAGE, prompt: '[sandbox:hang] a lighthouse' }));
    await eventually(async () => (await providerOf(taskId)) === 'studio');
    const models = { 'eta-image-2.0': 'eta-image-2.0' };
    const elsewhere = { protocol: 'gateway', base_url: 'http://127.0.0.1:1', key: KEY, models };
    const refused = { status: 409, body: { error: { code: 'conflict', param: 'id' } } };
    expect(await api.admin('PATCH', '/upstreams/studio', elsewhere)).toMatchObject(refused);
    expect((await api.admin('PATCH', '/upstreams/studio', { weight: 2 })).status).toBe(200);
    await api.admin('DELETE', '/upstreams/studio');
    expect(await api.admin('POST', '/upstreams', studio(elsewhere))).toMatchObject(refused);
    await api.gateway.send('POST', `/v1/tasks/${taskId}/cancel`);
    expect(await api.gateway.waitForTask(taskId)).toMatchObject({ status: 'cancelled' });
    expect((await api.admin('POST', '/upstreams', studio(elsewhere))).status).toBe(200);
    const moved = await api.admin('PATCH', '/upstreams/studio', { base_url: 'http://127.0.0.1:2', key: KEY });
    expect(moved.status).toBe(200);
  });

  describe('are verified by a call that is free', () => {
    let vendor: FakeVendor<FakeXaiImage>;
    beforeAll(async () => {
      vendor = await FakeVendor.start(new FakeXaiImage());
    });
    afterAll(() => vendor.close());
    const verified = async (change: object = {}) => {
      const { key } = vendor.protocol;
      const models = { 'iota-1.0-reseller': 'grok-imagine-image' };
      const sent = studio({ protocol: 'xai-image', base_url: vendor.baseUrl, key, models, ...change });
      expect((await api.admin('POST', '/upstreams', sent)).status).toBe(200);
      return api.admin('POST', '/upstreams/studio/verify');
    };

    it.each([{}, { enabled: false }])(
      'with a right key, in service or not, and nothing is ordered: %j',
      async (change) => {
        expect(await verified(change)).toMatchObject({
          status: 200,
          body: { data: { id: 'studio', ok: true, problem: null, vendor: null, request_id: 'vendor-request-1' } },
        });
        expect(vendor.protocol.taken).toEqual([]);
      },
    );

    it.each<[problem: string, prepare: () => void, change: object]>([
      ['wrong_key', () => undefined, { key: KEY }],
      ['no_balance', () => vendor.next({ status: 403, body: { code: 'x', error: 'Your team has no credits' } }), {}],
      ['busy', () => vendor.next({ status: 429, body: {} }), {}],
      ['away', () => undefined, { base_url: 'http://127.0.0.1:1/v1' }],
      ['not_this_protocol', () => vendor.next('html'), {}],
    ])('which says %s and what to check, and never the key', async (problem, prepare, change) => {
      prepare();
      const { status, body } = await verified(change);
      expect([status, body.data]).toMatchObject([200, { ok: false, problem, message: expect.stringMatching(/[.?]$/) }]);
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`${KEY}|${vendor.protocol.key}`));
    });

    it('unless there is none of that id', async () => {
      expect(await api.admin('POST', '/upstreams/nobodys/verify')).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found', param: 'upstream_id' } },
      });
    });
  });

  it('report revenue and cost exact to the micro, less refunds', async () => {
    const costs = { unit: 'CNY', rates: { CNY: '0.14' }, 'eta-image-2.0': 0.1234567 };
    await inService({ id: 'studio-cn', costs });
    const unvalued = { unit: 'CNY', 'theta-image-turbo': 0.1 };
    const models = { 'theta-image-turbo': 'theta-image-turbo' };
    await inService({ id: 'studio-blind', models, costs: unvalued });
    // A worker that has not heard of them yet still asks the upstream of the test before.
    const images = await eventually(async () => {
      const taskId = await taken({ ...IMAGE, n: 3 });
      if (taskId === undefined) return undefined;
      await api.gateway.waitForTask(taskId);
      return (await providerOf(taskId)) === 'studio-cn' ? taskId : undefined;
    });
    const other = await eventually(() => taken(OTHER_IMAGE));
    const charged = (await api.gateway.waitForTask(images)).usage.amount;
    const alone = (await api.gateway.waitForTask(other)).usage.amount;
    await api.admin('POST', `/tasks/${images}/refund`, { reference: 'r-1', reason: 'late', amount: '0.010000' });
    const { data, ...days } = (await api.admin('GET', '/margins')).body;
    expect(days).toMatchObject({ from: expect.any(String), total: { tasks: expect.any(Number) } });
    const earned = parseMicros(charged) - 10_000n;
    expect(data).toEqual(
      expect.arrayContaining([
        {
          day: null,
          upstream: 'studio-cn',
          model: 'eta-image-2.0',
          tasks: 1,
          completed_tasks: 1,
          earned: formatMicros(earned),
          // 3 images of 0.1234567 CNY at 0.14 each.
          costs: [{ unit: 'CNY', amount: '0.370370' }],
          cost: '0.051852',
          tasks_without_cost: 0,
          margin: formatMicros(earned - 51_852n),
        },
        {
          day: null,
          upstream: 'studio-blind',
          model: 'theta-image-turbo',
          tasks: 1,
          completed_tasks: 1,
          earned: alone,
          costs: [{ unit: 'CNY', amount: '0.100000' }],
          cost: '0.000000',
          tasks_without_cost: 1,
          margin: null,
        },
      ]),
    );
    const byDay = (await api.admin<object[]>('GET', '/margins?group_by=day')).body.data;
    expect(byDay).toMatchObject([
      { day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), upstream: null, model: null, margin: null },
    ]);
    expect(await api.admin('GET', '/margins?group_by=key')).toMatchObject({
      status: 400,
      body: { error: { param: 'group_by' } },
    });
  });

  it('are reported when a price does not cover their cost', async () => {
    await inService({ costs: { unit: 'USD', 'eta-image-2.0': 0.02 } });
    await eventually(() => taken(IMAGE));
    const price = { model: 'eta-image-2.0', unit: 'image', variant: 'default' };
    const low = { code: 'price-below-cost', ...price, upstream: 'studio', price: '0.019999', cost: '0.020000' };
    const added = await api.admin('POST', '/prices', { ...price, amount: '0.019999' });
    expect(added).toMatchObject({ status: 200, body: { data: { warnings: [low] } } });
    const covered = await api.admin('POST', '/prices', {
      ...price,
      amount: '0.020000',
      effective_from: '2127-01-01T00:00:00Z',
    });
    expect(covered).toMatchObject({ status: 200, body: { data: { warnings: [] } } });
    const dry = await api.admin('POST', '/prices/import?dry_run=true', {
      prices: [{ ...price, amount: '0.01', effective_from: '2128-01-01T00:00:00Z' }],
    });
    expect(dry.body.data).toMatchObject({ warnings: [{ ...low, price: '0.010000' }] });
    const { text } = await eventually(async () => {
      const text = await api.gateway.platform.metrics.render();
      return text.includes(`gateway_media_price_below_cost{upstream="studio"`) && { text };
    });
    expect(text).toContain('gateway_media_price_below_cost{upstream="studio",model="eta-image-2.0"} 1');
  });
});

describe('Media upstreams of UPSTREAMS_FILE', () => {
  let api: AdminGateway;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-upstreams-'));
    const file = join(folder, 'upstreams.yaml');
    const { kind: _, ...entry } = studio({ only_accounts: ['acct_of_the_canary'] });
    await writeFile(file, JSON.stringify({ media_upstreams: [entry] }));
    api = await startAdminGateway({ UPSTREAMS_FILE: file });
  });
  afterAll(async () => {
    await api.gateway.stop();
    await rm(folder, { recursive: true });
  });

  it('are shown, and can only be changed in the file', async () => {
    const { body } = await api.admin<object[]>('GET', '/upstreams');
    expect(body.data).toEqual([expect.objectContaining({ id: 'studio', kind: 'media', source: 'file' })]);
    for (const [method, change] of [
      ['PATCH', { weight: 2 }],
      ['DELETE', undefined],
    ] as const)
      expect(await api.admin(method, '/upstreams/studio', change)).toMatchObject({ status: 409 });
    expect(await api.admin('POST', '/upstreams', studio())).toMatchObject({ status: 409 });
  });

  it('serve only the accounts they are for', async () => {
    expect(await api.gateway.send('POST', '/v1/images/generations', IMAGE)).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_available' } },
    });
  });
});
