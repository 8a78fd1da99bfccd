import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, type Style, textRequest } from '../harness/text-vendor/text-requests.js';

/** The refusal of an empty balance, in the shape of each style. */
const UNPAID = {
  responses: { error: { type: 'insufficient_quota', code: 'insufficient_balance', param: null } },
  chat: { error: { type: 'insufficient_quota', code: 'insufficient_balance', param: null } },
  messages: { type: 'error', error: { type: 'billing_error' }, request_id: expect.stringMatching(/^req_/) },
  gemini: { error: { code: 402, status: 'FAILED_PRECONDITION', details: [] } },
};

let gateway: TextGateway;
beforeAll(async () => {
  gateway = await startTextGateway();
});
afterAll(() => gateway.stop());

/** Each style has an upstream of its own, so that none meets the rest that another's was sent to. */
const MODEL: Readonly<Record<Style, string>> = MODEL_OVER;

// First: those of the vendor below send its upstreams to rest.
it.each<[Style, JsonObject, RegExp]>([
  ['chat', { messages: [{ role: 'user', content: [{ type: 'odd' }] }] }, /"odd" .* It takes text, image_url, /],
  ['messages', { messages: [{ role: 'user', content: [{ type: 'odd' }] }] }, /"odd" .* It takes text, image, /],
  ['messages', { messages: [{ role: 'assistant', content: [{ type: 'odd' }] }] }, /"odd" .* It takes text, tool_use, /],
  ['messages', { messages: [{ role: 'system', content: [{ type: 'odd' }] }] }, /"odd" .* It takes text\./],
  ['responses', { input: [{ type: 'odd' }] }, /"odd" .* It takes message, function_call, /],
  ['gemini', { contents: [{ role: 'user', parts: [{ odd: 1 }] }] }, /it needs one of text, inlineData, /],
])('of a %s request for a part of an unknown type says which there are: %j', async (style, more, expected) => {
  const model = MODEL[style === 'chat' ? 'responses' : 'chat'];
  const { path, body, headers } = textRequest(style, { key: gateway.key, model, stream: false });
  const { status, body: answer } = await gateway.send('POST', path, { ...body, ...more }, headers);
  expect([status, JSON.stringify(answer).replaceAll('\\"', '"')]).toEqual([400, expect.stringMatching(expected)]);
});

describe.each(STYLES)('A refusal in the %s style', (style) => {
  async function ask(model: string, stream: boolean) {
    const { path, body, headers } = textRequest(style, { key: gateway.key, model, stream });
    return gateway.send('POST', path, body, headers);
  }

  it.each([[false], [true]])('of an empty balance has the shape of the style (streamed: %s)', async (stream) => {
    await gateway.setBalance(0n);
    const { status, headers, body } = await ask(MODEL[style], stream);
    await gateway.spareMoney();
    expect(status).toBe(402);
    expect(headers.get('content-type')).toContain('application/json');
    expect(body).toMatchObject({ ...UNPAID[style], code: 402, message: expect.any(String) });
  });

  it.each([[false], [true]])(
    'says what it takes, and what is left of balance or quota (streamed: %s)',
    async (stream) => {
      const messageOf = async () => (await ask(MODEL[style], stream)).body['message'];
      await gateway.setBalance(7n);
      expect(await messageOf()).toMatch(/^The balance .* it takes \d+\.\d{6}, and 0\.000007 is left\.$/);
      await gateway.spareMoney();
      const quota = async (micros: string): Promise<unknown> =>
        gateway.database.query({ text: `update api_key set quota_micros = ${micros}`, values: [] });
      await gateway.settled();
      await quota('used_micros + 9');
      expect(await messageOf()).toMatch(/^The quota of this API key .* it takes \d+\.\d{6}, and 0\.000009 is left\.$/);
      await quota('null');
    },
  );

  it('says whether the same request may succeed later, and when', async () => {
    const retryHeaders = (headers: Headers) =>
      ['x-should-retry', 'retry-after', 'retry-after-ms'].map((name) => headers.get(name));
    expect(retryHeaders((await ask('no-such-model', false)).headers)).toEqual(['false', null, null]);
    Object.assign(gateway.vendor, { fault: 'refusal', refusal: { status: 500 }, faultyRequests: 1 });
    expect(retryHeaders((await ask(MODEL[style], true)).headers)).toEqual(['true', null, null]);
    const refusal = { status: 429, headers: { 'retry-after': '10' } };
    Object.assign(gateway.vendor, { refusal, faultyRequests: 1 });
    expect(retryHeaders((await ask(MODEL[style], true)).headers)).toEqual(['true', '10', '10000']);
    const coolingDown = (await ask(MODEL[style], false)).headers;
    expect(retryHeaders(coolingDown)).toEqual([
      'true',
      expect.stringMatching(/^([1-9]|10)$/),
      expect.stringMatching(/^\d+$/),
    ]);
    expect(Number(coolingDown.get('retry-after-ms'))).toBeLessThanOrEqual(10_000);
  });
});

it.each([
  [429, 429, '5', 4_000],
  [503, 503, '1', 0],
  [529, 503, '1', 0],
])('%d names a time to wait although the upstream names none', async (theirs, ours, seconds, atLeastMs) => {
  const { path, body } = textRequest('responses', { key: gateway.key, model: MODEL_OVER.chat, stream: true });
  const served = async () => (await gateway.send('POST', path, { ...body, stream: false })).status === 200;
  await eventually(served);
  Object.assign(gateway.vendor, { fault: 'refusal', refusal: { status: theirs }, faultyRequests: 1 });
  const { status, headers } = await gateway.send('POST', path, body);
  expect([status, headers.get('retry-after')]).toEqual([ours, seconds]);
  expect(Number(headers.get('retry-after-ms'))).toBeGreaterThan(atLeastMs);
});

it.each([
  ['messages', { n: 3 }],
  ['messages', { temperature: 1.5 }],
  ['gemini', { n: 3 }],
  ['gemini', { tool_choice: 'required' }],
  ['responses', { n: 3 }],
  ['responses', { stop: 'x' }],
  ['responses', { tool_choice: 'required' }],
  ['messages', { top_logprobs: 3, logprobs: true }],
] as const)('of what no upstream can say is that of its quote, over %s: %j', async (over, more) => {
  const body = { model: MODEL_OVER[over], messages: [{ role: 'user', content: 'Hi' }], ...more };
  const asked = gateway.vendor.seen.length;
  const answers = ['/v1/quote', '/v1/chat/completions'].map((path) =>
    gateway.send<{ error: object }>('POST', path, body),
  );
  const [quote, chat] = await Promise.all(answers);
  expect([quote?.status, quote?.body.error]).toEqual([400, chat?.body.error]);
  expect(gateway.vendor.seen).toHaveLength(asked);
});

it('of media says what an order takes, and what is left of the balance', async () => {
  await gateway.setBalance(7n);
  const order = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
  const { status, body } = await gateway.send('POST', '/v1/images/generations', order);
  await gateway.spareMoney();
  expect([status, body['message']]).toEqual([402, expect.stringMatching(/takes \d+\.\d{6}, and 0\.000007 is left\.$/)]);
});
