import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest, TOOL, TOOL_NAME } from '../harness/text-vendor/text-requests.js';

const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini'] as const;

/** Of each protocol a model with two upstreams, the first of which is asked first, and one with the first alone. */
const UPSTREAMS = PROTOCOLS.flatMap((protocol) => {
  const entry = (id: string, models: object, priority: number): string =>
    `  - ${JSON.stringify({ id, protocol, base_url: 'VENDOR_URL', key: 'sk-vendor', models, priority })}\n`;
  const [alone, both] = [`alone-${protocol}`, `both-${protocol}`];
  return [
    entry(`first-${protocol}`, { [alone]: 'first', [both]: 'first' }, 1),
    entry(`second-${protocol}`, { [both]: 'second' }, 2),
  ];
}).join('');

let gateway: TextGateway;
beforeAll(async () => {
  gateway = await startTextGateway({}, { more: UPSTREAMS });
  // A micro for a token: what is charged is what was counted.
  await gateway.database.query({
    text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
      select 'price_' || model || unit, model, unit, 1, 1, now() - interval '1 day', 'test'
      from unnest($1::text[]) model, unnest(array['input_token', 'output_token']) unit`,
    values: [PROTOCOLS.flatMap((protocol) => [`alone-${protocol}`, `both-${protocol}`])],
  });
});
afterEach(() => {
  gateway.vendor.rewrite = (json) => json;
  gateway.vendor.script = () => undefined;
});
afterAll(() => gateway.stop());

interface Charged {
  readonly status: string;
  readonly upstream: string | null;
  readonly micros: number;
}

/** The answer, and the usage records that it left. */
async function ask(style: Style, model: string, stream: boolean): Promise<[number, string, readonly Charged[]]> {
  const since = await gateway.settled();
  const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream, text: `Call ${TOOL_NAME}.` });
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...TOOL[style] }),
  });
  const text = await response.text();
  await gateway.settled();
  const { rows } = await gateway.database.query<Charged>({
    text: 'select status, upstream, amount_micros::integer as micros from usage_record where created_at > $1',
    values: [since],
  });
  return [response.status, text, rows];
}

/** Half of the arguments of the call, in the pieces of a stream too. */
const withHalfACall = (json: string): string => json.replaceAll('is\\"}"', 'is"');
const IN_BAND = /"error":\{|event: error/;

describe('A reply whose call cannot be read', () => {
  beforeEach(() => {
    gateway.vendor.rewrite = withHalfACall;
  });

  it.each(
    (['messages', 'gemini'] as const).flatMap((style) =>
      (['responses', 'chat'] as const).map((over) => [style, over] as const),
    ),
  )('is a failure that costs nothing where it is whole, as every broken one: to %s, over %s', async (style, over) => {
    const [status, text, charged] = await ask(style, `alone-${over}`, false);
    expect([status, text]).toEqual([502, expect.stringContaining('arguments cannot be read')]);
    expect(charged).toEqual([{ status: 'failed', upstream: `first-${over}`, micros: 0 }]);
  });

  it.each(['responses', 'chat', 'messages'] as const)(
    'ends a stream of objects by an error, which costs what was reported: over %s',
    async (over) => {
      const [status, text, charged] = await ask('gemini', `alone-${over}`, true);
      expect([status, text]).toEqual([200, expect.stringMatching(IN_BAND)]);
      expect(charged).toEqual([{ status: 'failed', upstream: `first-${over}`, micros: 18 }]);
    },
  );
});

describe('Replies whose calls cannot be read', () => {
  let limited: TextGateway;
  beforeAll(async () => {
    limited = await startTextGateway({ FREE_REQUESTS_PER_MINUTE: '3' });
    limited.vendor.rewrite = withHalfACall;
  });
  afterAll(() => limited.stop());

  it('are as few in a minute as requests that vendors refuse: a caller can bring a model to write them, and pays nothing', async () => {
    const question = { key: limited.key, model: MODEL_OVER.chat, stream: false, text: `Call ${TOOL_NAME}.` };
    const { path, headers, body } = textRequest('messages', question);
    const status = async () => (await limited.send('POST', path, { ...body, ...TOOL.messages }, headers)).status;
    for (let time = 0; time < 3; time += 1) expect(await status()).toBe(502);
    await eventually(async () => (await status()) === 429, { limitMs: 20_000 });
  });
});

/** Chat streams that say that they are over, and hold no reply. */
const HEAD = { id: 'c', object: 'chat.completion.chunk', model: 'first' };
const USAGE = { prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 };
const said = (...chunks: readonly object[]): string =>
  [...chunks.map((chunk) => JSON.stringify({ ...HEAD, ...chunk })), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
const EMPTY_STREAMS: readonly (readonly [string, string])[] = [
  ['nothing but a usage', said({ choices: [], usage: USAGE })],
  ['a usage without a list', said({ usage: USAGE })],
  ['a usage beside null', said({ choices: null, usage: USAGE })],
  ['no usage either', said({ choices: [] })],
];

describe('A chat stream without a reply', () => {
  let asked = 0;
  // Three failures in a row would send the upstream to rest.
  afterEach(async () => {
    gateway.vendor.rewrite = (json) => json;
    await ask('chat', 'alone-chat', false);
  });
  const answering = (stream: string): void => {
    gateway.vendor.rewrite = (json) => {
      if (gateway.vendor.last.body['model'] !== 'first') return json;
      const isFirst = gateway.vendor.seen.length !== asked;
      asked = gateway.vendor.seen.length;
      return isFirst ? stream : '';
    };
  };

  it.each(STYLES.flatMap((style) => EMPTY_STREAMS.map(([what, stream]) => [style, what, stream] as const)))(
    'is a failure that the next upstream mends: to %s, with %s',
    async (style, _what, stream) => {
      answering(stream);
      const [status, text, charged] = await ask(style, 'both-chat', true);
      expect([status, text]).toEqual([200, expect.not.stringMatching(IN_BAND)]);
      expect(charged).toEqual([{ status: 'completed', upstream: 'second-chat', micros: 18 }]);
    },
  );

  it.each(STYLES)('is a 502 that costs nothing where no other can answer: to %s', async (style) => {
    answering(said({ choices: [], usage: USAGE }));
    const [status, , charged] = await ask(style, 'alone-chat', true);
    expect(status).toBe(502);
    expect(charged.map(({ micros }) => micros)).toEqual(charged.map(() => 0));
  });

  it.each(STYLES)('is told from one of a reply without words, which is charged as reported: to %s', async (style) => {
    answering(
      said({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }, { choices: [], usage: USAGE }),
    );
    const [status, text, charged] = await ask(style, 'both-chat', true);
    expect([status, text]).toEqual([200, expect.not.stringMatching(IN_BAND)]);
    expect(charged).toEqual([{ status: 'completed', upstream: 'first-chat', micros: 11 }]);
  });
});

describe('A content-generation stream without a reply', () => {
  const usage = { usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 }, modelVersion: 'first' };

  it.each(STYLES.flatMap((style) => [usage, { ...usage, candidates: [] }].map((chunk) => [style, chunk] as const)))(
    'is a failure that the next upstream mends: to %s, with %j',
    async (style, chunk) => {
      gateway.vendor.rewrite = (json) =>
        gateway.vendor.last.path.includes('first') ? `data: ${JSON.stringify(chunk)}\r\n\r\n` : json;
      const [status, text, charged] = await ask(style, 'both-gemini', true);
      expect([status, text]).toEqual([200, expect.not.stringMatching(IN_BAND)]);
      expect(charged).toEqual([{ status: 'completed', upstream: 'second-gemini', micros: 18 }]);
      gateway.vendor.rewrite = (json) => json;
      await ask('gemini', 'alone-gemini', false);
    },
  );
});

describe('A stream without a reply behind a comment, which is sent on at once', () => {
  afterEach(() => {
    gateway.vendor.pauseMs = 0;
  });
  const usage = said({ choices: [], usage: USAGE });
  const CASES = [
    ['chat', 'is over', usage],
    ['chat', 'breaks off', usage.slice(0, usage.indexOf('data: [DONE]'))],
    ['gemini', 'is over', `data: ${JSON.stringify({ usageMetadata: { promptTokenCount: 11 } })}\r\n\r\n`],
  ] as const;

  it.each(CASES)('costs nothing, whatever its vendor says it read: %s that %s', async (style, _how, stream) => {
    const model = `alone-${style}`;
    const pieces = [': ping\n\n', stream];
    gateway.vendor.pauseMs = 20;
    gateway.vendor.rewrite = () => pieces.shift() ?? '';
    const [status, text, charged] = await ask(style, model, true);
    expect([status, text]).toEqual([200, expect.stringMatching(IN_BAND)]);
    expect(charged).toEqual([{ status: 'failed', upstream: `first-${style}`, micros: 0 }]);
    gateway.vendor.rewrite = (json) => json;
    await ask(style, model, false);
  });
});

describe('A content-generation vendor that answers a stream with one list of its chunks', () => {
  beforeEach(() => {
    gateway.vendor.answersWhole = true;
    gateway.vendor.script = () => ({ reasoning: undefined, text: 'sunny.', call: undefined });
  });
  afterEach(async () => {
    gateway.vendor.answersWhole = false;
    gateway.vendor.rewrite = (json) => json;
    await ask('gemini', 'alone-gemini', false);
  });
  const begun = { candidates: [{ content: { parts: [{ text: 'It is ' }] } }], usageMetadata: { promptTokenCount: 11 } };

  it.each(STYLES)('is heard, and charged for what the last of them says: to %s', async (style) => {
    gateway.vendor.rewrite = (json) => `\uFEFF [${JSON.stringify(begun)},\r\n${json}]\n`;
    const [status, text, charged] = await ask(style, 'alone-gemini', true);
    expect([status, text]).toEqual([200, expect.not.stringMatching(IN_BAND)]);
    expect(text).toMatch(/^(event|data): ?/);
    expect(text).toMatch(/It is [^]*sunny\./);
    expect(charged).toEqual([{ status: 'completed', upstream: 'first-gemini', micros: 18 }]);
  });

  it.each(STYLES)('is heard where it says in the list why it refuses: to %s', async (style) => {
    const error = { code: 400, status: 'INVALID_ARGUMENT', message: 'The input token count exceeds the maximum' };
    gateway.vendor.rewrite = () => JSON.stringify([{ error }]);
    const [status, text] = await ask(style, 'alone-gemini', true);
    expect([status, text]).toEqual([400, expect.stringContaining(error.message)]);
  });

  it.each(['[]', '[{}]', '[null]', '[{"candidates":[]}', '["words"]'])(
    'is not heard where the list is none of a reply: %s',
    async (list) => {
      gateway.vendor.rewrite = () => list;
      const [status, , charged] = await ask('gemini', 'alone-gemini', true);
      expect([status, charged.map(({ micros }) => micros)]).toEqual([502, charged.map(() => 0)]);
    },
  );
});
