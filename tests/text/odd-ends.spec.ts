import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest, TOOL, TOOL_NAME } from '../harness/text-vendor/text-requests.js';

const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini'] as const;
type Protocol = (typeof PROTOCOLS)[number];

const upstream = (id: string, protocol: Protocol, more: object = {}): string =>
  `  - ${JSON.stringify({ id, protocol, base_url: 'VENDOR_URL', key: 'sk-vendor', models: { [id]: 'vendor-odd' }, ...more })}\n`;
const MENDED = { chat: 'mended-chat', messages: 'mended-messages' } as const;
const UPSTREAMS = [
  ...PROTOCOLS.map((protocol) => upstream(`odd-${protocol}`, protocol)),
  upstream(MENDED.chat, 'chat', { mends_finish_reason: true }),
  upstream(MENDED.messages, 'messages', { mends_finish_reason: true }),
].join('');
const MODELS = [...PROTOCOLS.map((protocol) => `odd-${protocol}`), MENDED.chat, MENDED.messages];

let gateway: TextGateway;
beforeAll(async () => {
  gateway = await startTextGateway({ TEXT_RETRY_SECONDS: '30' }, { more: UPSTREAMS });
  await gateway.database.query({
    text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
      select 'price_odd_' || model || unit, model, unit, 1, 1, now() - interval '1 day', 'test'
      from unnest($1::text[]) model, unnest(array['input_token', 'output_token']) unit`,
    values: [MODELS],
  });
});
afterEach(() => {
  gateway.vendor.rewrite = (json) => json;
  gateway.vendor.script = () => undefined;
});
afterAll(() => gateway.stop());

async function ask(style: Style, model: string, stream: boolean): Promise<[number, string]> {
  const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream, text: `Call ${TOOL_NAME}.` });
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...TOOL[style] }),
  });
  return [response.status, await response.text()];
}

const BOTH = [false, true];

/** As some servers end a reply that called. */
const endedByItself = (json: string): string =>
  json
    .replaceAll('"finish_reason":"tool_calls"', '"finish_reason":"stop"')
    .replaceAll('"stop_reason":"tool_use"', '"stop_reason":"end_turn"');

const CALLED: Record<Style, RegExp> = {
  chat: /"finish_reason":"tool_calls"/,
  messages: /"stop_reason":"tool_use"/,
  responses: /"type":"function_call"/,
  gemini: /"functionCall"/,
};

describe('A reply that called and says that it ended by itself', () => {
  beforeEach(() => {
    gateway.vendor.rewrite = endedByItself;
  });

  it.each((['chat', 'messages'] as const).flatMap((style) => BOTH.map((stream) => [style, stream] as const)))(
    'passes through %s as it is, or as one that called where its operator says so, streamed: %s',
    async (style, stream) => {
      const [, asItIs] = await ask(style, `odd-${style}`, stream);
      expect(asItIs).not.toMatch(CALLED[style]);
      const [status, mended] = await ask(style, MENDED[style], stream);
      expect([status, mended]).toEqual([200, expect.stringMatching(CALLED[style])]);
      expect(mended).not.toMatch(/"finish_reason":"stop"|"stop_reason":"end_turn"/);
    },
  );

  it.each(BOTH)('keeps the end of a reply that did not call, streamed: %s', async (stream) => {
    gateway.vendor.script = () => ({ reasoning: undefined, text: 'No: "finish_reason":"stop"', call: undefined });
    for (const style of ['chat', 'messages'] as const) {
      const [, whole] = await ask(style, MENDED[style], stream);
      expect(whole).toMatch(/"finish_reason":"stop"|"stop_reason":"end_turn"/);
      expect(whole).not.toMatch(CALLED[style]);
    }
  });

  it.each(
    STYLES.flatMap((style) =>
      (['chat', 'messages'] as const)
        .filter((protocol) => protocol !== style)
        .flatMap((protocol) => BOTH.map((stream) => [style, protocol, stream] as const)),
    ),
  )('is one that called in translation: %s over %s, streamed: %s', async (style, protocol, stream) => {
    const [status, text] = await ask(style, `odd-${protocol}`, stream);
    expect([status, text]).toEqual([200, expect.stringMatching(CALLED[style])]);
  });
});

describe('A reply of a gemini vendor that ends with a reason of no known meaning', () => {
  const endedBy = (reason: string): void => {
    gateway.vendor.script = () => ({ reasoning: undefined, text: 'It is sunny.', call: undefined });
    gateway.vendor.rewrite = (json) => json.replace('"finishReason":"STOP"', `"finishReason":"${reason}"`);
  };
  const CASES = ['OTHER', 'MISSING_THOUGHT_SIGNATURE', 'stop'].flatMap((reason) =>
    STYLES.flatMap((style) => BOTH.map((stream) => [reason, style, stream] as const)),
  );

  it.each(CASES)('is whole once it said something: %s, to %s, streamed: %s', async (reason, style, stream) => {
    endedBy(reason);
    const asked = gateway.vendor.seen.length;
    const [status, text] = await ask(style, 'odd-gemini', stream);
    expect([status, gateway.vendor.seen.length - asked]).toEqual([200, 1]);
    expect(text).toContain('It i');
    expect(text).not.toMatch(/"error":\{|event: error/);
  });
});

describe('A reply that nobody can read', () => {
  it.each(PROTOCOLS.flatMap((protocol) => BOTH.map((stream) => [protocol, stream] as const)))(
    'is asked for once: over %s, streamed: %s',
    async (protocol, stream) => {
      const came: unknown[] = [];
      for (const style of STYLES) {
        gateway.vendor.rewrite = (json) => (json.startsWith('{') ? '[1, 2' : 'data: {nothing\n\n');
        const asked = gateway.vendor.seen.length;
        const [status] = await ask(style, `odd-${protocol}`, stream);
        came.push([status, gateway.vendor.seen.length - asked]);
        // Failures in a row would send the upstream to rest.
        gateway.vendor.rewrite = (json) => json;
        await ask(style, `odd-${protocol}`, false);
      }
      expect(came).toEqual(STYLES.map(() => [502, 1]));
    },
  );
});

describe('A vendor that does not stream', () => {
  const PAIRS = PROTOCOLS.flatMap((protocol) => STYLES.map((style) => [protocol, style] as const));
  beforeEach(() => {
    gateway.vendor.answersWhole = true;
  });
  afterEach(() => {
    gateway.vendor.answersWhole = false;
  });

  it.each(PAIRS)('is heard by callers who asked for a stream: over %s, to %s', async (protocol, style) => {
    gateway.vendor.script = () => ({ reasoning: undefined, text: 'It is sunny.', call: undefined });
    const asked = gateway.vendor.seen.length;
    const [status, text] = await ask(style, `odd-${protocol}`, true);
    expect([status, gateway.vendor.seen.length - asked]).toEqual([200, 1]);
    expect(text).toMatch(/^(event|data): ?/);
    expect(text).toContain('It is sunny.');
    expect(text).not.toMatch(/"error":\{|event: error/);
  });

  it.each(PAIRS)('is heard where it says why it refuses: over %s, to %s', async (protocol, style) => {
    const error = {
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      message: 'prompt is too long: 9 > 8',
    };
    gateway.vendor.rewrite = () => JSON.stringify({ type: 'error', error });
    const asked = gateway.vendor.seen.length;
    const [status, text] = await ask(style, `odd-${protocol}`, true);
    expect([status, gateway.vendor.seen.length - asked]).toEqual([400, 1]);
    expect(text).toContain('prompt is too long: 9 > 8');
  });
});

describe('A stream that ends within an event', () => {
  it.each(PROTOCOLS)('is ended by an error of its own, which nothing half stands in front of: %s', async (style) => {
    let isOver = false;
    gateway.vendor.rewrite = (json) => {
      const sent = isOver ? '' : json;
      isOver ||= /"finish_reason":"|finishReason|message_delta|response\.completed/.test(json);
      return isOver ? sent.slice(0, -9) : sent;
    };
    gateway.vendor.script = () => ({ reasoning: undefined, text: 'It is sunny.', call: undefined });
    const [status, text] = await ask(style, `odd-${style}`, true);
    const data = text.split(/\r?\n/).filter((line) => line.startsWith('data:') && !line.includes('[DONE]'));
    expect(status).toBe(200);
    expect(data.length).toBeGreaterThan(1);
    expect(JSON.stringify(data.map((line) => JSON.parse(line.slice(5)) as unknown).at(-1))).toContain('broke off');
  });
});
