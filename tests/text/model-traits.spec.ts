import type { JsonObject } from '#contracts';
import { type FakeEngine, startFakeEngine } from '../harness/tools/search-engine.js';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const upstream = (id: string, protocol: string, models: object, more: object = {}): string =>
  `  - ${JSON.stringify({ id, protocol, base_url: 'VENDOR_URL', key: 'k', models, ...more })}\n`;

/** Models of this autumn, each behind the protocol of its maker. */
const UPSTREAMS = [
  upstream(
    'claude',
    'messages',
    {
      opus: 'claude-opus-5-5',
      resold: 'claude-opus-5-5-20260922',
      sonnet: 'claude-sonnet-5-5',
      worded: 'claude-fable-5-1',
    },
    { model_traits: { worded: { forced_tools: 'in_words' } } },
  ),
  upstream('gpt', 'responses', { astra: 'gpt-6-astra', luna: 'gpt-6-luna', both: 'gpt-6-sol' }, { priority: 1 }),
  upstream(
    'gpt-chat',
    'chat',
    { 'chat-only': 'gpt-6-sol', both: 'gpt-6-sol' },
    {
      model_traits: { 'gpt-6*': { tools_over_chat: 'refused' } },
    },
  ),
  upstream('google', 'gemini', { argon: 'gemini-4-argon', neon: 'gemini-4-neon' }),
].join('');

const MODELS = ['opus', 'resold', 'sonnet', 'worded', 'astra', 'luna', 'both', 'chat-only', 'argon', 'neon'];

const NAME = 'get_weather';
const PARAMETERS = { type: 'object', properties: {} };

/** A function of the caller's that must be called, as each style says it. */
const FORCED: Record<Style, JsonObject> = {
  responses: { tools: [{ type: 'function', name: NAME, parameters: PARAMETERS }], tool_choice: 'required' },
  chat: { tools: [{ type: 'function', function: { name: NAME, parameters: PARAMETERS } }], tool_choice: 'required' },
  messages: { tools: [{ name: NAME, input_schema: PARAMETERS }], tool_choice: { type: 'any' } },
  gemini: {
    tools: [{ functionDeclarations: [{ name: NAME }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY' } },
  },
};
const free = (style: Style): JsonObject => {
  const { tool_choice: _choice, toolConfig: _config, ...tools } = FORCED[style] as Record<string, never>;
  return tools;
};

let engine: FakeEngine;
let gateway: TextGateway;
beforeAll(async () => {
  engine = await startFakeEngine();
  const environment = { WEB_SEARCH_ENGINE: 'searxng', WEB_SEARCH_URL: engine.baseUrl };
  gateway = await startTextGateway(environment, { more: UPSTREAMS });
  gateway.vendor.isStrict = true;
  await gateway.database.query({
    text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
      select 'price_traits_' || model || unit, model, unit, 1, 1, now() - interval '1 day', 'test'
      from unnest($1::text[]) model, unnest(array['input_token', 'output_token', 'web_search_call']) unit`,
    values: [MODELS],
  });
});
afterAll(async () => {
  await gateway.stop();
  await engine.stop();
});

async function ask(style: Style, model: string, stream: boolean, more: JsonObject = {}): Promise<[number, string]> {
  const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream });
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...more }),
  });
  return [response.status, await response.text()];
}

const heldOnce = async (): Promise<string> => {
  const text = `select count(*)::text as held from ledger_entry where kind = 'hold'`;
  const { rows } = await gateway.database.query<{ held: string }>({ text, values: [] });
  return rows[0]?.held ?? '';
};

const OTHERS = (own: Style): readonly (readonly [Style, boolean])[] =>
  STYLES.filter((style) => style !== own).flatMap((style) => [[style, false] as const, [style, true] as const]);

describe('A demand for a call that a model does not take', () => {
  it.each(OTHERS('messages'))(
    'is refused by its field before money moves, in the %s style, streamed: %s',
    async (style, stream) => {
      const [asked, held] = [gateway.vendor.seen.length, await heldOnce()];
      for (const model of ['opus', 'resold', 'sonnet']) {
        const [status, text] = await ask(style, model, stream, FORCED[style]);
        expect([status, text]).toEqual([400, expect.stringMatching(/tool_choice|toolConfig/)]);
      }
      expect([gateway.vendor.seen.length, await heldOnce()]).toEqual([asked, held]);
    },
  );

  it.each<[Style, JsonObject]>([
    ['responses', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }],
    ['chat', { web_search_options: {}, ...FORCED.chat }],
    ['messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'any' } }],
  ])('is refused before money moves for a tool that the gateway runs, in the %s style', async (style, more) => {
    const [asked, held] = [gateway.vendor.seen.length, await heldOnce()];
    for (const stream of [false, true]) {
      const [status, text] = await ask(style, 'opus', stream, more);
      expect([status, text]).toEqual([400, expect.stringContaining('tool_choice')]);
    }
    expect([gateway.vendor.seen.length, await heldOnce()]).toEqual([asked, held]);
  });

  it.each(OTHERS('messages'))(
    'stands in the prompt where its operator says so, in the %s style, streamed: %s',
    async (style, stream) => {
      expect((await ask(style, 'worded', stream, FORCED[style]))[0]).toBe(200);
      expect(gateway.vendor.last.body).not.toHaveProperty('tool_choice');
      expect(JSON.stringify(gateway.vendor.last.body['system'])).toContain('Answer with a call of');
    },
  );

  it('passes through to the vendor in its own style, whose words the caller gets', async () => {
    const [status, text] = await ask('messages', 'opus', false, FORCED.messages);
    expect([status, text]).toEqual([400, expect.stringContaining('forced tool use is not supported')]);
  });
});

describe('Functions that a model takes over the responses protocol alone', () => {
  it.each(STYLES)(
    'are refused by their field before money moves where there is no such upstream: %s',
    async (style) => {
      const [asked, held] = [gateway.vendor.seen.length, await heldOnce()];
      const [status, text] = await ask(style, 'chat-only', false, free(style));
      expect([status, text]).toEqual([400, expect.stringMatching(/tools: .*responses protocol/)]);
      expect([gateway.vendor.seen.length, await heldOnce()]).toEqual([asked, held]);
    },
  );

  it.each<[Style, JsonObject]>([
    ['responses', { tools: [{ type: 'web_search' }] }],
    ['chat', { web_search_options: {} }],
    ['messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['gemini', { tools: [{ googleSearch: {} }] }],
  ])('are refused so where the gateway would run them: %s', async (style, more) => {
    const [asked, held] = [gateway.vendor.seen.length, await heldOnce()];
    const [status, text] = await ask(style, 'chat-only', false, more);
    expect([status, text]).toEqual([400, expect.stringMatching(/tools: .*responses protocol/)]);
    expect([gateway.vendor.seen.length, await heldOnce()]).toEqual([asked, held]);
    expect((await ask(style, 'both', false, more))[0]).toBe(200);
    expect(gateway.vendor.last.path).toMatch(/responses$/);
  });

  it.each(STYLES)('go to the upstream that takes them: %s', async (style) => {
    expect((await ask(style, 'both', false, free(style)))[0]).toBe(200);
    expect(gateway.vendor.last.path).toMatch(/responses$/);
  });

  it('are no matter to a request without any', async () => {
    expect((await ask('messages', 'chat-only', false))[0]).toBe(200);
    expect(gateway.vendor.last.path).toMatch(/chat\/completions$/);
  });
});

describe('A request that says what a model refuses as a hint', () => {
  it.each(STYLES.flatMap((style) => ['opus', 'astra', 'argon', 'neon'].map((model) => [style, model] as const)))(
    'in the %s style is taken by %s, whole and streamed',
    async (style, model) => {
      const said: Record<Style, JsonObject> = {
        responses: { temperature: 0.5, reasoning: { effort: 'low' } },
        chat: { temperature: 0.5, presence_penalty: 1, frequency_penalty: 1, reasoning_effort: 'minimal' },
        messages: { thinking: { type: 'disabled' }, temperature: 0.5 },
        gemini: { generationConfig: { temperature: 0.5, presencePenalty: 1, thinkingConfig: { thinkingBudget: 0 } } },
      };
      const own = { opus: 'messages', astra: 'responses', argon: 'gemini', neon: 'gemini' }[model];
      if (own === style) return;
      for (const stream of [false, true]) {
        const [status, text] = await ask(style, model, stream, said[style]);
        expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      }
    },
  );
});

describe('More than one reply of a model that writes one', () => {
  it('is refused by its field before money moves', async () => {
    const asked = gateway.vendor.seen.length;
    const [status, text] = await ask('gemini', 'neon', false, { generationConfig: { candidateCount: 2 } });
    expect([status, text]).toEqual([400, expect.stringContaining('candidateCount')]);
    expect(gateway.vendor.seen.length).toBe(asked);
  });
});

/** What each style says of a reply that the output limit cut off. */
const CUT: Record<Style, RegExp> = {
  responses: /"status":"incomplete".*"reason":"max_output_tokens"|"reason":"max_output_tokens".*"status":"incomplete"/s,
  chat: /"finish_reason":"length"/,
  messages: /"stop_reason":"max_tokens"/,
  gemini: /"finishReason":"CONTINUATION","continuationToken":"go-on"/,
};

describe('A reply that its vendor would continue', () => {
  afterEach(() => {
    gateway.vendor.rewrite = (json) => json;
  });

  it.each(STYLES.flatMap((style) => [false, true].map((stream) => [style, stream] as const)))(
    'is never sold as a whole one, in the %s style, streamed: %s',
    async (style, stream) => {
      gateway.vendor.rewrite = (json) =>
        json.replaceAll('"finishReason":"STOP"', '"finishReason":"CONTINUATION","continuationToken":"go-on"');
      const [status, text] = await ask(style, 'argon', stream);
      expect([status, text]).toEqual([200, expect.stringMatching(CUT[style])]);
    },
  );

  it.each([false, true])('is continued by its token in the style of its vendor, streamed: %s', async (stream) => {
    const more = { continuationToken: 'go-on', generationConfig: { maxOutputTokens: 60_000 } };
    expect((await ask('gemini', 'argon', stream, more))[0]).toBe(200);
    expect(gateway.vendor.last.body).toMatchObject(more);
  });

  it.each(STYLES.filter((style) => style !== 'messages'))(
    'by its own tools is told apart from a whole one, in the %s style',
    async (style) => {
      gateway.vendor.rewrite = (json) => json.replaceAll('"stop_reason":"end_turn"', '"stop_reason":"pause_turn"');
      const said = { responses: /max_tool_calls/, chat: /"length"/, gemini: /TOO_MANY_TOOL_CALLS/ }[style];
      for (const stream of [false, true]) expect((await ask(style, 'opus', stream))[1]).toMatch(said);
    },
  );
});

it('A reply without a limit that is not streamed is asked for with one that its upstream takes', async () => {
  expect((await ask('gemini', 'argon', false))[0]).toBe(200);
  expect(gateway.vendor.last.body).toMatchObject({ generationConfig: { maxOutputTokens: 32_768 } });
  expect((await ask('chat', 'argon', false))[0]).toBe(200);
  expect(gateway.vendor.last.body).toMatchObject({ generationConfig: { maxOutputTokens: 32_768 } });
  expect((await ask('gemini', 'argon', true))[0]).toBe(200);
  expect(gateway.vendor.last.body).toMatchObject({ generationConfig: { maxOutputTokens: 65_536 } });
});
