import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import type { Attack, Outcome, Scene } from './attack.js';
import { type Request, send, type Style, STYLE_NAMES, textOf, textRequest } from './client.js';
import { PLAIN } from './hostile-vendor.js';
import { MODEL_OVER } from './target.js';
import { type Protocol, PROTOCOLS } from './wire-formats.js';

/** Requests that must not reach a vendor, each with what it tries. */
const json = (path: string, body: string): Request => ({ method: 'POST', path, body });
const asked = (path: string, body: object): Request => ({ method: 'POST', path, body: JSON.stringify(body) });

const MODEL = MODEL_OVER.responses;
const GEMINI_PATH = `/v1beta/models/${MODEL_OVER.gemini}:generateContent`;
const TEXT = { model: MODEL, input: 'hello' };
const TURN = [{ role: 'user', content: 'hello' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'hello' }] }];

/** A second spelling of a field, which another parser would read instead of the first. */
const SPELLINGS: readonly Request[] = [
  json('/v1/responses', `{"model":"${MODEL}","model":"vendor-secret","input":"hello"}`),
  json('/v1/responses', `{"model":"${MODEL}","Model":"vendor-secret","input":"hello"}`),
  json('/v1/responses', `{"model":"${MODEL}","mod\\u0065l":"vendor-secret","input":"hello"}`),
  json('/v1/responses', `{"model":"${MODEL}","input":"hello","max_output_tokens":1,"Max_Output_Tokens":90000}`),
  json('/v1/responses', `{"model":"${MODEL}","input":"hello","background":false,"BACKGROUND":true}`),
  json(
    '/v1/messages',
    `{"model":"${MODEL_OVER.messages}","max_tokens":1,"max_tokens":9000,"messages":${JSON.stringify(TURN)}}`,
  ),
  json(
    GEMINI_PATH,
    `{"contents":${JSON.stringify(CONTENTS)},"generationConfig":{"maxOutputTokens":65536},"generation_config":{"max_output_tokens":1}}`,
  ),
];

/** Addresses that only the vendor's side or ours can reach. */
const PRIVATE_URLS = [
  'http://169.254.169.254/latest/meta-data/iam',
  'http://10.0.0.1/',
  'http://user:pw@10.0.0.1/',
  'http://[::ffff:169.254.169.254]/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://metadata.google.internal/',
  'file:///etc/passwd',
  'gopher://10.0.0.1/',
  'jar:http://10.0.0.1!/x',
  '//10.0.0.1/',
  'http://cdn.example.com\\@10.0.0.1/',
  'http://cdn.example.com?@10.0.0.1/',
  'http://010.8.8.8/',
  'http://127.0.0.1../',
  'http://kubernetes.default.svc/',
];

const addressRequests = (url: string): readonly Request[] => [
  asked('/v1/responses', {
    model: MODEL,
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
  }),
  asked('/v1/responses', { model: MODEL, input: [{ role: 'user', content: [{ type: 'input_file', file_url: url }] }] }),
  asked('/v1/responses', { ...TEXT, tools: [{ type: 'mcp', server_label: 'a', server_url: url }] }),
  asked('/v1/messages', {
    model: MODEL_OVER.messages,
    max_tokens: 10,
    messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
  }),
  asked('/v1/messages', {
    model: MODEL_OVER.messages,
    max_tokens: 10,
    messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url } }] }],
  }),
  asked(GEMINI_PATH, {
    contents: [{ role: 'user', parts: [{ fileData: { fileUri: url, mimeType: 'image/png' } }] }],
  }),
];

/** What the vendor would bill beyond tokens, or what belongs to its account and so to all tenants. */
const UNPRICED: readonly Request[] = [
  asked('/v1/responses', { ...TEXT, service_tier: 'priority' }),
  ...['web_search', 'image_generation', 'code_interpreter', 'computer_use_preview', 'a_tool_of_tomorrow'].map((type) =>
    asked('/v1/responses', { ...TEXT, tools: [{ type }] }),
  ),
  asked('/v1/responses', {
    model: MODEL,
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_of_another_tenant' }] }],
  }),
  asked('/v1/messages', { model: MODEL_OVER.messages, max_tokens: 10, messages: TURN, service_tier: 'priority' }),
  asked('/v1/messages', {
    model: MODEL_OVER.messages,
    max_tokens: 10,
    messages: TURN,
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  }),
  asked('/v1/messages', { model: MODEL_OVER.messages, max_tokens: 10, messages: TURN, container: 'container_1' }),
  asked(GEMINI_PATH, { contents: CONTENTS, tools: [{ googleSearch: {} }] }),
  asked(GEMINI_PATH, { contents: CONTENTS, cachedContent: 'cachedContents/of-another-tenant' }),
];

const SOUND_DATA = Buffer.alloc(64).toString('base64');
const inputAudio = { type: 'input_audio', input_audio: { data: SOUND_DATA, format: 'wav' } };

/** Sound costs several times what text does, and nobody has priced it here. */
const SOUND: readonly Request[] = (Object.keys(PROTOCOLS) as Protocol[]).flatMap((protocol) => [
  textRequest('chat', protocol, false, { messages: [{ role: 'user', content: [inputAudio] }] }),
  textRequest('chat', protocol, false, { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }),
  textRequest('responses', protocol, false, { input: [{ role: 'user', content: [inputAudio] }] }),
  textRequest('gemini', protocol, false, {
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/wav', data: SOUND_DATA } }] }],
  }),
  textRequest('gemini', protocol, false, { generationConfig: { responseModalities: ['AUDIO'] } }),
]);

/** Every request must be refused with a 4xx that names its field, cost nothing and never reach the vendor. */
const refusedBeforeVendor = (name: string, requests: readonly Request[]): Attack => ({
  name: `refused before any vendor: ${name}`,
  run: async ({ target, vendor, tenant }: Scene): Promise<Outcome> => {
    vendor.plan = PLAIN;
    const attacker = await tenant('5');
    const breaches: string[] = [];
    for (const request of requests) {
      const received = vendor.received.length;
      const { status } = await send(target.url, attacker.key, request);
      const what = `${request.path} ${textOf(request.body ?? '').slice(0, 160)}`;
      if (vendor.received.length > received) breaches.push(`reached the vendor: ${what}`);
      else if (status < 400 || status >= 500) breaches.push(`answered with ${status}: ${what}`);
    }
    return { breaches, bill: { chargedMicros: await target.chargedMicros(attacker), dueMicros: 0n } };
  },
});

/** The output limit beside a second one, in a name or a shape that one of the two sides might take for none. */
const LIMITS: Readonly<Record<Style, readonly JsonObject[]>> = {
  chat: [
    { max_completion_tokens: 16, n: 1, max_tokens: null },
    { max_tokens: null, max_completion_tokens: 16 },
    { max_tokens: 16, max_completion_tokens: null },
    { max_completion_tokens: 16, max_output_tokens: 90_000 },
    { max_tokens: 16, max_completion_tokens: 20_000 },
  ],
  responses: [
    { max_output_tokens: 16, max_tokens: 20_000 },
    { max_output_tokens: 16, max_completion_tokens: null },
    { max_output_tokens: 16, max_tokens: null, n: 4 },
  ],
  messages: [
    { max_tokens: 16, max_completion_tokens: 20_000 },
    { max_tokens: 16, max_output_tokens: null },
    { max_tokens: 16, max_tokens_to_sample: 20_000 },
  ],
  gemini: [
    { generationConfig: { maxOutputTokens: 16, max_output_tokens: null } },
    { generationConfig: { maxOutputTokens: 16 }, generation_config: null },
    { generationConfig: { maxOutputTokens: 16, candidateCount: null }, max_tokens: 20_000 },
  ],
};

const TOLD_LIMIT = /"(\w*max_?\w*tokens\w*)"\s*:\s*([^,}\s]+)/gi;

/** A limit of sixteen, the least that every protocol takes, is refused for what stands beside it, or is the only one that the vendor is told. */
const oneLimit: Attack = {
  name: 'an output limit that is told twice, or as nothing',
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    vendor.plan = PLAIN;
    const attacker = await tenant('5');
    const breaches: string[] = [];
    for (const style of STYLE_NAMES)
      for (const protocol of Object.keys(PROTOCOLS) as Protocol[])
        for (const limits of LIMITS[style]) {
          const received = vendor.received.length;
          const { status } = await send(target.url, attacker.key, textRequest(style, protocol, false, limits));
          const told = [...vendor.received.slice(received).join('').matchAll(TOLD_LIMIT)].map(([whole]) => whole);
          const isKept = told.length === 1 && /: ?16$|:16$/.test(told[0] ?? '');
          if (status === 200 ? !isKept : status >= 500)
            breaches.push(`${style} over ${protocol}, ${JSON.stringify(limits)}: ${status}, told ${told.join()}`);
        }
    return { breaches };
  },
};

/** What a secret has opened: a session of the console, a wait, the events of a task. */
const endedSecret: Attack = {
  name: 'what a secret has opened that was rotated',
  run: async ({ target, tenant }): Promise<Outcome> => {
    const { accountId, key } = await tenant('5');
    const page = { 'sec-fetch-site': 'same-origin', 'x-console': '1' };
    const signedIn = await send(target.url, key, {
      ...json('/console/api/sign-in/key', JSON.stringify({ key })),
      headers: page,
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const order = { model: 'eta-image-2.0', prompt: '[sandbox:delay=60000] a lighthouse' };
    const { text } = await send(target.url, key, asked('/v1/images/generations', order));
    const task = /"task_id":"([^"]+)"/.exec(text)?.[1] ?? '';
    const open = ['?wait=30', '/events'].map(async (rest) =>
      send(target.url, key, { method: 'GET', path: `/v1/tasks/${task}${rest}` }),
    );
    const [{ id } = { id: '' }] = await target.rows<{ id: string }>(
      'select id from api_key where account_id = $1',
      accountId,
    );
    const rotated = await target.admin<{ key: string }>('POST', `/keys/${id}/rotate`, { overlap_seconds: 0 });
    const session = async (): Promise<number> =>
      (await send(target.url, rotated.key, { method: 'GET', path: '/console/api/session', headers: { cookie } }))
        .status;
    const breaches = (await session()) === 401 ? [] : ['the session of the console goes on'];
    const isOver = async (): Promise<boolean> =>
      (await send(target.url, key, { method: 'GET', path: '/v1/user/balance' })).status === 401;
    await eventually(isOver, { pauseMs: 200 });
    await send(target.url, rotated.key, asked(`/v1/tasks/${task}/cancel`, {}));
    const [wait, events] = await Promise.all(open);
    if (wait?.text.includes('cancelled') === true) breaches.push('the wait tells the end');
    if (events?.text.includes('task.cancelled')) breaches.push('the events tell the end');
    return { breaches };
  },
};

/** Whoever sees an id, in a citation say, could read the file where the bucket is public. */
const guessedNames: Attack = {
  name: 'stored files whose names their ids tell',
  run: async ({ target, tenant }): Promise<Outcome> => {
    const { key } = await tenant('5');
    const body = new FormData();
    body.append('purpose', 'assistants');
    body.append('file', new Blob(['A private lighthouse.']), 'a.txt');
    const before = new Set(target.storedNames());
    const { text } = await send(target.url, key, { method: 'POST', path: '/v1/files', body });
    const [, id = ''] = /"id":\s*"file[-_]([^"]+)"/.exec(text) ?? [];
    const names = target.storedNames().filter((name) => !before.has(name));
    if (id === '' || names.length === 0) throw new Error(`the file was not stored: ${text}`);
    return { breaches: names.filter((name) => name.includes(id)).map((name) => `${name} tells the id`) };
  },
};

const proof = textRequest('responses', 'responses', false);

/** The same account and models do reach the vendor when nothing is smuggled, or the refusals above would prove nothing. */
const honestRequest: Attack = {
  name: 'an honest request goes through',
  run: async ({ target, vendor, tenant }): Promise<Outcome> => {
    vendor.plan = PLAIN;
    const { key } = await tenant('5');
    const { status, text } = await send(target.url, key, proof);
    return { breaches: status === 200 ? [] : [`it was answered with ${status}: ${text}`] };
  },
};

export const SMUGGLING_ATTACKS: readonly Attack[] = [
  honestRequest,
  refusedBeforeVendor('second spellings', SPELLINGS),
  refusedBeforeVendor('private addresses', PRIVATE_URLS.flatMap(addressRequests)),
  refusedBeforeVendor('unpriced tools, tiers and ids', UNPRICED),
  refusedBeforeVendor('sound', SOUND),
  oneLimit,
  endedSecret,
  guessedNames,
];
