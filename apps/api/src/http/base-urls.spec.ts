import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '#contracts';
import { atBest, eventually } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const MODEL = 'vendor-5';
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] };
const MESSAGE = { ...CHAT, max_tokens: 9 };
const RESPONSE = { model: MODEL, input: 'Hi', store: false };
const CONTENT = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
const GENERATE = `/models/${MODEL}:generateContent`;

describe('A client with a wrong base URL', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN: 'admin-token-for-tests' } });
  });
  afterAll(() => gateway.stop());

  const post = (path: string, body: object): Promise<{ status: number; body: JsonObject }> =>
    gateway.send('POST', path, body, { authorization: `Bearer ${TEST_KEY}`, 'anthropic-version': '2023-06-01' });

  const BASES = [
    '',
    '/',
    '/v1',
    '/v1/',
    '/v1//',
    '/v1/v1',
    '/api/v1',
    '/api',
    '/api/openai/v1',
    '/openai/v1',
    '/openai',
    '/v1/openai',
    '/anthropic/v1',
    '/anthropic',
    '/v1beta/openai',
    '/v1beta/openai/',
    '/gemini/v1beta',
    '/google',
    '/v1alpha',
  ];

  it.each(BASES)('is answered behind %s, in every style', async (base) => {
    for (const [path, body, field] of [
      ['/chat/completions', CHAT, 'choices'],
      ['/responses', RESPONSE, 'output'],
      ['/messages', MESSAGE, 'content'],
      ['/v1/messages', MESSAGE, 'content'],
      [GENERATE, CONTENT, 'candidates'],
      [`/v1beta${GENERATE}`, CONTENT, 'candidates'],
    ] as const) {
      const answer = await post(base + path, body);
      expect([base + path, answer.status, answer.body]).toEqual([
        base + path,
        200,
        expect.objectContaining({ [field]: expect.anything() }),
      ]);
    }
    const models = await gateway.send('GET', `${base}/models`);
    expect([models.status, Object.keys(models.body)]).toEqual([
      200,
      expect.arrayContaining([/beta|alpha/.test(base) && !base.includes('openai') ? 'models' : 'data']),
    ]);
  });

  it.each([
    ['/v1/chat/completions/chat/completions', CHAT],
    ['/v1/chat/completions/v1/chat/completions', CHAT],
    ['/chat/completions/chat/completions', CHAT],
    ['/api/v1/chat/completions/chat/completions/', CHAT],
    ['/v1/responses/responses', RESPONSE],
    ['/v1/responses/v1/responses', RESPONSE],
    ['/v1/messages/v1/messages', MESSAGE],
    ['/v1/messages/messages', MESSAGE],
    ['/v1/messages/v1/messages/count_tokens', CHAT],
    [`/v1beta${GENERATE}/v1beta${GENERATE}`, CONTENT],
    [`/v1beta${GENERATE}${GENERATE}`, CONTENT],
    [`/v1beta/models${GENERATE}`, CONTENT],
    ['/v1/v1/v1/chat/completions?x=1', CHAT],
    ['/v1/v1/quote', { model: 'eta-image-2.0', prompt: 'A house' }],
  ])('is answered when the whole path is doubled: POST %s', async (path, body) => {
    expect(await post(path, body)).toMatchObject({ status: 200 });
  });

  it('lists models behind the path of a route', async () => {
    for (const path of ['/v1/chat/completions/models', '/v1/messages/v1/models?limit=1000'])
      expect(await gateway.send('GET', path)).toMatchObject({ status: 200, body: { object: 'list' } });
  });

  it('streams, and is refused, in the style of what it meant', async () => {
    const answer = await fetch(`${gateway.baseUrl}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, stream: true }),
    });
    expect(await answer.text()).toContain('data: [DONE]');
    const refused = await gateway.send('POST', '/anthropic/v1/messages', MESSAGE, {
      'x-api-key': 'sk-wrong-key-0123456',
    });
    expect(refused).toMatchObject({ status: 401, body: { type: 'error', error: { type: 'authentication_error' } } });
    expect(await gateway.send('GET', '/api/v1/chat/completions')).toMatchObject({ status: 405 });
  });

  it('has one idempotency key for the path that it meant', async () => {
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'idempotency-key': 'one-of-two-bases' };
    const first = await gateway.send('POST', '/v1/chat/completions', CHAT, headers);
    const again = await gateway.send('POST', '/openai/v1/chat/completions', CHAT, headers);
    expect([first.status, again.body]).toEqual([200, first.body]);
  });

  it('may be a page of another origin', async () => {
    const answer = await fetch(`${gateway.baseUrl}/openai/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });

  it.each([
    ['/proxy/v1/chat/completions', 'POST /v1/chat/completions'],
    ['/v2/chat/completions/v1/messages', 'POST /v1/messages'],
    ['/llm/chat/completions', 'POST /v1/chat/completions'],
    ['/gateway/api/v1/responses', 'POST /v1/responses'],
    ['/team-a/v1/images/generations', 'POST /v1/images/generations'],
  ])('is told the right path and base URLs where something else stands in front: %s', async (path, meant) => {
    expect(await post(path, CHAT)).toMatchObject({
      status: 404,
      body: {
        message: `There is no POST ${path}. Did you mean ${meant}? The base URL is ${gateway.baseUrl}/v1 for clients of OpenAI's interfaces, and ${gateway.baseUrl} for those of Anthropic's and Google's.`,
      },
    });
  });

  it.each([
    '/v1/admin/v1/accounts',
    '/api/admin/v1/accounts',
    '/v1/metrics',
    '/api/ops',
    '/v1/v1/healthz',
    '/api/hello',
  ])('finds no route of operators or machines behind it: %s', async (path) => {
    expect((await gateway.send('GET', path)).status).toBe(404);
  });

  it.each([
    '/v1/responses/resp_1/files/file_1',
    '/v1/models/vendor-5/files/file_1',
    '/v1/assistants/asst_1/files/file_1',
  ])('reaches nothing through the id of something else: DELETE %s', async (path) => {
    expect((await gateway.send('DELETE', path)).status).toBe(404);
  });

  it('costs nothing when it is very long', async () => {
    const busyMs = await atBest(1_000, async () =>
      expect((await post(`${'/v1'.repeat(2_000)}/chat/completions`, CHAT)).status).toBe(404),
    );
    expect(busyMs).toBeLessThan(1_000);
  });
});

describe('A model whose name has a slash', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN: 'admin-token-for-tests' } });
  });
  afterAll(() => gateway.stop());

  it.each(['maker/model', 'house/maker/model-2026-10-01:free'])(
    'is found as client libraries write it: %s',
    async (name) => {
      const upstream = {
        id: name.length.toString().padStart(3, 'u'),
        protocol: 'sandbox',
        models: { [name]: 'writer-1' },
      };
      const asOperator = { authorization: 'Bearer admin-token-for-tests' };
      const made = [await gateway.send('POST', '/admin/v1/upstreams', upstream, asOperator)];
      for (const unit of ['input_token', 'output_token']) {
        const price = { model: name, unit, amount: '1', per_quantity: 1_000_000 };
        made.push(await gateway.send('POST', '/admin/v1/prices', price, asOperator));
      }
      expect(made.map(({ status }) => status < 300)).toEqual([true, true, true]);
      const asGoogles = { 'x-goog-api-key': TEST_KEY };
      await eventually(async () => {
        const { body } = await gateway.send<{ data: { id: string }[] }>('GET', '/v1/models');
        return body.data.some(({ id }) => id === name);
      });
      for (const base of ['/v1beta', '/v1', '/v1alpha', '', '/google/v1beta', '/v1beta/models']) {
        const generate = `${base}/models/${name}:generateContent`;
        const answer = await gateway.send('POST', generate, CONTENT, asGoogles);
        expect([generate, answer]).toEqual([generate, expect.objectContaining({ status: 200 })]);
      }
      const counted = await gateway.send('POST', `/v1beta/models/${name}:countTokens`, CONTENT, asGoogles);
      expect(counted).toMatchObject({ status: 200, body: { totalTokens: expect.any(Number) } });
      expect(await gateway.send('GET', `/v1/models/${name}`)).toMatchObject({ status: 200, body: { id: name } });
      expect(await gateway.send('GET', `/v1/models/${name}`, undefined, asGoogles)).toMatchObject({
        status: 200,
        body: { name: `models/${name}` },
      });
    },
  );
});

describe('A request to open a WebSocket', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  async function upgrade(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: string }> {
    const sent = httpRequest(gateway.baseUrl + path, {
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
  }

  it.each([
    '/v1/responses',
    '/v1/responses/',
    '/responses',
    '/v1/v1/responses',
    '/openai/v1/responses',
    '/v1/realtime?model=vendor-5',
    '/v1/chat/completions',
    '/v1/messages',
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  ])('gets 426 with an error, with and without a key, and its connection ends: %s', async (path) => {
    for (const headers of [
      {},
      { authorization: `Bearer ${TEST_KEY}` },
      { authorization: 'Bearer sk-wrong' },
      { upgrade: 'WebSocket' },
    ]) {
      const answer = await upgrade(path, headers);
      expect([answer.status, answer.headers.connection]).toEqual([426, 'close']);
      expect(JSON.parse(answer.body)).toMatchObject({
        code: 426,
        message: expect.stringContaining('POST /v1/responses'),
        error: { type: 'invalid_request_error' },
      });
    }
  });

  it('is no plain GET, which gets 405, and leaves what follows as it was', async () => {
    expect((await gateway.send('GET', '/v1/responses')).status).toBe(405);
    expect((await upgrade('/v1/models', { upgrade: 'h2c', authorization: `Bearer ${TEST_KEY}` })).status).toBe(200);
    expect((await gateway.send('POST', '/v1/responses', RESPONSE)).status).toBe(200);
  });
});
