import { mock, type Mock } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

/** The models of an operator who sells many. */
const MANY = Array.from({ length: 500 }, (_, at) => `claude-many-${at}`);

const MORE = `  - { id: many, protocol: messages, base_url: "VENDOR_URL", key: "\${VENDOR_KEY}", models: { ${MANY.map((name) => `${name}: vendor-messages`).join(', ')} } }
`;

const BILLING = 'x-anthropic-billing-header: cc_version=2.1.330.0ab; cc_entrypoint=cli; cch=12ab3;';
const SYSTEM = [
  { type: 'text', text: BILLING },
  { type: 'text', text: "You are Claude Code, Anthropic's official CLI.", cache_control: { type: 'ephemeral' } },
  { type: 'text', text: 'Be brief.  ' },
];
const MESSAGES = [{ role: 'user', content: 'Hello there' }];

describe('The contract of Claude Code with a gateway', () => {
  let gateway: TextGateway;
  // A clock that only goes on: one that is set back makes what is written together wait for the time that it had.
  const realMs = performance.now.bind(performance);
  let skippedMs = 0;
  let elapsed: Mock<() => number>;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { more: MORE });
    elapsed = mock.method(performance, 'now', () => realMs() + skippedMs);
  });
  afterAll(async () => {
    await gateway.stop();
    elapsed.mock.restore();
  });

  const ask = (body: JsonObject, headers: Record<string, string> = {}) => askAt(gateway, body, headers);
  const askAt = async (at: TextGateway, body: JsonObject, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${at.baseUrl}/v1/messages?beta=true`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        ...headers,
      },
      body: JSON.stringify({ max_tokens: 99, messages: MESSAGES, ...body }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text };
  };

  it.each(['HEAD', 'GET'])('%s /api/hello is refused, and no error', async (method) => {
    expect((await fetch(`${gateway.baseUrl}/api/hello`, { method })).status).toBe(404);
  });

  it.each([
    [MODEL_OVER.messages, 'start'],
    [MODEL_OVER.messages, 'middle'],
    [MODEL_OVER.chat, 'start'],
    [MODEL_OVER.chat, 'middle'],
  ] as const)('a stream of %s that is silent for 310 s at its %s says something every 15 s', async (model, at) => {
    mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
    try {
      const { vendor } = gateway;
      let open = (): void => undefined;
      let reached = false;
      const opened = new Promise<void>((resolve) => (open = resolve));
      vendor.gate = { at, opened, onReached: () => (reached = true) };
      const answer = ask({ model, stream: true });
      await eventually(() => reached);
      for (let seconds = 0; seconds < 310; seconds += 5) {
        skippedMs += 5_000;
        mock.timers.tick(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      vendor.gate = undefined;
      open();
      const { status, text } = await answer;
      const pings = text.match(/event: ping\n/g)?.length ?? 0;
      expect([status, pings >= 20, text.includes('event: message_stop')]).toEqual([200, true, true]);
    } finally {
      mock.timers.reset();
    }
  });

  it('sends versions, betas and unknown fields as they came to an upstream that allows all', async () => {
    const open = await startTextGateway({}, { settings: 'allow: { betas: all, fields: all }' });
    const beta = 'claude-code-20250219,  a-beta-of-tomorrow-2027-01-01 ,context-1m-2025-08-07';
    const unknown = { a_field_of_tomorrow: { deep: [1, null] }, speed: 'fast' };
    const { status } = await askAt(
      open,
      { model: MODEL_OVER.messages, ...unknown },
      { 'anthropic-beta': beta, 'anthropic-version': '2024-01-01' },
    );
    const { headers, body } = open.vendor.last;
    await open.stop();
    expect([status, headers['anthropic-beta'], headers['anthropic-version']]).toEqual([200, beta, '2024-01-01']);
    expect(body).toMatchObject(unknown);
  });

  it('leaves out betas and fields of unknown price elsewhere, and keeps the version', async () => {
    const { status } = await ask(
      { model: MODEL_OVER.messages, a_field_of_tomorrow: 1 },
      { 'anthropic-beta': 'claude-code-20250219,a-beta-of-tomorrow-2027-01-01', 'anthropic-version': '2024-01-01' },
    );
    const { headers, body } = gateway.vendor.last;
    expect([status, headers['anthropic-beta'], headers['anthropic-version'], 'a_field_of_tomorrow' in body]).toEqual([
      200,
      'claude-code-20250219',
      '2024-01-01',
      false,
    ]);
  });

  it('leaves the blocks of the system prompt as they are, the first one alone', async () => {
    await ask({ model: MODEL_OVER.messages, system: SYSTEM });
    expect(gateway.vendor.last.text).toContain(JSON.stringify(SYSTEM));
  });

  it.each([MODEL_OVER.chat, MODEL_OVER.responses, MODEL_OVER.gemini])(
    'leaves its billing line out of what is translated: %s',
    async (model) => {
      const { status } = await ask({ model, system: SYSTEM });
      expect([status, gateway.vendor.last.text.includes('x-anthropic-billing-header')]).toEqual([200, false]);
      expect(gateway.vendor.last.text).toContain('official CLI');
    },
  );

  it.each([
    'messages.3: role "system" is not supported in the middle of a conversation for this model.',
    'adaptive thinking is not supported on this model',
    'tools.0.custom.defer_loading: Extra inputs are not permitted',
    'prompt is too long: 208310 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
  ])('repeats the sentence of the vendor, in its envelope: %s', async (message) => {
    const { vendor } = gateway;
    vendor.spoiled.set('spoil this one', {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message } },
    });
    const answer = await ask({ model: MODEL_OVER.messages, messages: [{ role: 'user', content: 'spoil this one' }] });
    vendor.spoiled.clear();
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      expect.objectContaining({
        type: 'error',
        error: expect.objectContaining({ type: 'invalid_request_error', message }),
      }),
    ]);
  });

  it.each([
    ['a bearer token', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['x-api-key', (key: string) => ({ 'x-api-key': key })],
  ])('lists 500 models at once, with %s', async (_how, headers) => {
    const answer = await fetch(`${gateway.baseUrl}/v1/models?limit=1000`, {
      headers: headers(gateway.key) as Record<string, string>,
      redirect: 'manual',
    });
    const { data, has_more: hasMore } = (await answer.json()) as {
      data: { id: string; type: string; display_name: string }[];
      has_more: boolean;
    };
    expect([answer.status, hasMore]).toEqual([200, false]);
    const many = data.filter(({ id }) => id.startsWith('claude-many-'));
    expect([many.length, many.every(({ type, display_name: name }) => type === 'model' && name !== '')]).toEqual([
      500,
      true,
    ]);
  });

  it('is told once that money is used up: 402, not to be repeated, with the sentence', async () => {
    await gateway.setBalance(0n);
    const asked = gateway.vendor.seen.length;
    const answer = await ask({ model: MODEL_OVER.messages });
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([402, 'false']);
    let sent = 0;
    const client = new Anthropic({
      baseURL: gateway.baseUrl,
      authToken: gateway.key,
      apiKey: null,
      maxRetries: 5,
      fetch: (...request) => {
        sent += 1;
        return fetch(...request);
      },
    });
    await expect(
      client.messages.create({
        model: MODEL_OVER.messages,
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    ).rejects.toMatchObject({ status: 402, message: expect.stringMatching(/balance/i) });
    expect([sent, gateway.vendor.seen.length]).toEqual([1, asked]);
    await gateway.spareMoney();
  });
});

describe('What Codex and Gemini CLI expect', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  it('Codex lists models and sends its turns by HTTP, with what it adds to them', async () => {
    const headers = { authorization: `Bearer ${gateway.key}`, originator: 'codex_cli_rs', 'session-id': 'sess_1' };
    const models = await fetch(`${gateway.baseUrl}/v1/models?client_version=0.169.0`, { headers });
    expect(models.status).toBe(200);
    const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({
        model: MODEL_OVER.responses,
        instructions: 'Be brief.',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] }],
        tools: [],
        tool_choice: 'auto',
        parallel_tool_calls: true,
        reasoning: { effort: 'medium', summary: 'auto' },
        store: false,
        stream: true,
        include: ['reasoning.encrypted_content'],
        prompt_cache_key: 'sess_1',
      }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('event: response.completed')]);
    expect(gateway.vendor.last.body).toMatchObject({ prompt_cache_key: 'sess_1', store: false });
  });

  it('Gemini CLI streams by alt=sse and counts tokens, with its key in x-goog-api-key', async () => {
    const ask = (method: string) =>
      fetch(`${gateway.baseUrl}/v1beta/models/${MODEL_OVER.gemini}:${method}`, {
        method: 'POST',
        headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
        body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello there' }] }] }),
      });
    const stream = await ask('streamGenerateContent?alt=sse');
    expect([stream.status, await stream.text()]).toEqual([
      200,
      expect.stringMatching(/^data: \{.*"finishReason":"STOP"/s),
    ]);
    const count = await ask('countTokens');
    expect([count.status, await count.json()]).toMatchObject([200, { totalTokens: expect.any(Number) }]);
  });
});

describe('A 429', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  const ask = async (
    path: string,
    body: JsonObject,
  ): Promise<{ status: number; by: string | null; error: JsonObject }> => {
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(body),
    });
    const { error } = (await answer.json()) as { error: JsonObject };
    return { status: answer.status, by: answer.headers.get('x-gateway-limited-by'), error };
  };

  const STYLES = [
    ['/v1/chat/completions', { messages: MESSAGES }, MODEL_OVER.chat],
    ['/v1/responses', { input: 'Hello there' }, MODEL_OVER.responses],
    ['/v1/messages', { messages: MESSAGES, max_tokens: 9 }, MODEL_OVER.messages],
    [
      `/v1beta/models/${MODEL_OVER.gemini}:generateContent`,
      { contents: [{ role: 'user', parts: [{ text: 'Hello there' }] }] },
      undefined,
    ],
  ] as const;

  it('tells whose limit it was, by code, type and header', async () => {
    const codes = new Set<unknown>();
    for (const [path, body, model] of STYLES) {
      gateway.vendor.spoiled.set('Hello there', {
        status: 429,
        headers: { 'retry-after': '1' },
        body: { error: { message: 'slow down', type: 'rate_limit_error', code: 429, status: 'RESOURCE_EXHAUSTED' } },
      });
      const theirs = await ask(path, { ...body, ...(model && { model }) });
      gateway.vendor.spoiled.clear();
      expect([path, theirs.status, theirs.by]).toEqual([path, 429, 'upstream']);
      codes.add(theirs.error['code']);
    }
    expect(codes).toEqual(new Set(['upstream_rate_limited', undefined, 429]));
    await gateway.database.query({ text: 'update api_key set requests_per_minute = 1', values: [] });
    const [path, body, model] = STYLES[0];
    const ours = await eventually(async () => {
      const answer = await ask(path, { ...body, model });
      return answer.by === 'gateway' && answer;
    });
    expect(ours).toMatchObject({ status: 429, error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } });
  });
});

describe('llms.txt', () => {
  it('tells how to connect, with the address of the gateway, to anybody', async () => {
    const gateway = await startTextGateway({ PUBLIC_BASE_URL: 'https://gateway.example' });
    const answer = await fetch(`${gateway.baseUrl}/llms.txt`);
    const text = await answer.text();
    await gateway.stop();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
    expect(text).toMatch(/^# .+\n\n> /);
    for (const told of [
      'ANTHROPIC_BASE_URL=https://gateway.example`',
      'https://gateway.example/v1',
      'supports_websockets = false',
      'https://gateway.example/openapi.json',
    ])
      expect(text).toContain(told);
  });
});
