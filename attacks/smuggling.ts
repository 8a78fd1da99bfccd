import type { Attack, Outcome, Scene } from './attack.js';
import { type Request, send, textOf, textRequest } from './client.js';
import { PLAIN } from './hostile-vendor.js';
import { MODEL_OVER } from './target.js';

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
];
