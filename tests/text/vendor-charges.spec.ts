import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

/** What vendors and gateways in front of them say of money, in a reply and beside it. */
const CHARGED = {
  cost: 0.00421,
  cost_details: { upstream_inference_cost: 0.00421 },
  is_byok: false,
  cost_in_usd_ticks: 42_100_000,
};
const HEADERS = {
  'x-litellm-response-cost': '0.00421',
  'x-litellm-key-spend': '12.5',
  'x-openrouter-cost': '0.00421',
  'cf-aig-cost': '0.00421',
};
const NAMED = /cost|byok|ticks|0\.00421|42100000|spend/i;

const WORDS = 'The "cost": 5 and {"usage":{"cost":1}} are words.';

const BODIES: Readonly<Record<'chat' | 'messages' | 'responses', (more: object) => readonly [string, object]>> = {
  chat: (more: object) => ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }], ...more }],
  messages: (more: object) => [
    '/v1/messages',
    { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...more },
  ],
  responses: (more: object) => ['/v1/responses', { input: 'Hi', ...more }],
};

const STYLES = ['chat', 'messages', 'responses', 'gemini'] as const;
type Style = (typeof STYLES)[number];

const CASES = STYLES.flatMap((style) =>
  STYLES.flatMap((upstream) => [false, true].map((stream) => [style, upstream, stream] as const)),
);

/** A reply or event with money wherever its protocol tells usage, and at its top. */
const chargedIn = (sent: string): string => sent.replace(/\{.*\}/, charged);

function charged(json: string): string {
  const at = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(at);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, inner]) => [
      name,
      name.startsWith('usage') && typeof inner === 'object' && inner !== null ? { ...inner, ...CHARGED } : at(inner),
    ]);
    return Object.fromEntries(fields) as object;
  };
  const read = JSON.parse(json) as object;
  return JSON.stringify({ ...(at(read) as object), ...CHARGED });
}

describe('What a vendor charged us', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_e', 'text-embedding', 'input_token', 2000000, 1, '2026-01-01', 'test')`,
      values: [],
    });
    gateway.vendor.rewrite = chargedIn;
    gateway.vendor.headers = HEADERS;
  });
  afterAll(() => gateway.stop());
  afterEach(() => {
    gateway.vendor.script = () => undefined;
  });

  async function ask(
    style: Style,
    upstream: Style,
    stream: boolean,
    statuses: readonly number[] = [200],
  ): Promise<{ text: string; headers: string }> {
    const model = MODEL_OVER[upstream];
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const [path, body]: readonly [string, object] =
      style === 'gemini'
        ? [`/v1beta/models/${model}:${method}`, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }]
        : BODIES[style]({
            model,
            stream,
            ...(style === 'chat' && stream && { stream_options: { include_usage: true } }),
          });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'vendor-version': '2023-06-01',
      },
      body: JSON.stringify(body),
    });
    expect(statuses).toContain(answer.status);
    return { text: await answer.text(), headers: JSON.stringify([...answer.headers]) };
  }

  it.each(CASES)('never reaches a caller: %s over %s, streamed %s', async (style, upstream, stream) => {
    const { text, headers } = await ask(style, upstream, stream);
    expect(text).toContain('Hi');
    expect(text).toMatch(/usage/);
    expect(text).not.toMatch(NAMED);
    expect(headers).not.toMatch(NAMED);
  });

  it.each(['error-in-stream', 'refusal-400', 'error-500', 'early-end', 'cut-mid-event'] as const)(
    'is in no error either: %s',
    async (fault) => {
      for (const [style, upstream, stream] of CASES) {
        // Each failure rests its upstream, which is known to be well again by a reply that is whole.
        gateway.vendor.fault = 'none';
        await eventually(async () =>
          (await ask(style, upstream, false, [200, 503]).catch(() => undefined))?.text.includes('Vendor heard'),
        );
        gateway.vendor.fault = fault;
        const { text, headers } = await ask(style, upstream, stream, [200, 400, 429, 500, 502, 503]);
        expect([style, upstream, stream, text]).toEqual([style, upstream, stream, expect.not.stringMatching(NAMED)]);
        expect(headers).not.toMatch(NAMED);
      }
      gateway.vendor.fault = 'none';
    },
  );

  it.each(CASES)(
    'leaves words of the same names in an answer: %s over %s, streamed %s',
    async (style, upstream, stream) => {
      gateway.vendor.script = () => ({ reasoning: undefined, text: WORDS, call: undefined });
      const { text } = await ask(style, upstream, stream);
      expect(text.replaceAll(/\\+"/g, '"').replaceAll(/\s/g, '')).toMatch(/cost/);
    },
  );

  it('is not in a stored response either, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const { text } = await ask('responses', 'responses', stream);
      const id = /"id":"(resp_[^"]+)"/.exec(text)?.[1] ?? '';
      const read = await fetch(`${gateway.baseUrl}/v1/responses/${id}`, {
        headers: { authorization: `Bearer ${gateway.key}` },
      });
      expect(read.status).toBe(200);
      const stored = await read.text();
      expect(stored).toContain('"usage"');
      expect(stored).not.toMatch(NAMED);
    }
  });

  it('is not beside embeddings', async () => {
    const answer = await fetch(`${gateway.baseUrl}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'text-embedding', input: 'Hi' }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toMatch(NAMED);
    expect(JSON.stringify([...answer.headers])).not.toMatch(NAMED);
  });
});
