import type { JsonObject } from '#contracts';
import { openTools, ToolsConfig } from '#providers';
import { type FakeEngine, startFakeEngine } from '../../harness/tools/search-engine.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../../harness/text-vendor/text-requests.js';

/** A search of the web, as each style asks for it. */
const SEARCH: Record<Style, JsonObject> = {
  responses: { tools: [{ type: 'web_search' }] },
  chat: { web_search_options: {} },
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] },
  gemini: { tools: [{ googleSearch: {} }] },
};

/** The answer of the model after it got the search results. */
const WORDS = 'High water is at 17:42.【1】 Mind the steps.';
const CITED = 'High water is at 17:42.';
const SHOWN = 'High water is at 17:42. Mind the steps.';

describe('A search of the web that the gateway makes', () => {
  let engine: FakeEngine;
  let gateway: TextGateway;
  beforeAll(async () => {
    engine = await startFakeEngine();
    gateway = await startTextGateway(
      { WEB_SEARCH_ENGINE: 'searxng', WEB_SEARCH_URL: engine.baseUrl },
      { idleSeconds: 10 },
    );
    gateway.vendor.script = ({ result, toolNames }) =>
      result === undefined && toolNames.includes('web_search')
        ? {
            reasoning: undefined,
            text: '',
            call: { id: `call_${Math.random()}`, name: 'web_search', args: { query: 'tides at the old pier' } },
          }
        : { reasoning: undefined, text: WORDS, call: undefined };
  });
  afterAll(async () => {
    await gateway.stop();
    await engine.stop();
  });

  async function ask(style: Style, model: string, stream: boolean): Promise<string> {
    const { path, headers, body } = textRequest(style, {
      key: gateway.key,
      model,
      stream,
      text: 'When is high water?',
    });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, ...SEARCH[style] }),
    });
    const text = await answer.text();
    expect({ status: answer.status, text: answer.ok ? '' : text }).toEqual({ status: 200, text: '' });
    return text;
  }

  describe.each(STYLES)('in the %s style', (style) => {
    it.each(UPSTREAMS.filter((upstream) => upstream !== 'sandbox'))(
      'is cited where the answer uses it, whole and streamed, over the %s upstream',
      async (upstream) => {
        const whole = JSON.parse(await ask(style, MODEL_OVER[upstream], false)) as JsonObject;
        expect(CHECKS[style](whole)).toEqual({ text: SHOWN, cited: CITED, url: 'https://tides.example.org/today' });
        const streamed = await ask(style, MODEL_OVER[upstream], true);
        expect(streamed).toContain('https://tides.example.org/today');
        expect(streamed).not.toContain('【');
        expect(engine.seen.at(-1)?.url).toContain('q=tides+at+the+old+pier');
      },
    );
  });

  it('streams its steps as events numbered without gaps, and items in order', async () => {
    const events = (await ask('responses', MODEL_OVER.chat, true))
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)) as JsonObject);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index));
    const steps = events.filter(({ type }) => /web_search|annotation/.test(JSON.stringify(type)));
    expect(steps.map(({ type }) => type)).toEqual([
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_text.annotation.added',
    ]);
    const last = events.at(-1)?.['response'] as JsonObject;
    expect((last['output'] as JsonObject[]).map(({ type }) => type)).toEqual(['web_search_call', 'message']);
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(done.map(({ output_index: index }) => index)).toEqual([0, 1]);
    expect(done.map(({ item }) => item)).toEqual(last['output']);
  });

  it.each([
    ['brave', '/res/v1', 'x-subscription-token'],
    ['tavily', '', 'authorization'],
  ] as const)('is made by %s with the key in a header', async (name, path, header) => {
    const config = Object.assign(new ToolsConfig(), {
      WEB_SEARCH_ENGINE: name,
      WEB_SEARCH_URL: engine.baseUrl + path,
      WEB_SEARCH_KEY: 'key-of-the-engine',
    });
    const { webSearch } = openTools(config);
    const query = { query: 'tides', limit: 5, allowedDomains: ['example.org'], blockedDomains: [] };
    const found = await webSearch?.search(query, new AbortController().signal);
    const none = await webSearch?.search({ ...query, allowedDomains: ['example.com'] }, new AbortController().signal);
    await webSearch?.close();
    expect(found?.map(({ url }) => url)).toEqual(['https://tides.example.org/today']);
    expect(none).toEqual([]);
    expect(engine.seen.at(-1)?.headers[header]).toContain('key-of-the-engine');
    expect(engine.seen.at(-1)?.url).not.toContain('key-of-the-engine');
  });
});

describe('A search of the web without an engine', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  it.each(STYLES)('is refused in the %s style before money moves, and simulated by the sandbox', async (style) => {
    const send = (model: string) => {
      const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream: false });
      return gateway.send('POST', path, { ...body, ...SEARCH[style] }, { ...headers });
    };
    const asked = gateway.vendor.seen.length;
    const refused = await send(MODEL_OVER.messages);
    expect(refused.status).toBe(404);
    expect(JSON.stringify(refused.body)).toMatch(/web_search|googleSearch/);
    expect(gateway.vendor.seen).toHaveLength(asked);
    const { rows } = await gateway.database.query({ text: 'select 1 from request_hold' });
    expect(rows).toHaveLength(0);
    const made = await send(MODEL_OVER.sandbox);
    expect(made.status).toBe(200);
    expect(JSON.stringify(made.body)).toContain('sandbox');
    await gateway.settled();
  });
});

interface Seen {
  readonly text: string;
  readonly cited: string;
  readonly url: unknown;
}

const first = (value: unknown): JsonObject => (value as JsonObject[])[0] ?? {};

const textsOf = (parts: readonly JsonObject[]): string =>
  parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('');

/** The text of each style's whole answer, and the page each cited part comes from. */
const CHECKS: Record<Style, (answer: JsonObject) => Seen> = {
  responses: (answer) => {
    const message = (answer['output'] as JsonObject[]).at(-1) ?? {};
    const { text, annotations } = first(message['content']) as { text: string; annotations: JsonObject[] };
    const { start_index: from, end_index: to, url } = annotations[0] ?? {};
    return { text, cited: text.slice(Number(from), Number(to)), url };
  },
  chat: (answer) => {
    const { content, annotations } = first(answer['choices'])['message'] as {
      content: string;
      annotations: JsonObject[];
    };
    const { start_index: from, end_index: to, url } = first(annotations)['url_citation'] as JsonObject;
    return { text: content, cited: content.slice(Number(from), Number(to)), url };
  },
  messages: (answer) => {
    const blocks = (answer['content'] as JsonObject[]).filter(({ type }) => type !== 'redacted_thinking');
    expect(blocks.map(({ type }) => type)).toEqual(['server_tool_use', 'web_search_tool_result', 'text', 'text']);
    expect((answer['usage'] as JsonObject)['server_tool_use']).toEqual({ web_search_requests: 1 });
    const cited = blocks.find(({ citations }) => citations != null) ?? {};
    const text = textsOf(blocks);
    return { text, cited: textsOf([cited]), url: first(cited['citations'])['url'] };
  },
  gemini: (answer) => {
    const { content, groundingMetadata } = first(answer['candidates']) as {
      content: JsonObject;
      groundingMetadata: JsonObject;
    };
    const text = textsOf(content['parts'] as JsonObject[]);
    const { segment } = first(groundingMetadata['groundingSupports']) as { segment: JsonObject };
    const cited = Buffer.from(text).subarray(Number(segment['startIndex']), Number(segment['endIndex'])).toString();
    const web = first(groundingMetadata['groundingChunks'])['web'] as JsonObject;
    return { text, cited, url: web['uri'] };
  },
};
