import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { generateText, streamText } from 'ai';
import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { libraryClients } from '../harness/text-vendor/library-clients.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';
import { VENDOR_USAGE } from '../harness/text-vendor/vendor-script.js';

const ARGON = 'gemini-4-argon';
const UPSTREAMS = `  - { id: google, protocol: gemini, base_url: "VENDOR_URL", key: sk-vendor, models: { argon: ${ARGON}, "${ARGON}": ${ARGON} },
      costs: { unit: USD, per_quantity: 1, argon: { input_token: 0.00001, output_token: 0.00002 } } }
${(['chat', 'messages', 'responses'] as const)
  .map(
    (protocol) => `  - { id: long-${protocol}, protocol: ${protocol}, base_url: "VENDOR_URL", key: sk-vendor,
      models: { long-${protocol}: long }, model_traits: { long: { unstreamed_output_tokens: 1000 } } }\n`,
  )
  .join(
    '',
  )}  - { id: claude, protocol: messages, base_url: "VENDOR_URL", key: sk-vendor, models: { paused: vendor-paused },
      costs: { unit: USD, per_quantity: 1, paused: { input_token: 0.00001, cached_input_token: 0.00001, output_token: 0.00002 } } }
`;

/** A reply that its vendor sends in three parts. */
const PARTS = ['One, ', 'two, ', 'three.'] as const;
const WHOLE = PARTS.join('');
const [FIRST, ...CONTINUED] = PARTS;

let gateway: TextGateway;
beforeAll(async () => {
  gateway = await startTextGateway({}, { more: UPSTREAMS });
  gateway.vendor.isStrict = true;
  // From 40 tokens of input on ten times as much: only a reply whose requests are charged apart stays below.
  await gateway.database.query({
    text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by, from_input_tokens, variant)
      select 'price_long_' || model || unit || band, model, unit, case band when 0 then 2 else 20 end, 1, now() - interval '1 day',
        'test', band, case band when 0 then 'default' else 'default@' || band end
      from unnest(array['argon', '${ARGON}', 'paused', 'long-chat', 'long-messages', 'long-responses']) model, unnest(array['input_token', 'output_token']) unit, unnest(array[0, 40]) band`,
    values: [],
  });
});
beforeEach(() => {
  gateway.vendor.script = () => ({ reasoning: undefined, text: FIRST, call: undefined, continued: CONTINUED });
  gateway.vendor.gate = undefined;
  gateway.vendor.fault = 'none';
  gateway.vendor.spoiled.clear();
});
afterAll(() => gateway.stop());

const LIMIT = 60_000;

/** The output limit, as each style says it. */
const LIMITED: Record<Style, JsonObject> = {
  responses: { max_output_tokens: LIMIT },
  chat: { max_tokens: LIMIT },
  messages: { max_tokens: LIMIT },
  gemini: { generationConfig: { maxOutputTokens: LIMIT } },
};

interface Asked {
  readonly model?: string;
  readonly stream: boolean;
  /** How often the caller lets it be continued. */
  readonly most?: string;
  readonly more?: JsonObject;
  readonly signal?: AbortSignal;
}

async function ask(
  style: Style,
  { model = 'argon', stream, most, more = {}, signal }: Asked,
): Promise<[number, string, string]> {
  const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream });
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      ...(most !== undefined && { 'x-gateway-continue': most }),
    },
    body: JSON.stringify({ ...body, ...LIMITED[style], ...more }),
    ...(signal && { signal }),
  });
  return [response.status, await response.text(), response.headers.get('x-request-id') ?? ''];
}

/** The text that an answer says, of any style, whole or streamed; what a search of its vendor stands between are paragraphs. */
const saidIn = (answer: string): string =>
  [
    ...answer.matchAll(
      /"type":"(?:text_delta|text)","text":"([^"]*)"|"content":"([^"]+)"|"type":"response.output_text.delta"[^\n]*?"delta":"([^"]*)"|"type":"output_text","text":"([^"]*)"|\{"text":"([^"]*)"/g,
    ),
  ]
    .map(([, ...groups]) => groups.find((group) => group !== undefined) ?? '')
    .join('')
    .replaceAll(String.raw`\n\n`, '');

interface Charge {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly amount: number;
  /** The most that was held for it. */
  readonly held: number;
  readonly overruns: number;
  readonly cost: number;
}

/** What was charged for a request, of which there is one record. */
async function chargeOf(requestId: string): Promise<Charge> {
  const text = `select input_tokens::int, output_tokens::int, amount_micros::int as amount, cost_micros::int as cost,
      (select sum(amount_micros)::int from ledger_entry where request_id = $1 and kind = 'hold') as held,
      (select count(*)::int from ledger_entry where request_id = $1 and kind = 'overrun') as overruns
    from usage_record where request_id = $1`;
  const rows = await eventually(async () => {
    const found = await gateway.database.query<Charge>({ text, values: [requestId] });
    return found.rows.length > 0 ? found.rows : undefined;
  });
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

const { input, output } = VENDOR_USAGE;
/** What the first requests of a reply use: each reads what was written before. */
const usedBy = (requests: number) => ({
  input_tokens: requests * input + ((requests * (requests - 1)) / 2) * output,
  output_tokens: requests * output,
});

/** Vendors that go on with a reply: one where it reached the most of one request, one where its own tools ran as often as they may in one turn. */
const VENDORS = { gemini: 'argon', messages: 'paused' } as const;
type Vendor = keyof typeof VENDORS;
const OTHERS_OF = (vendor: Vendor) =>
  STYLES.filter((style) => style !== vendor).flatMap((style) =>
    [false, true].map((stream) => [vendor, style, stream] as const),
  );
const OTHERS = OTHERS_OF('gemini').map(([, style, stream]) => [style, stream] as const);
const OVER_BOTH = (Object.keys(VENDORS) as Vendor[]).flatMap(OTHERS_OF);
const FINISHED = /"finish_reason":"stop"|"stop_reason":"end_turn"|"status":"completed"|"finishReason":"STOP"/;
const CUT =
  /"finish_reason":"length"|"stop_reason":"max_tokens"|"reason":"max_(?:output_tokens|tool_calls)"|"finishReason":"TOO_MANY_TOOL_CALLS"/;

/** Whether a body asks its vendor to go on. */
const goesOn = (body: JsonObject): boolean =>
  'continuationToken' in body || JSON.stringify(body['messages'] ?? '').includes('server_tool_use');

/** A turn as it was sent. */
interface Turn {
  readonly content: readonly { readonly type: string }[];
}

/** What every request that goes on holds. */
const ASKS_ON: Record<Vendor, string> = { gemini: 'go-on-1-', messages: 'srvtoolu_0' };

describe('A reply that its vendor would continue', () => {
  it.each(OVER_BOTH)(
    'is one finished answer where its caller allows it: over %s, %s, streamed: %s',
    async (vendor, style, stream) => {
      const asked = gateway.vendor.seen.length;
      const [status, answer, requestId] = await ask(style, { model: VENDORS[vendor], stream, most: '3' });
      expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(WHOLE)]);
      expect(answer).toMatch(FINISHED);
      expect(answer).not.toMatch(CUT);
      const sent = gateway.vendor.seen.slice(asked);
      expect(sent.map(({ body }) => goesOn(body as JsonObject))).toEqual([false, true, true]);
      const charge = await chargeOf(requestId);
      // Each request costs the price of its own input: only the sum of all is beyond the band.
      const { input_tokens: read, output_tokens: written } = usedBy(3);
      expect(charge).toMatchObject({ ...usedBy(3), amount: 2 * (read + written), overruns: 0 });
      expect(charge.cost).toBe(10 * read + 20 * written);
      expect(charge.held).toBeGreaterThanOrEqual(3 * 2 * LIMIT);
    },
  );

  it.each(OVER_BOTH)(
    'is cut off where its caller allows less: over %s, %s, streamed: %s',
    async (vendor, style, stream) => {
      for (const [most, requests] of [
        [undefined, 1],
        ['0', 1],
        ['1', 2],
      ] as const) {
        const asked = gateway.vendor.seen.length;
        const model = VENDORS[vendor];
        const [status, answer, requestId] = await ask(style, { model, stream, ...(most !== undefined && { most }) });
        expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(PARTS.slice(0, requests).join(''))]);
        expect(saidIn(answer)).not.toContain('three');
        expect(answer).toMatch(CUT);
        expect(gateway.vendor.seen.length - asked).toBe(requests);
        expect(await chargeOf(requestId)).toMatchObject(usedBy(requests));
      }
    },
  );

  it.each(OVER_BOTH)(
    'is cut off where its vendor then refuses: over %s, %s, streamed: %s',
    async (vendor, style, stream) => {
      gateway.vendor.spoiled.set(ASKS_ON[vendor], { status: 503, body: {} });
      const [status, answer, requestId] = await ask(style, { model: VENDORS[vendor], stream, most: '3' });
      expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(FIRST)]);
      expect(answer).toMatch(CUT);
      expect(await chargeOf(requestId)).toMatchObject(usedBy(1));
    },
  );

  it.each(OVER_BOTH)(
    'is cut off, and charged with what was written, where its vendor breaks off as it goes on: over %s, %s, streamed: %s',
    async (vendor, style, stream) => {
      const asked = gateway.vendor.seen.length;
      const long = 'And so it goes on, number by number. '.repeat(10);
      gateway.vendor.script = () => {
        // What it does to a request is decided before its script is asked for.
        gateway.vendor.fault = 'cut-mid-event';
        return { reasoning: undefined, text: FIRST, call: undefined, continued: [long] };
      };
      const [status, answer, requestId] = await ask(style, { model: VENDORS[vendor], stream, most: '3' });
      expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(`${FIRST}And so it goes on`)]);
      expect(answer).toMatch(CUT);
      expect(gateway.vendor.seen.length - asked).toBe(2);
      const charge = await chargeOf(requestId);
      // The second request reads what the first one did and wrote, and its words are counted.
      expect(charge.input_tokens).toBe(usedBy(2).input_tokens);
      expect(charge.output_tokens).toBeGreaterThan(usedBy(1).output_tokens);
      expect(charge.output_tokens).toBeLessThan(usedBy(1).output_tokens + long.length / 2);
      expect(charge.overruns).toBe(0);
    },
  );

  it.each([false, true])(
    'goes on from all that its vendor said, with what is left of its limit: over messages, streamed: %s',
    async (stream) => {
      const script = { reasoning: 'I count.', text: FIRST, call: undefined, continued: CONTINUED };
      gateway.vendor.script = () => script;
      const asked = gateway.vendor.seen.length;
      // The vendor compares what comes back with what it sent.
      const [status, answer] = await ask('chat', { model: 'paused', stream, most: '3' });
      expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(WHOLE)]);
      const sent = gateway.vendor.seen.slice(asked).map(({ body }) => body as { messages: Turn[]; max_tokens: number });
      expect(sent.map((body) => body.max_tokens)).toEqual([LIMIT, LIMIT - output, LIMIT - 2 * output]);
      const search = ['server_tool_use', 'web_search_tool_result', 'text'];
      expect(
        sent
          .at(-1)
          ?.messages.at(-1)
          ?.content.map(({ type }) => type),
      ).toEqual(['thinking', ...search, ...search]);
      expect(await ask('chat', { model: 'paused', stream, most: '3', more: { max_tokens: output } })).toEqual([
        200,
        expect.stringMatching(CUT),
        expect.anything(),
      ]);
      expect(gateway.vendor.seen.length - asked).toBe(4);
    },
  );

  it('is not gone on with for a caller that has left, who pays for what was written', async () => {
    const asked = gateway.vendor.seen.length;
    let open = (): void => undefined;
    const leaving = new AbortController();
    gateway.vendor.gate = {
      at: 'end',
      opened: new Promise((resolve) => (open = resolve)),
      onReached: () => leaving.abort(),
    };
    await expect(ask('chat', { stream: true, most: '3', signal: leaving.signal })).rejects.toThrow(/abort/i);
    await gateway.untilAnswered();
    gateway.vendor.gate = undefined;
    open();
    await gateway.settled();
    expect(gateway.vendor.seen.length - asked).toBe(1);
    const { rows } = await gateway.database.query<{ readonly request_id: string }>({
      text: `select request_id from usage_record order by created_at desc limit 1`,
      values: [],
    });
    expect(await chargeOf(rows[0]!.request_id)).toMatchObject(usedBy(1));
  });

  it.each(['9', '-1', '1.5', 'yes', '10'])('is allowed by a small whole number alone: %s', async (most) => {
    const [status, answer] = await ask('chat', { stream: false, most });
    expect([status, answer]).toEqual([400, expect.stringContaining('x-gateway-continue')]);
  });

  it('is asked for once where it has no limit of its own, since one request reaches the most that it is given', async () => {
    const asked = gateway.vendor.seen.length;
    const [, answer] = await ask('chat', { stream: true, most: '3', more: { max_tokens: null } });
    expect(answer).toMatch(CUT);
    expect(gateway.vendor.seen.length - asked).toBe(1);
  });

  it('comes as a stream from its vendor where it may be longer than a whole one', async () => {
    gateway.vendor.script = () => ({ reasoning: undefined, text: WHOLE, call: undefined });
    for (const [style] of OTHERS) {
      const [status, answer] = await ask(style, { stream: false });
      expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(WHOLE)]);
      expect(gateway.vendor.last.path).toContain('streamGenerateContent');
    }
  });
});

const NEVER_CONTINUED = (['chat', 'responses'] as const).flatMap((protocol) =>
  STYLES.filter((style) => style !== protocol).flatMap((style) =>
    [false, true].map((stream) => [style, protocol, stream] as const),
  ),
);

describe('A reply of a vendor that continues none', () => {
  beforeEach(() => {
    gateway.vendor.script = () => ({ reasoning: undefined, text: WHOLE, call: undefined });
  });

  it.each(NEVER_CONTINUED)(
    'is asked for as its caller wants it, whatever that allows: %s over %s, streamed: %s',
    async (style, protocol, stream) => {
      const [status, answer] = await ask(style, { model: MODEL_OVER[protocol], stream, most: '3' });
      expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(WHOLE)]);
      expect(gateway.vendor.last.body['stream'] === true).toBe(stream);
    },
  );

  it.each([
    ['chat', 'long-chat'],
    ['responses', 'long-chat'],
    ['chat', 'long-responses'],
    ['messages', 'paused'],
    ['gemini', 'argon'],
  ] as const)('is held for once, whatever its caller allows: %s, %s', async (style, model) => {
    const [status, , requestId] = await ask(style, { model, stream: true, most: '8' });
    expect(status).toBe(200);
    // At the dearest price, of which a token of output for each one that it may write.
    expect((await chargeOf(requestId)).held).toBeLessThan(2 * 20 * LIMIT);
  });

  it.each([
    ...NEVER_CONTINUED,
    ...OTHERS_OF('messages').map(([protocol, style, stream]) => [style, protocol, stream] as const),
  ])(
    'comes as a stream where it is too long for a whole one: %s over %s, streamed: %s',
    async (style, protocol, stream) => {
      const [status, answer] = await ask(style, { model: `long-${protocol}`, stream });
      expect([status, saidIn(answer)]).toEqual([200, expect.stringContaining(WHOLE)]);
      expect(gateway.vendor.last.body['stream']).toBe(true);
    },
  );
});

describe('A reply that its own client continues', () => {
  it.each([false, true])('reaches the end in the chat of the genai library, streamed: %s', async (stream) => {
    const { google } = libraryClients(gateway);
    const chat = google.chats.create({ model: 'argon', config: { maxOutputTokens: stream ? LIMIT : 30_000 } });
    let said = '';
    if (stream) for await (const chunk of await chat.sendMessageStream({ message: 'Count.' })) said += chunk.text ?? '';
    else said = (await chat.sendMessage({ message: 'Count.' })).text ?? '';
    expect(said).toBe(WHOLE);
  });

  it.each([false, true])('reaches the end in the AI SDK, streamed: %s', async (stream) => {
    const provider = createGoogleGenerativeAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1beta` });
    const asked = { model: provider(ARGON), prompt: 'Count.', maxOutputTokens: stream ? LIMIT : 30_000, maxRetries: 0 };
    const said = stream ? await streamText(asked).text : (await generateText(asked)).text;
    expect(said).toBe(WHOLE);
  });
});
