import type { JsonObject } from '#contracts';
import { type HostileServer, startHostileServer } from '../../harness/tools/hostile-server.js';
import { type FakeEngine, startFakeEngine } from '../../harness/tools/search-engine.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../../harness/text-vendor/text-requests.js';
import type { VendorCall, VendorRequest, VendorWords } from '../../harness/text-vendor/vendor-script.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const FUNCTION = { name: 'get_weather', description: 'Tells the weather.' };

/** A function of the caller's, as each style offers one. */
const OWN_FUNCTION: Record<Style, JsonObject> = {
  responses: { type: 'function', ...FUNCTION, parameters: SCHEMA },
  chat: { type: 'function', function: { ...FUNCTION, parameters: SCHEMA } },
  messages: { ...FUNCTION, input_schema: SCHEMA },
  gemini: { functionDeclarations: [{ ...FUNCTION, parameters: SCHEMA }] },
};

/** Without it the results of searches stay out of the items of responses. */
const SHOWN: Partial<Record<Style, JsonObject>> = { responses: { include: ['web_search_call.results'] } };

/** The tools of the gateway, as each style asks for them. */
const requestedTool = (style: Style, tool: Tool, server: string): JsonObject => {
  const url = `http://${server}/mcp`;
  if (tool === 'remote_mcp' && style === 'gemini')
    return { mcpServers: [{ name: 'scales', streamableHttpTransport: { url } }] };
  if (tool === 'remote_mcp') return { type: 'remote_mcp', remote_mcp: { url } };
  if (style === 'gemini') return { googleSearch: {} };
  return style === 'messages' ? { type: 'web_search_20250305', name: 'web_search' } : { type: 'web_search' };
};

const TOOLS = ['web_search', 'remote_mcp'] as const;
type Tool = (typeof TOOLS)[number];

/** What the model is asked; the sandbox calls what the words name. What the tool answers with. */
const CASES = {
  web_search: { name: 'web_search', text: 'When is high water, by web_search?', answered: '17:42' },
  remote_mcp: { name: 'weigh', text: 'Please call weigh with {}', answered: 'It weighs 7.' },
} as const satisfies Record<Tool, object>;

let calls = 0;
const call = (name: string, args: Record<string, unknown>): VendorCall => ({ id: `call_${(calls += 1)}`, name, args });
const NOTHING = { reasoning: undefined, text: '', call: undefined };

/** Calls the gateway's tool and replies with its result; with `isMixed` it calls the caller's function in the same turn. */
const using =
  (name: string, isMixed: boolean) =>
  ({ result, toolNames }: VendorRequest): VendorWords =>
    result === undefined && toolNames.includes(name)
      ? {
          ...NOTHING,
          call: call(name, name === 'weigh' ? {} : { query: 'tides' }),
          alsoCalled: isMixed ? call('get_weather', { city: 'Whitby' }) : undefined,
        }
      : { ...NOTHING, text: `Result: ${result?.slice(0, 200) ?? 'nothing'}` };

describe('A tool that the gateway runs, beside a function of the caller', () => {
  let engine: FakeEngine;
  let server: HostileServer;
  let gateway: TextGateway;
  beforeAll(async () => {
    [engine, server] = await Promise.all([startFakeEngine(), startHostileServer()]);
    gateway = await startTextGateway({
      WEB_SEARCH_ENGINE: 'searxng',
      WEB_SEARCH_URL: engine.baseUrl,
      MEDIA_FETCH_ALLOW: server.address,
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([engine.stop(), server.stop()]);
  });

  async function ask(style: Style, model: string, tool: Tool, stream: boolean): Promise<string> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream, text: CASES[tool].text });
    const tools = [requestedTool(style, tool, server.address), OWN_FUNCTION[style]];
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, tools, ...SHOWN[style] }),
    });
    const text = await answer.text();
    expect({ status: answer.status, text: answer.ok ? '' : text }).toEqual({ status: 200, text: '' });
    return text;
  }
  /** Answers the function that was called, with all that came before. */
  async function goOn(style: Style, model: string, tool: Tool, answer: string): Promise<void> {
    const { path, headers, body } = textRequest(style, {
      key: gateway.key,
      model,
      stream: false,
      text: CASES[tool].text,
    });
    const tools = [requestedTool(style, tool, server.address), OWN_FUNCTION[style]];
    const response = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, ...CONTINUED[style](body, JSON.parse(answer) as Answered), tools }),
    });
    const text = await response.text();
    expect({ status: response.status, text: response.ok ? '' : text }).toEqual({ status: 200, text: '' });
  }
  const runs = (): number => engine.seen.length + server.asked.filter(({ method }) => method === 'tools/call').length;

  describe.each(STYLES)('in the %s style', (style) => {
    describe.each(TOOLS)('%s', (tool) => {
      it.each(UPSTREAMS)('runs and its result is used, whole and streamed, over the %s upstream', async (upstream) => {
        gateway.vendor.script = using(CASES[tool].name, false);
        for (const stream of [false, true]) {
          const before = runs();
          expect(wordsIn(await ask(style, MODEL_OVER[upstream], tool, stream))).toContain(CASES[tool].answered);
          expect(runs()).toBe(before + 1);
        }
      });

      it.each(UPSTREAMS.filter((upstream) => upstream !== 'sandbox'))(
        'runs when the model calls the function in the same turn, which ends the response, over the %s upstream',
        async (upstream) => {
          gateway.vendor.script = using(CASES[tool].name, true);
          for (const stream of [false, true]) {
            const before = runs();
            const answer = await ask(style, MODEL_OVER[upstream], tool, stream);
            expect(answer).toContain('get_weather');
            expect(wordsIn(answer)).toContain('Whitby');
            expect(answer).toMatch(/"(tool_use|tool_calls|function_call|functionCall)"/);
            expect(runs()).toBe(before + 1);
            if (stream) continue;
            // The results of both are known in the next turn.
            gateway.vendor.script = () => ({ ...NOTHING, text: 'I know.' });
            await goOn(style, MODEL_OVER[upstream], tool, answer);
            expect(gateway.vendor.last.text).toContain(OUTPUT);
            expect(gateway.vendor.last.text).toContain(CASES[tool].answered);
            expect(gateway.vendor.last.text).not.toContain('gateway:');
            gateway.vendor.script = using(CASES[tool].name, true);
          }
        },
      );
    });
  });
});

interface Answered {
  readonly output: readonly { readonly type: string; readonly call_id?: string }[];
  readonly choices: readonly { readonly message: { readonly tool_calls: readonly { readonly id: string }[] } }[];
  readonly content: readonly { readonly type: string; readonly id?: string }[];
  readonly candidates: readonly {
    readonly content: { readonly parts: readonly { functionCall?: { id: string } }[] };
  }[];
}

const OUTPUT = 'very windy';
type Continue = (body: JsonObject, answer: Answered) => object;

/** The conversation as a client of the style continues it: the answer as it came, then what its function returned. */
const CONTINUED: Record<Style, Continue> = {
  responses: ({ input }, { output }) => {
    const id = output.find(({ type }) => type === 'function_call')?.call_id;
    const result = { type: 'function_call_output', call_id: id, output: OUTPUT };
    return { input: [{ role: 'user', content: input }, ...output, result] };
  },
  chat: ({ messages }, { choices }) => {
    const message = choices[0]?.message;
    const result = { role: 'tool', tool_call_id: message?.tool_calls[0]?.id, content: OUTPUT };
    return { messages: [...(messages as object[]), message, result] };
  },
  messages: ({ messages }, { content }) => {
    const id = content.find(({ type }) => type === 'tool_use')?.id;
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: OUTPUT }] };
    return { messages: [...(messages as object[]), { role: 'assistant', content }, result] };
  },
  gemini: ({ contents }, { candidates }) => {
    const content = candidates[0]?.content;
    const id = content?.parts.find(({ functionCall }) => functionCall)?.functionCall?.id;
    const returned = { id, name: 'get_weather', response: { output: OUTPUT } };
    return {
      contents: [...(contents as object[]), content, { role: 'user', parts: [{ functionResponse: returned }] }],
    };
  },
};

/** Where the styles put words, and arguments of calls. */
const SAID = new Set(['text', 'content', 'delta', 'arguments', 'partial_json', 'city']);

/** What an answer says, also one that comes in pieces. */
function wordsIn(answer: string): string {
  const texts: string[] = [];
  const collect = (value: unknown, field: string): void => {
    if (typeof value === 'string') {
      if (SAID.has(field)) texts.push(value);
    } else if (Array.isArray(value)) for (const entry of value) collect(entry, field);
    else if (typeof value === 'object' && value !== null)
      for (const [name, entry] of Object.entries(value)) collect(entry, name);
  };
  const lines = answer.startsWith('{') ? [answer] : answer.split('\n').filter((line) => line.startsWith('data: {'));
  for (const line of lines) collect(JSON.parse(line.replace(/^data: /, '')), '');
  return texts.join('');
}
