import type { JsonObject, JsonValue } from '#contracts';
import { signals } from '#platform';
import {
  ALLOW_EVERYTHING,
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
} from '../harness/text-vendor/text-gateway.js';
import { items, OWN_TOOL, parts, tool, user } from '../harness/text-vendor/body-parts.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini'] as const;

/** What is added to a request of the style, the field that the refusal names, and the entry that would allow it. */
type Unpriced = readonly [style: Style, added: JsonObject, param: string, allowed: string];

/** A tool that the model must use. One that is only offered is left out where the upstream speaks another interface. */
const insist = (definition: JsonObject): JsonObject => ({
  tools: [definition],
  tool_choice: definition['name'] === undefined ? 'required' : { type: 'any' },
});

/** Writing a cache that is kept for an hour costs more than the price book knows. */
const LONG_CACHE: JsonObject = { type: 'ephemeral', ttl: '1h' };

const UNPRICED: readonly Unpriced[] = [
  ...['web_search', 'web_search_preview', 'code_interpreter', 'image_generation'].map((type): Unpriced => [
    'responses',
    insist({ type }),
    'tools[0]',
    type,
  ]),
  ['responses', insist({ type: 'web_search_preview_2025_03_11' }), 'tools[0]', 'web_search_preview'],
  ['responses', tool({ type: 'computer_use_preview' }), 'tools[0]', 'computer_use_preview'],
  ['responses', tool({ type: 'a_tool_of_tomorrow' }), 'tools[0]', 'a_tool_of_tomorrow'],
  ['responses', tool({ type: 'mcp', server_label: 'x', connector_id: 'connector_mail' }), 'tools[0]', 'mcp'],
  [
    'responses',
    tool({ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }),
    'tools[0].tools[0]',
    'web_search',
  ],
  ['responses', { service_tier: 'priority' }, 'service_tier', 'priority'],
  ['responses', { service_tier: 'flex' }, 'service_tier', 'flex'],
  ['responses', { speed: 'fast' }, 'speed', 'speed'],
  ['responses', items({ type: 'input_file', file_id: 'file-1' }), 'input[0].content[0].file_id', 'file_id'],
  ['messages', insist({ type: 'web_search_20250305', name: 'web_search' }), 'tools[0]', 'web_search'],
  ['messages', insist({ type: 'code_execution_20250522', name: 'code_execution' }), 'tools[0]', 'code_execution'],
  ['messages', insist({ type: 'web_fetch_20250910', name: 'web_fetch' }), 'tools[0]', 'web_fetch'],
  ['messages', tool({ type: 'computer_20250124', name: 'computer' }), 'tools[0]', 'computer'],
  ['chat', tool({ type: 'builtin_function', function: { name: '$x' } }), 'tools[0]', 'builtin_function'],
  ['chat', { service_tier: 'flex' }, 'service_tier', 'flex'],
  ['chat', { service_tier: 'priority' }, 'service_tier', 'priority'],
  ['chat', { web_search_options: {} }, 'web_search_options', 'web_search_options'],
  ['chat', { modalities: ['text', 'audio'] }, 'modalities', 'modalities'],
  ['chat', { audio: { voice: 'alloy', format: 'wav' } }, 'audio', 'audio'],
  ['chat', { prediction: { type: 'content', content: 'x' } }, 'prediction', 'prediction'],
  ['chat', { search_parameters: { mode: 'on' } }, 'search_parameters', 'search_parameters'],
  ['chat', { plugins: [{ id: 'web' }] }, 'plugins', 'plugins'],
  ['chat', { models: ['dearer'] }, 'models', 'models'],
  ['chat', user({ type: 'file', file: { file_id: 'file_1' } }), 'messages[0].content[0].file.file_id', 'file_id'],
  [
    'messages',
    user({ type: 'tool_addition', tool: { type: 'tool_definition', definition: { type: 'web_search_20250305' } } }),
    'messages[0].content[0].tool.definition',
    'web_search',
  ],
  ['messages', { speed: 'fast' }, 'speed', 'speed'],
  ['messages', { inference_geo: 'us' }, 'inference_geo', 'inference_geo'],
  ['messages', { fallbacks: [{ model: 'dearer' }] }, 'fallbacks', 'fallbacks'],
  ['messages', { container: 'container_1' }, 'container', 'container'],
  [
    'messages',
    user({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
    'messages[0].content[0].source.file_id',
    'file_id',
  ],
  [
    'gemini',
    { generationConfig: { routingConfig: { manualMode: { modelName: 'dearer' } } } },
    'generationConfig.routingConfig',
    'routingConfig',
  ],
  ['gemini', { cachedContent: 'cachedContents/1' }, 'cachedContent', 'cachedContent'],
  ['gemini', { cached_content: 'cachedContents/1' }, 'cachedContent', 'cachedContent'],
  ['gemini', { serviceTier: 'priority' }, 'serviceTier', 'priority'],
  ['gemini', { serviceTier: 2 }, 'serviceTier', '2'],
  ['gemini', { generationConfig: { speechConfig: {} } }, 'generationConfig.speechConfig', 'speechConfig'],
  [
    'gemini',
    { generationConfig: { responseFormat: [{ text: {} }, { image: {} }] } },
    'generationConfig.responseFormat',
    'responseFormat',
  ],
  [
    'gemini',
    { generationConfig: { responseModalities: ['IMAGE'] } },
    'generationConfig.responseModalities',
    'responseModalities',
  ],
  [
    'gemini',
    parts({ fileData: { fileUri: 'gs://bucket/video.mp4' } }),
    'contents[0].parts[0].fileData.fileUri',
    'fileUri',
  ],
  [
    'gemini',
    parts({ file_data: { file_uri: 'https://generativelanguage.googleapis.com/v1beta/files/1' } }),
    'contents[0].parts[0].fileData.fileUri',
    'fileUri',
  ],
];

const WAV: JsonObject = { data: 'UklGRg==', format: 'wav' };
const CHAT_PART = 'messages[0].content[0]';
const GEMINI_PART = 'contents[0].parts[0]';

/** Sound is charged by tokens too, at several times the price of text. */
const SOUNDS: readonly Unpriced[] = (
  [
    ['chat', user({ type: 'input_audio', input_audio: WAV }), CHAT_PART],
    ['chat', user({ type: 'audio_url', audio_url: { url: 'https://a.test/x' } }), CHAT_PART],
    ['chat', user({ type: 'file', file: { file_data: 'data:audio/mpeg;base64,AAAA' } }), `${CHAT_PART}.file.file_data`],
    [
      'chat',
      {
        messages: [
          { role: 'assistant', content: 'x', audio: { id: 'audio_1' } },
          { role: 'user', content: 'x' },
        ],
      },
      'messages[0].audio',
    ],
    ['responses', items({ type: 'input_audio', input_audio: WAV }), 'input[0].content[0]'],
    [
      'responses',
      items({ type: 'input_file', file_data: 'data:audio/wav;base64,UklGRg==' }),
      'input[0].content[0].file_data',
    ],
    [
      'responses',
      items({ type: 'input_file', file_url: 'https://a.test/talk.mp3?x=1' }),
      'input[0].content[0].file_url',
    ],
    [
      'gemini',
      parts({ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }),
      `${GEMINI_PART}.inlineData.mimeType`,
    ],
    ['gemini', parts({ inline_data: { mime_type: 'AUDIO/MP3', data: 'AAAA' } }), `${GEMINI_PART}.inlineData.mimeType`],
    [
      'gemini',
      parts({ file_data: { mime_type: 'audio/ogg', file_uri: 'https://a.test/x' } }),
      `${GEMINI_PART}.fileData.mimeType`,
    ],
    [
      'gemini',
      parts({
        functionResponse: {
          name: 'f',
          response: {},
          parts: [{ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }],
        },
      }),
      `${GEMINI_PART}.functionResponse.parts[0].inlineData.mimeType`,
    ],
  ] as const
).map(([style, added, param]) => [style, added, param, 'input_audio']);

/** How long a prompt is kept: dear where the upstream speaks the style's own interface, and never sent to any other. */
const LONG_CACHES: readonly Unpriced[] = (
  [
    ['messages', '', { cache_control: LONG_CACHE }],
    ['messages', 'messages[0].content[0].', user({ type: 'text', text: 'x', cache_control: LONG_CACHE })],
    ['messages', 'tools[0].', tool({ name: 'f', input_schema: {}, cache_control: LONG_CACHE })],
    ['chat', 'messages[0].content[0].', user({ type: 'text', text: 'x', cache_control: LONG_CACHE })],
    ['chat', '', { prompt_cache_options: { ttl: '12h' } }],
    ['responses', '', { prompt_cache_options: { ttl: '12h' } }],
    [
      'responses',
      'input[0].content[0].',
      items({ type: 'input_text', text: 'x', prompt_cache_breakpoint: { ttl: '12h' } }),
    ],
  ] as const
).map(([style, place, added]) => {
  const name = /\w+(?=":\{[^{]*"ttl")/.exec(JSON.stringify(added))?.[0] ?? '';
  return [style, added, `${place}${name}.ttl`, `${name}.ttl`];
});

/** Tools that are only offered: beside tools of the caller the request is whole without them. */
const OFFERED: readonly Unpriced[] = [
  ['responses', tool({ type: 'web_search' }), 'tools[0]', 'web_search'],
  ['responses', { ...tool({ type: 'image_generation' }), tool_choice: 'auto' }, 'tools[0]', 'image_generation'],
  ['messages', tool({ type: 'web_search_20250305', name: 'web_search' }), 'tools[0]', 'web_search'],
  ['gemini', tool({ googleSearch: {} }), 'tools[0].googleSearch', 'googleSearch'],
  ['gemini', tool({ google_search: {} }), 'tools[0].googleSearch', 'googleSearch'],
  ['gemini', tool({ codeExecution: {} }), 'tools[0].codeExecution', 'codeExecution'],
  ['gemini', tool({ url_context: {} }), 'tools[0].urlContext', 'urlContext'],
];

/** What has a unit that a price would open: there is no model at such a price. */
const OF_A_UNIT =
  /^(web_search|web_search_preview|web_search_options|googleSearch|modalities|audio|speechConfig|responseFormat|responseModalities|input_audio|.*[.]ttl)$/;
const refusalOf = (allowed: string): number => (OF_A_UNIT.test(allowed) ? 404 : 400);

let gateway: TextGateway;
let penniless: TextGateway;
let open: TextGateway;
let refusing: TextGateway;
beforeAll(async () => {
  [gateway, penniless, open, refusing] = await Promise.all([
    startTextGateway(),
    startTextGateway(),
    startTextGateway({}, { settings: ALLOW_EVERYTHING }),
    startTextGateway({}, { settings: 'translation: { lacking_tools: refuse }' }),
  ]);
  await penniless.setBalance(0n);
});
afterAll(() => Promise.all([gateway, penniless, open, refusing].map((each) => each.stop())));

async function ask(over: TextGateway, style: Style, model: string, added: JsonObject, stream = false) {
  const { path, headers, body } = textRequest(style, { key: over.key, model, stream });
  return over.send<JsonObject & { message?: string }>('POST', path, { ...body, ...added }, headers);
}

describe('Requests that the gateway has no price for', () => {
  it.each([...UNPRICED, ...SOUNDS])(
    'is refused in the %s style, whatever the protocol: %j',
    async (style, added, param, allowed) => {
      for (const protocol of PROTOCOLS)
        for (const stream of [false, true]) {
          const { status, body } = await ask(penniless, style, MODEL_OVER[protocol], added, stream);
          // Before money is held: the account has none.
          expect([status, body.message]).toEqual([
            refusalOf(allowed),
            expect.stringContaining(`"${allowed}" in allow.`),
          ]);
          expect(body.message).toContain(`${param}: `);
        }
      expect(penniless.vendor.seen).toHaveLength(0);
    },
  );

  it.each(LONG_CACHES)(
    'is refused in the %s style only where it would cost: other interfaces are asked without it: %j',
    async (style, added, param, allowed) => {
      const { status, body } = await ask(penniless, style, MODEL_OVER[style], added);
      expect([status, body.message]).toEqual([refusalOf(allowed), expect.stringContaining(`"${allowed}" in allow.`)]);
      expect(body.message).toContain(`${param}: `);
      for (const protocol of PROTOCOLS.filter((other) => other !== style)) {
        expect((await ask(gateway, style, MODEL_OVER[protocol], added)).status).toBe(200);
        expect(gateway.vendor.last.text).not.toMatch(/"ttl"/);
      }
    },
  );

  it.each([...UNPRICED, ...SOUNDS, ...LONG_CACHES])(
    'passes to an upstream of the %s style whose policy allows it: %j',
    async (style, added) => {
      const asked = open.vendor.seen.length;
      expect((await ask(open, style, MODEL_OVER[style], added)).status).toBe(200);
      expect(open.vendor.seen.length).toBe(asked + 1);
    },
  );

  it.each(
    (['responses', 'chat', 'gemini'] as const).flatMap((style) =>
      ['flex', 'priority'].flatMap((tier) => [false, true].map((stream) => [style, tier, stream] as const)),
    ),
  )(
    'is refused where it is allowed and the upstream has no field for it: %s style, tier %s, streamed %s',
    async (style, tier, stream) => {
      const field = style === 'gemini' ? 'serviceTier' : 'service_tier';
      const asked = open.vendor.seen.length;
      const { status, body } = await ask(open, style, MODEL_OVER.messages, { [field]: tier }, stream);
      expect([status, body.message]).toEqual([400, expect.stringContaining(`the service tier "${tier}" cannot be`)]);
      expect(open.vendor.seen.length).toBe(asked);
      if (stream) return;
      for (const protocol of ['responses', 'chat', 'gemini'] as const) {
        expect((await ask(open, style, MODEL_OVER[protocol], { [field]: tier })).status).toBe(200);
        expect(open.vendor.last.text).toContain(`"${tier}"`);
      }
    },
  );

  it.each(OFFERED)(
    'is refused where it is only offered by upstreams that are configured to refuse, in the %s style: %j',
    async (style, added, param, allowed) => {
      for (const protocol of PROTOCOLS) {
        const { status, body } = await ask(refusing, style, MODEL_OVER[protocol], added);
        expect([status, body.message]).toEqual([refusalOf(allowed), expect.stringContaining(`${param}: `)]);
      }
    },
  );

  it.each(OFFERED)(
    'is left out where it is only offered beside tools of the caller, and named, in the %s style whatever the protocol: %j',
    async (style, { tools }, _param, allowed) => {
      const beside = { tools: [...(tools as JsonValue[]), OWN_TOOL[style]] };
      for (const protocol of PROTOCOLS) {
        const { status, headers } = await ask(gateway, style, MODEL_OVER[protocol], beside);
        expect([status, headers.get('x-gateway-tools-left-out')]).toEqual([200, allowed]);
        expect(gateway.vendor.last.body['tools']).toHaveLength(1);
      }
    },
  );

  it.each(OFFERED)(
    'is refused as the only tool in the %s style whatever the protocol: %j',
    async (style, added, param, allowed) => {
      const asked = gateway.vendor.seen.length;
      for (const protocol of PROTOCOLS) {
        const { status, body } = await ask(gateway, style, MODEL_OVER[protocol], added);
        expect([status, body.message]).toEqual([refusalOf(allowed), expect.stringContaining(`${param}: `)]);
      }
      expect(gateway.vendor.seen.length).toBe(asked);
    },
  );

  it('is also removed from the allowed tools', async () => {
    const allowedTools = (...types: string[]): JsonObject => ({
      tools: [{ type: 'web_search' }, { type: 'custom', name: 'apply_patch' }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: types.map((type) => ({ type })) },
    });
    await ask(gateway, 'responses', MODEL_OVER.responses, allowedTools('web_search', 'custom'));
    expect(gateway.vendor.last.body).toMatchObject({ tool_choice: { tools: [{ type: 'custom' }] } });
    await ask(gateway, 'responses', MODEL_OVER.responses, allowedTools('web_search'));
    expect(gateway.vendor.last.body).toMatchObject({ tool_choice: 'none' });
  });

  it.each([
    ['responses', tool({ type: 'function', name: 'f', parameters: { properties: { file_id: { type: 'string' } } } })],
    ['responses', tool({ type: 'custom', name: 'apply_patch' })],
    ['responses', { service_tier: 'default' }],
    [
      'chat',
      tool({ type: 'function', function: { name: 'f', parameters: { properties: { file_id: { type: 'string' } } } } }),
    ],
    ['chat', tool({ type: 'custom', custom: { name: 'apply_patch' } })],
    ['chat', { modalities: ['text'], service_tier: 'default' }],
    ['messages', tool({ name: 'f', input_schema: { properties: { container: { type: 'string' } } } })],
    ['messages', tool({ type: 'bash_20250124', name: 'bash' })],
    ['messages', { cache_control: { type: 'ephemeral', ttl: '5m' } }],
    ['chat', { prompt_cache_options: { mode: 'explicit', ttl: '30m' } }],
    [
      'messages',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { file_id: 'mine' } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'http://127.0.0.1/' }] },
        ],
      },
    ],
    ['gemini', tool({ functionDeclarations: [{ name: 'f', parameters: { properties: { cachedContent: {} } } }] })],
    ['gemini', parts({ fileData: { fileUri: 'https://youtu.be/x', mimeType: 'video/mp4' } })],
    ['gemini', parts({ functionResponse: { name: 'f', response: { audio: { url: 'a.mp3', type: 'audio' } } } })],
    [
      'chat',
      tool({ type: 'function', function: { name: 'f', parameters: { properties: { audio: { type: 'string' } } } } }),
    ],
    ['chat', user({ type: 'text', text: 'data:audio/wav;base64,UklGRg==' })],
  ] as const)('is not seen in what the caller runs or writes itself, in the %s style: %j', async (style, added) => {
    expect((await ask(gateway, style, MODEL_OVER[style], added)).status).toBe(200);
  });

  it.each(STYLES)(
    'is not smuggled in by unknown fields: the %s style leaves them out, unless they are listed',
    async (style) => {
      const added = { fieldOfTomorrow: true };
      expect((await ask(gateway, style, MODEL_OVER[style], added)).status).toBe(200);
      expect(gateway.vendor.last.body).not.toHaveProperty('fieldOfTomorrow');
      expect((await ask(open, style, MODEL_OVER[style], added)).status).toBe(200);
      expect(open.vendor.last.body).toHaveProperty('fieldOfTomorrow', true);
    },
  );

  it.each(['responses', 'messages', 'chat'] as const)(
    'leaves the tier to the account of the vendor as every request does: the %s style sends no "auto", unless it is listed',
    async (style) => {
      const added = { service_tier: 'auto' };
      for (const protocol of PROTOCOLS) {
        expect((await ask(gateway, style, MODEL_OVER[protocol], added)).status).toBe(200);
        expect(gateway.vendor.last.body).not.toHaveProperty('service_tier');
      }
      expect((await ask(open, style, MODEL_OVER[style], added)).status).toBe(200);
      expect(open.vendor.last.body).toHaveProperty('service_tier', 'auto');
    },
  );

  it.each([
    ['responses', tool({ type: 'custom', name: 'x', Type: 'web_search' }), 'Type'],
    ['responses', { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: 'x', File_Id: 'f' }] }, 'File_Id'],
    ['chat', user({ type: 'file', file: { FILE_ID: 'f' } }), 'FILE_ID'],
    ['messages', user({ type: 'container_upload', FILE_ID: 'f' }), 'FILE_ID'],
    ['messages', user({ type: 'search_result', source: 'x', Source: 'y' }), 'Source'],
    ['gemini', parts({ fileData: { fileUri: 'https://youtu.be/x', fileURI: 'gs://x' } }), 'fileURI'],
  ] as const)('does not hide behind another letter case, in the %s style: %j', async (style, added, field) => {
    const asked = open.vendor.seen.length;
    const { status, body } = await ask(open, style, MODEL_OVER[style], added);
    expect([status, body.message]).toEqual([400, expect.stringContaining(`The field "${field}" differs from`)]);
    expect(open.vendor.seen.length).toBe(asked);
  });

  it('passes on only the betas that cost no more than tokens, or that the policy lists', async () => {
    const { path, headers, body } = textRequest('messages', {
      key: gateway.key,
      model: MODEL_OVER.messages,
      stream: false,
    });
    const betas = { 'anthropic-beta': 'context-1m-2025-08-07, fast-mode-2026-02-01' };
    const [some, all] = [gateway, open];
    await some.send('POST', path, body, { ...headers, ...betas });
    expect(some.vendor.last.headers['anthropic-beta']).toBeUndefined();
    const free = { 'anthropic-beta': 'context-1m-2025-08-07,context-management-2025-06-27, effort-2025-11-24' };
    await some.send('POST', path, body, { ...headers, ...free });
    expect(some.vendor.last.headers['anthropic-beta']).toBe('context-management-2025-06-27,effort-2025-11-24');
    await all.send('POST', path, body, { ...headers, ...betas });
    expect(all.vendor.last.headers['anthropic-beta']).toBe(betas['anthropic-beta']);
  });
});

/** What is added to the usage that each protocol reports. */
const REPORTED: Readonly<Record<(typeof PROTOCOLS)[number], readonly [found: string, added: string]>> = {
  responses: ['"input_tokens_details":{', '"audio_tokens":300000,'],
  chat: ['"prompt_tokens_details":{', '"audio_tokens":300000,'],
  messages: ['"usage":{', '"server_tool_use":{"web_search_requests":3},'],
  gemini: ['"promptTokensDetails":[', '{"modality":"AUDIO","tokenCount":300000},'],
};

describe('What a vendor reports and no price is known for', () => {
  const shown = async (upstream: string): Promise<number> => {
    const { values } = await signals.unpricedUsage.get();
    return values.find(({ labels }) => labels.upstream === upstream)?.value ?? 0;
  };

  const cases = STYLES.flatMap((style) => PROTOCOLS.map((protocol) => ({ style, protocol })));
  it.each(cases)(
    'is charged as text at least and shown to operators, whole and streamed: $style over $protocol',
    async ({ style, protocol }) => {
      const [found, added] = REPORTED[protocol];
      const isSound = protocol !== 'messages';
      gateway.vendor.rewrite = (json) => json.replaceAll(found, found + added);
      for (const stream of [false, true]) {
        const before = await shown(protocol);
        const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[protocol], stream });
        const answer = await fetch(gateway.baseUrl + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
        expect(answer.status).toBe(200);
        await answer.text();
        await gateway.settled();
        const { rows } = await gateway.database.query<{ input: bigint }>({
          text: 'select input_tokens as input from usage_record order by created_at desc limit 1',
        });
        expect(rows[0]?.input).toBeGreaterThanOrEqual(isSound ? 300_000n : 1n);
        expect((await shown(protocol)) - before).toBe(isSound ? 300_000 : 3);
      }
      gateway.vendor.rewrite = (json) => json;
    },
  );
});
