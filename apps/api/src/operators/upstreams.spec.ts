import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '#testing';
import { startAdminGateway, type AdminGateway } from '../../../../tests/harness/admin-gateway.js';
import { TEST_KEY } from '../../../../tests/harness/test-gateway.js';
import { FakeTextVendor } from '../../../../tests/harness/text-vendor/fake-text-vendor.js';

const KEY = 'sk-of-the-vendor-0123456789-wxyz';
const MODEL = 'vendor-5';
const FILE = `
upstreams:
  - { id: from-file, protocol: chat, base_url: "http://127.0.0.1:1/v1", key: sk-of-the-file-0123456789-abcd, models: { of-the-file: m } }
`;

describe('Upstreams in the admin API', () => {
  let api: AdminGateway;
  let vendor: FakeTextVendor;
  let folder: string;

  beforeAll(async () => {
    vendor = await FakeTextVendor.start();
    folder = await mkdtemp(join(tmpdir(), 'gateway-upstreams-'));
    await writeFile(join(folder, 'upstreams.yaml'), FILE);
    api = await startAdminGateway({ UPSTREAMS_FILE: join(folder, 'upstreams.yaml'), TEXT_RETRY_SECONDS: '0' });
  });
  afterEach(async () => {
    vendor.fault = 'none';
    vendor.pauseMs = 0;
    const { data } = (await api.admin<{ id: string; source: string }[]>('GET', '/upstreams')).body;
    for (const { id } of data.filter(({ source }) => source === 'database'))
      await api.admin('DELETE', `/upstreams/${id}`);
  });
  afterAll(async () => {
    await api.gateway.stop();
    await vendor.stop();
    await rm(folder, { recursive: true });
  });

  const settings = (change: object = {}) => ({
    id: 'live',
    protocol: 'chat',
    base_url: vendor.baseUrl,
    key: KEY,
    models: { [MODEL]: 'theirs' },
    ...change,
  });
  const ask = (model = MODEL) => api.gateway.send('POST', '/v1/responses', { model, input: 'Hello' });

  it('show their results of the last minutes', async () => {
    await api.admin('POST', '/upstreams', settings({ id: 'watched' }));
    expect((await ask()).status).toBe(200);
    const health = await eventually(async () => {
      const { data } = (await api.admin<{ health: { calls: { ended: number } } }>('GET', '/upstreams/watched')).body;
      return data.health.calls.ended > 0 ? data.health : null;
    });
    expect(health).toMatchObject({
      state: 'serving',
      resumes_at: null,
      calls: { ended: 1, succeeded: 1 },
      last_error: null,
    });
  });

  it('get requests that cost more than tokens only while their policy lists it', async () => {
    const searching = () =>
      api.gateway.send('POST', '/v1/responses', { model: MODEL, input: 'Hello', tools: [{ type: 'web_search' }] });
    await api.admin('POST', '/upstreams', settings({ protocol: 'responses' }));
    expect(await searching()).toMatchObject({ status: 404, body: { error: { param: 'tools[0]' } } });
    const allowed = await api.admin('PATCH', '/upstreams/live', { allow: { tools: ['web_search'] } });
    const none = { service_tiers: [], account_ids: [], fields: [], betas: [] };
    expect(allowed.body.data).toMatchObject({ allow: { tools: ['web_search'], ...none }, fetches_urls: 'vendor' });
    expect((await searching()).status).toBe(200);
    await api.admin('PATCH', '/upstreams/live', { allow: null });
    expect((await searching()).status).toBe(404);
    const wrong = await api.admin('PATCH', '/upstreams/live', { allow: { tools: 'web_search' }, fetches_urls: 'me' });
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'allow.tools' } } });
  });

  it('get the configured output limit of the model where a caller sends none', async () => {
    const sentLimit = async () => {
      expect((await ask()).status).toBe(200);
      return vendor.last.body['max_output_tokens'];
    };
    const created = await api.admin('POST', '/upstreams', settings({ protocol: 'responses' }));
    expect(created.body.data).toMatchObject({ model_limits: {} });
    expect(await sentLimit()).toBe(128_000);
    const limits = { [MODEL]: { max_output_tokens: 2_000, context_tokens: 9_000 } };
    const said = await api.admin('PATCH', '/upstreams/live', { model_limits: limits });
    expect(said.body.data).toMatchObject({ model_limits: limits });
    expect(await sentLimit()).toBe(2_000);
    for (const [wrong, param] of [
      [{ [MODEL]: { max_output_tokens: 0 } }, `model_limits.${MODEL}.max_output_tokens`],
      [{ [MODEL]: { max_output_tokens: '2000' } }, `model_limits.${MODEL}.max_output_tokens`],
      [{ [MODEL]: { context_tokens: 2 ** 53 } }, `model_limits.${MODEL}.context_tokens`],
      [{ [MODEL]: { longest: 1 } }, `model_limits.${MODEL}.longest`],
      [{ 'another-model': { max_output_tokens: 1 } }, 'model_limits.another-model'],
    ] as const) {
      const refused = await api.admin('PATCH', '/upstreams/live', { model_limits: wrong });
      expect(refused).toMatchObject({ status: 400, body: { error: { param } } });
    }
    await api.admin('PATCH', '/upstreams/live', { model_limits: null });
    expect(await sentLimit()).toBe(128_000);
  });

  it('have the traits of models that an operator says, each checked by its field', async () => {
    const efforts = async (): Promise<unknown> => {
      const messages = [{ role: 'user', content: 'x' }];
      await api.gateway.send('POST', '/v1/chat/completions', { model: MODEL, messages, reasoning_effort: 'high' });
      return (vendor.last.body['reasoning'] as { effort?: string } | undefined)?.effort;
    };
    const created = await api.admin('POST', '/upstreams', settings({ protocol: 'responses' }));
    expect(created.body.data).toMatchObject({ model_traits: {} });
    expect(await efforts()).toBe('high');
    const traits = { 'vendor-*': { efforts: ['low', 'medium'] }, [MODEL]: { sampling: 'none' } };
    const said = await api.admin('PATCH', '/upstreams/live', { model_traits: traits });
    expect(said.body.data).toMatchObject({ model_traits: traits });
    expect((await api.admin('GET', '/upstreams/live')).body.data).toMatchObject({ model_traits: traits });
    expect(await efforts()).toBe('medium');
    for (const [wrong, param] of [
      [{ [MODEL]: { sampling: 'sent' } }, `model_traits.${MODEL}.sampling`],
      [{ [MODEL]: { smapling: 'all' } }, `model_traits.${MODEL}.smapling`],
      [{ [MODEL]: { efforts: ['high', 'higher'] } }, `model_traits.${MODEL}.efforts`],
      [{ 'vendor-*': { max_output_tokens: 0 } }, 'model_traits.vendor-*.max_output_tokens'],
      [{ 'another-model': { sampling: 'all' } }, 'model_traits.another-model'],
    ] as const) {
      const refused = await api.admin('PATCH', '/upstreams/live', { model_traits: wrong });
      expect(refused).toMatchObject({ status: 400, body: { error: { param } } });
    }
    await api.admin('PATCH', '/upstreams/live', { model_traits: null });
    expect(await efforts()).toBe('high');
  });

  describe('are verified by the list of models of their vendor', () => {
    const verified = async (protocol: string, change: object = {}) => {
      const models = { [MODEL]: 'claude-opus-5-5' };
      await api.admin('DELETE', '/upstreams/live');
      await api.admin('POST', '/upstreams', settings({ protocol, models, ...change }));
      return (await api.admin('POST', '/upstreams/live/verify')).body.data;
    };
    afterEach(() => {
      vendor.listing = undefined;
    });

    it.each<[string, object]>([
      ['chat', { data: [{ id: 'claude-opus-5-5' }] }],
      ['responses', { data: [{ id: 'other' }, { id: 'claude-opus-5-5' }] }],
      ['messages', { data: [{ id: 'claude-opus-5-5', type: 'model' }] }],
      ['gemini', { models: [{ name: 'models/claude-opus-5-5' }] }],
    ])('over %s, which shows what holds for their models', async (protocol, body) => {
      vendor.listing = { status: 200, body };
      const asked = vendor.seen.length;
      expect(await verified(protocol)).toMatchObject({
        id: 'live',
        ok: true,
        problem: null,
        request_id: 'vendor-list-1',
        models: [{ model: MODEL, upstream_model: 'claude-opus-5-5', listed: true }],
        traits: { [MODEL]: { forced_tools: 'refused' } },
      });
      expect(vendor.seen.length).toBe(asked);
      vendor.listing = { status: 200, body: { data: [], models: [] } };
      expect(await verified(protocol)).toMatchObject({ ok: true, models: [{ listed: false }] });
    });

    it.each(['chat', 'responses', 'messages', 'gemini'])(
      'or by the least reply where %s has no list',
      async (protocol) => {
        const asked = vendor.seen.length;
        expect(await verified(protocol)).toMatchObject({ ok: true, models: [{ model: MODEL, listed: null }] });
        expect(vendor.seen.length).toBe(asked + 1);
        expect(JSON.stringify(vendor.last.body)).toMatch(/ax_?(?:[a-z]+_)?(?:Output)?[tT]okens":16/);
      },
    );

    it.each<[string, { status: number; body: object | string }]>([
      ['wrong_key', { status: 401, body: { error: { message: `Bad key ${KEY}.` } } }],
      ['no_balance', { status: 402, body: {} }],
      ['not_opened', { status: 403, body: {} }],
      ['busy', { status: 429, body: {} }],
      ['away', { status: 503, body: {} }],
      ['not_this_protocol', { status: 200, body: '<html>' }],
    ])('which says %s and what to check, and never the key', async (problem, listing) => {
      vendor.listing = listing;
      const proof = await verified('chat');
      expect(proof).toMatchObject({ ok: false, problem, message: expect.stringMatching(/[.?]$/) });
      expect(JSON.stringify(proof)).not.toContain(KEY);
    });

    it('unless they are switched off', async () => {
      await verified('chat', { enabled: false });
      expect(await api.admin('POST', '/upstreams/live/verify')).toMatchObject({ status: 409 });
    });
  });

  it('have the names in URLs resolved first where they fetch them from the network of the operator', async () => {
    const url = 'https://no-such-host.invalid/x.png';
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }];
    const showing = () => api.gateway.send('POST', '/v1/responses', { model: MODEL, input });
    await api.admin('POST', '/upstreams', settings());
    expect((await showing()).status).toBe(200);
    await api.admin('PATCH', '/upstreams/live', { fetches_urls: 'self' });
    expect(await showing()).toMatchObject({
      status: 400,
      body: { error: { param: 'input[0].content[0].image_url', message: expect.stringContaining('public') } },
    });
  });

  it('serve the next request when they are added, and none when they are disabled or deleted', async () => {
    expect((await ask()).status).toBe(503);
    expect((await api.admin('POST', '/upstreams', settings())).status).toBe(200);
    expect((await ask()).status).toBe(200);
    expect(vendor.last).toMatchObject({ headers: { authorization: `Bearer ${KEY}` }, body: { model: 'theirs' } });

    await api.admin('PATCH', '/upstreams/live', { enabled: false });
    expect(await ask()).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    await api.admin('PATCH', '/upstreams/live', { enabled: true });
    expect((await ask()).status).toBe(200);
    expect((await api.admin('DELETE', '/upstreams/live')).body.data).toEqual({ id: 'live', deleted: true });
    expect((await ask()).status).toBe(503);
  });

  it('are shown with every setting, those of the file too, but never with a key', async () => {
    const created = await api.admin('POST', '/upstreams', settings({ weight: 2.5 }));
    const { body } = await api.admin<object[]>('GET', '/upstreams');
    expect(body.data).toMatchObject([
      { id: 'from-file', source: 'file', key_set: true, key_ends_with: 'abcd', enabled: true, created_at: null },
      {
        id: 'live',
        source: 'database',
        protocol: 'chat',
        base_url: vendor.baseUrl,
        models: { [MODEL]: 'theirs' },
        weight: 2.5,
        priority: 0,
        timeouts: { connect_seconds: 5, first_byte_seconds: 600, idle_seconds: 300 },
        output_limit_field: 'max_tokens',
        enabled: true,
        key_set: true,
        key_ends_with: 'wxyz',
        problem: null,
      },
    ]);
    expect((await api.admin('GET', '/upstreams/live')).body.data).toEqual(body.data[1]);
    const rows = await api.gateway.database.query<{ text: string }>({
      text: 'select upstream::text as text from upstream',
    });
    for (const text of [JSON.stringify([created.body, body]), rows.rows[0]?.text]) {
      expect(text).not.toContain(KEY);
      expect(text).not.toContain('sk-of-the-file');
    }
  });

  it('have unique ids, and those of the file cannot be changed', async () => {
    await api.admin('POST', '/upstreams', settings());
    for (const [method, path, body] of [
      ['POST', '/upstreams', settings()],
      ['POST', '/upstreams', settings({ id: 'from-file' })],
      ['PATCH', '/upstreams/from-file', { weight: 2 }],
      ['DELETE', '/upstreams/from-file', undefined],
    ] as const) {
      expect(await api.admin(method, path, body)).toMatchObject({
        status: 409,
        body: { error: { code: 'conflict', param: 'id' } },
      });
    }
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { weight: 2 }],
      ['DELETE', undefined],
    ] as const)
      expect((await api.admin(method, '/upstreams/unknown', body)).status).toBe(404);
  });

  it.each<[string, object, string, string]>([
    ['an unknown field', { wieght: 2 }, 'wieght', 'unknown_parameter'],
    ['an unknown field in another', { timeouts: { idle: 5 } }, 'timeouts.idle', 'unknown_parameter'],
    ['a bad id', { id: 'Not Good' }, 'id', 'invalid_parameter'],
    ['an unknown protocol', { protocol: 'soap' }, 'protocol', 'invalid_parameter'],
    ['no address', { base_url: undefined }, 'base_url', 'invalid_parameter'],
    ['an address that is none', { base_url: 'file:///etc/passwd' }, 'base_url', 'invalid_parameter'],
    [
      'credentials in the address',
      { base_url: 'https://user:pass@vendor.example/v1' },
      'base_url',
      'invalid_parameter',
    ],
    ['a key in the address', { base_url: 'https://vendor.example/v1?key=1' }, 'base_url', 'invalid_parameter'],
    ['a key with a line break', { key: 'sk-1\n' }, 'key', 'invalid_parameter'],
    ['a reference that only the file fills in', { key: '${VENDOR_KEY}' }, 'key', 'invalid_parameter'],
    ['no models', { models: {} }, 'models', 'invalid_parameter'],
    ['a model without a name', { models: { m: '' } }, 'models.m', 'invalid_parameter'],
    ['half a character in the name of a model', { models: { m: '\ud800' } }, 'models', 'invalid_parameter'],
    ['a quoted weight', { weight: '2' }, 'weight', 'invalid_parameter'],
    ['a weight beyond its bounds', { weight: 1001 }, 'weight', 'invalid_parameter'],
    ['half a priority', { priority: 0.5 }, 'priority', 'invalid_parameter'],
    ['timeouts that are none', { timeouts: 5 }, 'timeouts', 'invalid_parameter'],
    ['a timeout of nothing', { timeouts: { idle_seconds: 0 } }, 'timeouts.idle_seconds', 'invalid_parameter'],
    ['an unknown limit field', { output_limit_field: 'max' }, 'output_limit_field', 'invalid_parameter'],
    ['a quoted switch', { enabled: 'true' }, 'enabled', 'invalid_parameter'],
  ])(
    'are refused with %s, naming the field and hiding the key, whether added or changed',
    async (_case, change, param, code) => {
      const added = await api.admin('POST', '/upstreams', settings(change));
      expect(added).toMatchObject({ status: 400, body: { error: { code, param } } });
      expect(JSON.stringify(added.body)).not.toContain(KEY);
      const [[field, value] = ['', undefined]] = Object.entries(change);
      if (field === 'id' || value === undefined || field === 'models') return;
      await api.admin('POST', '/upstreams', settings());
      const changed = await api.admin('PATCH', '/upstreams/live', change);
      expect(changed).toMatchObject({ status: 400, body: { error: { code, param } } });
    },
  );

  it('are added with the default of each field that is null', async () => {
    const added = await api.admin(
      'POST',
      '/upstreams',
      settings({ key: null, weight: null, timeouts: null, allow: null }),
    );
    expect(added).toMatchObject({ status: 200, body: { data: { key_set: false, weight: 1 } } });
  });

  it('change field by field: sent fields are merged, null restores the default', async () => {
    await api.admin(
      'POST',
      '/upstreams',
      settings({ weight: 3, timeouts: { idle_seconds: 9 }, models: { a: 'x', b: 'y' } }),
    );
    const patch = { weight: null, timeouts: { connect_seconds: 2 }, models: { a: null, c: 'z' } };
    expect((await api.admin('PATCH', '/upstreams/live', patch)).body.data).toMatchObject({
      weight: 1,
      timeouts: { connect_seconds: 2, first_byte_seconds: 600, idle_seconds: 9 },
      models: { b: 'y', c: 'z' },
      key_set: true,
    });
    expect((await api.admin('PATCH', '/upstreams/live', { key: null })).body.data).toMatchObject({ key_set: false });
    expect(await api.admin('PATCH', '/upstreams/live', { id: 'other' })).toMatchObject({
      status: 400,
      body: { error: { param: 'id' } },
    });
  });

  it('never send a stored key to another server: changing the address requires the key', async () => {
    await api.admin('POST', '/upstreams', settings());
    const elsewhere = { base_url: 'http://127.0.0.1:9/v1' };
    expect(await api.admin('PATCH', '/upstreams/live', elsewhere)).toMatchObject({
      status: 400,
      body: { error: { code: 'missing_parameter', param: 'key' } },
    });
    expect((await api.admin('PATCH', '/upstreams/live', { base_url: `${vendor.baseUrl}/v2` })).status).toBe(200);
    expect((await api.admin('PATCH', '/upstreams/live', { ...elsewhere, key: KEY })).status).toBe(200);
  });

  it('never send it there by a detour over the sandbox, which has no address', async () => {
    await api.admin('POST', '/upstreams', settings());
    expect((await api.admin('PATCH', '/upstreams/live', { protocol: 'sandbox' })).status).toBe(200);
    const back = { protocol: 'chat', base_url: 'http://127.0.0.1:9/v1' };
    expect(await api.admin('PATCH', '/upstreams/live', back)).toMatchObject({
      status: 400,
      body: { error: { code: 'missing_parameter', param: 'key' } },
    });
    expect((await api.admin('PATCH', '/upstreams/live', { ...back, key: null })).status).toBe(200);
  });

  it('are replaced without disturbing a running stream, whose connection closes when it is done', async () => {
    await api.admin('POST', '/upstreams', settings());
    vendor.pauseMs = 60;
    const stream = await fetch(`${api.gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TEST_KEY}` },
      body: JSON.stringify({ model: MODEL, input: 'Hello', stream: true }),
    });
    expect(await vendor.connections()).toBe(1);
    await api.admin('PATCH', '/upstreams/live', { weight: 7 });
    await api.admin('DELETE', '/upstreams/live');
    const text = await stream.text();
    expect(text).toContain('response.completed');
    await eventually(async () => (await vendor.connections()) === 0);
    expect([vendor.aborted, await vendor.connections()]).toEqual([0, 0]);
  });

  it('may be the sandbox, which needs no address', async () => {
    const answer = await api.admin('POST', '/upstreams', {
      id: 'writer',
      protocol: 'sandbox',
      models: { [MODEL]: MODEL },
    });
    expect(answer.body.data).toMatchObject({ id: 'writer', key_set: false });
    expect((await ask()).status).toBe(200);
  });

  it('appear in the metrics, with their cooldown state', async () => {
    await api.admin('POST', '/upstreams', settings());
    vendor.fault = 'slow-429';
    await ask();
    const metrics = await (await fetch(`${api.gateway.baseUrl}/metrics`)).text();
    expect(metrics).toMatch(/gateway_upstream_cooling_down\{upstream="live"\} 1/);
    expect(metrics).toMatch(/gateway_upstream_cooling_down\{upstream="from-file"\} 0/);
  });
});
