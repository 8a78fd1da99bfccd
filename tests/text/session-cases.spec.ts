import type { JsonObject } from '#contracts';
import { signals } from '#platform';
import { FakeTextVendor } from '../harness/text-vendor/fake-text-vendor.js';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest, type Style } from '../harness/text-vendor/text-requests.js';

/** A vendor account that comes first, A, and one behind it, B, are behind each model; every case has its own, which no case before sent to rest. */
const pairOf = (style: Style, what: string): string => `${what}-${style}`.replaceAll(/[^a-z0-9]+/g, '-');
const OPUS = 'claude-opus-5-5';

/** How a vendor fails before the first byte. */
const DENIED = { error: { type: 'permission_error', message: 'Your API key does not have permission to use this.' } };
const FAILURES: readonly (readonly [string, () => void])[] = [
  ...[401, 402, 429, 500].map(
    (status) => [String(status), () => gateway.vendor.spoiled.set('two', { status, body: {} })] as const,
  ),
  ['403', () => gateway.vendor.spoiled.set('two', { status: 403, body: DENIED })],
  ['403-unknown', () => gateway.vendor.spoiled.set('two', { status: 403, body: { error: { message: 'No.' } } })],
  ['cut', () => gateway.vendor.spoiled.set('two', 'cut')],
  ['silent', () => (gateway.vendor.gate = { at: 'start', opened: new Promise(() => undefined) })],
];
const CASES = [...FAILURES.map(([what]) => what), 'broken', 'failed', 'incomplete', 'replayed', 'named', 'unnamed'];

let gateway: TextGateway;
let second: FakeTextVendor;
beforeAll(async () => {
  second = await FakeTextVendor.start();
  const entry = (id: string, protocol: string, url: string, models: object, priority: number): string =>
    `  - ${JSON.stringify({ id, protocol, base_url: url, key: 'sk-vendor', models, priority, timeouts: { first_byte_seconds: 1 } })}\n`;
  const pairs = CASES.flatMap((what) => STYLES.map((style) => [style, pairOf(style, what)] as const));
  const more = [
    ...pairs.flatMap(([style, model]) => [
      entry(`a-${model}`, style, 'VENDOR_URL', { [model]: 'm' }, 0),
      entry(`b-${model}`, style, second.baseUrl, { [model]: 'm' }, 1),
    ]),
    entry('bound', 'messages', 'VENDOR_URL', { [OPUS]: OPUS }, 0),
  ];
  gateway = await startTextGateway({}, { more: more.join('') });
  await gateway.database.query({
    text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
      select 'price_case_' || model || unit, model, unit, 1, 1, now() - interval '1 day', 'test'
      from unnest($1::text[]) model, unnest(array['input_token', 'output_token']) unit`,
    values: [[...pairs.map(([, model]) => model), OPUS]],
  });
});
afterEach(() => {
  for (const vendor of [gateway.vendor, second]) {
    vendor.spoiled.clear();
    vendor.fault = 'none';
    vendor.faultyRequests = Number.POSITIVE_INFINITY;
    vendor.rewrite = (json) => json;
    vendor.script = () => undefined;
    vendor.isStrict = false;
    vendor.gate = undefined;
  }
});
afterAll(async () => {
  await gateway.stop();
  await second.stop();
});

let names = 0;
const session = (): Record<string, string> => ({ 'x-session-id': `case ${(names += 1)}` });

interface Turn {
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of the body. */
  readonly more?: JsonObject;
}

async function say(style: Style, model: string, text: string, { stream = false, headers = {}, more }: Turn = {}) {
  const { path, headers: own, body } = textRequest(style, { key: gateway.key, model, stream, text });
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...own, ...headers },
    body: JSON.stringify({ ...body, ...more }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** How often each vendor was asked during the work. */
async function askedDuring(work: () => Promise<unknown>): Promise<[number, number]> {
  const [a, b] = [gateway.vendor.seen.length, second.seen.length];
  await work();
  return [gateway.vendor.seen.length - a, second.seen.length - b];
}

const recordsOf = async (requestId: string | null): Promise<number> => {
  await gateway.settled();
  const { rows } = await gateway.database.query<{ count: number }>({
    text: `select count(*)::int as count from usage_record where request_id = $1 and amount_micros > 0`,
    values: [requestId],
  });
  return rows[0]?.count ?? 0;
};

describe('A conversation of each style', () => {
  /** Where a client says which session it is in. */
  const NAMED: Readonly<Record<string, (name: string) => Turn>> = {
    'x-claude-code-session-id': (name) => ({ headers: { 'x-claude-code-session-id': name } }),
    'session-id': (name) => ({ headers: { 'session-id': name } }),
    session_id: (name) => ({ headers: { session_id: name } }),
    'x-session-id': (name) => ({ headers: { 'x-session-id': name } }),
    'x-session-affinity': (name) => ({ headers: { 'x-session-affinity': name } }),
    'x-opencode-session': (name) => ({ headers: { 'x-opencode-session': name } }),
    'session_id in the body': (name) => ({ more: { session_id: name } }),
    'a header that another name in the body differs from': (name) => ({
      headers: { 'session-id': name },
      more: { session_id: `${name} ${(names += 1)}` },
    }),
  };
  const INSIDE: Readonly<Record<Exclude<Style, 'gemini'>, readonly [string, (name: string) => Turn]>> = {
    responses: ['prompt_cache_key', (name) => ({ more: { prompt_cache_key: name } })],
    chat: ['prompt_cache_key', (name) => ({ more: { prompt_cache_key: name } })],
    messages: [
      'metadata.user_id',
      (name) => ({ more: { metadata: { user_id: JSON.stringify({ session_id: name }) } } }),
    ],
  };
  const ways = STYLES.flatMap((style) => {
    const inside = style === 'gemini' ? [] : [INSIDE[style]];
    return [...Object.entries(NAMED), ...inside].map(([where, named]) => [style, where, named] as const);
  });

  /** Has B answer one turn; answers where the next one goes. */
  async function placeAfterMove(style: Style, model: string, turn: Turn): Promise<[number, number]> {
    gateway.vendor.spoiled.set('moves', { status: 503, body: {} });
    expect((await say(style, model, 'moves', turn)).status).toBe(200);
    gateway.vendor.spoiled.clear();
    return askedDuring(async () => expect((await say(style, model, 'goes on', turn)).status).toBe(200));
  }

  it.each(ways)('is known by its name, and is no other of another name: %s, %s', async (style, _where, named) => {
    const model = pairOf(style, 'named');
    const name = `name ${(names += 1)}`;
    expect(await placeAfterMove(style, model, named(name))).toEqual([0, 1]);
    const turns = await askedDuring(async () => {
      for (let turn = 0; turn < 20; turn += 1) await say(style, model, `turn ${turn}`, named(name));
    });
    expect(turns).toEqual([0, 20]);
    expect(Object.keys(second.last.body).filter((field) => /session_?id/i.test(field))).toEqual([]);
    expect(await askedDuring(() => say(style, model, 'goes on', named(`${name} other`)))).toEqual([1, 0]);
  });

  it.each(STYLES)('is answered and not known by what cannot be a name: %s', async (style) => {
    const model = pairOf(style, 'unnamed');
    const unusable = ['x'.repeat(257), ' ', '', 'two\nlines', 7, null].map((name): Turn => ({
      more: { session_id: name },
    }));
    for (const turn of [...unusable, { headers: { 'session-id': 'x'.repeat(257) } }])
      expect(await placeAfterMove(style, model, turn)).toEqual([1, 0]);
  });
});

describe('A conversation at a vendor account that fails', () => {
  it.each(STYLES.flatMap((style) => FAILURES.map(([what, fail]) => [what, style, fail] as const)))(
    'before the first byte is answered by the other at once, and begins its next turn there: %s, %s',
    async (what, style, fail) => {
      const headers = session();
      const model = pairOf(style, what);
      expect(await askedDuring(() => say(style, model, 'one', { headers }))).toEqual([1, 0]);
      fail();
      let answered = 0;
      const tries = await askedDuring(async () => {
        answered = (await say(style, model, 'two', { headers })).status;
      });
      expect([answered, tries]).toEqual([200, [1, 1]]);
      gateway.vendor.spoiled.clear();
      gateway.vendor.gate = undefined;
      expect(await askedDuring(() => say(style, model, 'three', { headers }))).toEqual([0, 1]);
    },
  );

  /** A conversation that has moved to B. */
  async function atSecond(style: Style, what: string): Promise<(text: string, more?: Turn) => ReturnType<typeof say>> {
    const headers = session();
    const model = pairOf(style, what);
    const go = (text: string, more: Turn = {}): ReturnType<typeof say> => say(style, model, text, { ...more, headers });
    await go('one');
    gateway.vendor.spoiled.set('two', { status: 503, body: {} });
    await go('two');
    gateway.vendor.spoiled.clear();
    return go;
  }

  it.each(STYLES.flatMap((style) => (['broken', 'failed'] as const).map((what) => [style, what] as const)))(
    'in the middle of a stream says so once, pays once, and chooses afresh: %s, %s',
    async (style, what) => {
      const go = await atSecond(style, what);
      second.fault = what === 'broken' ? 'early-end' : 'error-in-stream';
      const answers: Awaited<ReturnType<typeof go>>[] = [];
      expect(await askedDuring(async () => answers.push(await go('three', { stream: true })))).toEqual([0, 1]);
      second.fault = 'none';
      const [answer] = answers;
      expect(answer?.text.match(/^data: \{("error"|"type":"(error|response\.failed)")/gm)).toHaveLength(1);
      expect(await recordsOf(answer?.headers.get('x-request-id') ?? null)).toBe(1);
      expect(await askedDuring(() => go('four'))).toEqual([1, 0]);
    },
  );

  it.each(STYLES)('stays where it is when a reply is cut off by its limit: %s', async (style) => {
    const go = await atSecond(style, 'incomplete');
    second.script = () => ({ reasoning: undefined, text: 'So', call: undefined, isCut: true });
    for (const stream of [false, true]) expect(await askedDuring(() => go('three', { stream }))).toEqual([0, 1]);
  });

  it.each(STYLES)('stays where it is when an earlier answer is given again: %s', async (style) => {
    const headers = session();
    const model = pairOf(style, 'replayed');
    const key = { ...headers, 'idempotency-key': `replayed-${model}` };
    const first = await say(style, model, 'one', { headers: key });
    gateway.vendor.spoiled.set('two', { status: 503, body: {} });
    await say(style, model, 'two', { headers });
    gateway.vendor.spoiled.clear();
    const again: unknown[] = [];
    expect(await askedDuring(async () => again.push((await say(style, model, 'one', { headers: key })).text))).toEqual([
      0, 0,
    ]);
    expect(again).toEqual([first.text]);
    expect(await askedDuring(() => say(style, model, 'three', { headers }))).toEqual([0, 1]);
  });
});

describe('Thinking that a vendor dropped by itself', () => {
  const TOLD = [{ type: 'thinking_dropped', reason: 'prefix_binding_mismatch' }];
  const droppedOf = async (upstream: string): Promise<number> => {
    const { values } = await signals.proofs.get();
    return values
      .filter(({ labels }) => labels['upstream'] === upstream && labels['reason'] === TOLD[0]!.reason)
      .reduce((sum, { value }) => sum + value, 0);
  };

  it.each(STYLES.flatMap((style) => [false, true].map((stream) => [style, stream] as const)))(
    'is counted by its reason, and told to clients of that style: %s, streamed: %s',
    async (style, stream) => {
      gateway.vendor.rewrite = (json) =>
        json.replace('"type":"message",', `"type":"message","input_transformations":${JSON.stringify(TOLD)},`);
      const before = await droppedOf('bound');
      const { status, text } = await say(style, OPUS, 'Hi', { stream });
      expect([status, text.includes('"input_transformations":[{')]).toEqual([200, style === 'messages']);
      expect((await droppedOf('bound')) - before).toBe(1);
    },
  );
});

describe('A translated conversation whose vendor binds thinking to what comes before it', () => {
  /** Turns of a client that sends all of it each time. */
  class Agent {
    readonly history: JsonObject[] = [];

    async say(text: string, more: JsonObject = {}): Promise<number> {
      this.history.push({ role: 'user', content: text });
      const body = {
        model: OPUS,
        input: this.history,
        store: false,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'high', summary: 'auto' },
        ...more,
      };
      const answer = await gateway.send('POST', '/v1/responses', body, { authorization: `Bearer ${gateway.key}` });
      if (answer.status === 200) this.history.push(...(answer.body['output'] as JsonObject[]));
      return answer.status;
    }
  }

  beforeEach(() => {
    gateway.vendor.isStrict = true;
    gateway.vendor.script = ({ text, json }) => ({
      reasoning: 'deep',
      text: json ? '{"city":"Paris"}' : `heard ${text}`,
      call: undefined,
    });
  });

  const thoughtAt = (): number => gateway.vendor.last.text.split('"type":"thinking"').length - 1;

  it('goes on when the developer speaks in its fifth turn, with all its thinking', async () => {
    const agent = new Agent();
    const statuses: number[] = [];
    for (const turn of [1, 2, 3, 4, 5, 6, 7]) {
      if (turn === 5) agent.history.push({ role: 'developer', content: 'Be brief.' });
      statuses.push(await agent.say(`turn ${turn}`));
    }
    expect(statuses).toEqual(Array.from({ length: 7 }, () => 200));
    expect(thoughtAt()).toBeGreaterThanOrEqual(5);
  });

  it('goes on behind one turn that wanted JSON, with all its thinking', async () => {
    const agent = new Agent();
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const format = { text: { format: { type: 'json_schema', name: 'place', schema, strict: true } } };
    const statuses = [
      await agent.say('one'),
      await agent.say('two'),
      await agent.say('three', format),
      await agent.say('four'),
    ];
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(thoughtAt()).toBe(3);
  });

  it('does not end when a tool is added in its fourth turn', async () => {
    const agent = new Agent();
    const tools = { tools: [{ type: 'function', name: 'get_time', parameters: { type: 'object', properties: {} } }] };
    const statuses = [
      await agent.say('one'),
      await agent.say('two'),
      await agent.say('three'),
      await agent.say('four', tools),
      await agent.say('five', tools),
      await agent.say('six', tools),
    ];
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
