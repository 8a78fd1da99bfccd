import type { JsonObject } from '#contracts';
import { type FakeEngine, startFakeEngine } from '../harness/tools/search-engine.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

const FUNCTION = { name: 'get_weather', parameters: { type: 'object', properties: {} } };

/** A function of the caller's, as each style offers one. */
const TOOLS: Record<Style, JsonObject> = {
  responses: { tools: [{ type: 'function', ...FUNCTION }] },
  chat: { tools: [{ type: 'function', function: FUNCTION }] },
  messages: { tools: [{ name: FUNCTION.name, input_schema: FUNCTION.parameters }] },
  gemini: { tools: [{ functionDeclarations: [FUNCTION] }] },
};

/** The field that is at fault, and a choice of any tool. */
const ANY: Record<Style, JsonObject> = {
  responses: { tool_choice: 'required' },
  chat: { tool_choice: 'any' },
  messages: { tool_choice: { type: 'any' } },
  gemini: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
};

/** A choice of a function that is not there. */
const OTHER: Record<Style, JsonObject> = {
  responses: { tool_choice: { type: 'function', name: 'get_time' } },
  chat: { tool_choice: { type: 'function', function: { name: 'get_time' } } },
  messages: { tool_choice: { type: 'tool', name: 'get_time' } },
  gemini: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_time'] } } },
};

/** A choice of functions none of which is there, of the styles that can list some. */
const SEVERAL: readonly (readonly [Style, JsonObject])[] = [
  [
    'responses',
    { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'get_time' }] } },
  ],
  [
    'chat',
    {
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_time' } }] },
      },
    },
  ],
  ['responses', { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'code_interpreter' }] } }],
];

const FIELD = /tool_choice|toolConfig\.functionCallingConfig/;

let engine: FakeEngine;
let gateway: TextGateway;
beforeAll(async () => {
  engine = await startFakeEngine();
  gateway = await startTextGateway({ WEB_SEARCH_ENGINE: 'searxng', WEB_SEARCH_URL: engine.baseUrl });
  gateway.vendor.isStrict = true;
});
afterAll(async () => {
  await gateway.stop();
  await engine.stop();
});

async function refusalOf(style: Style, model: string, stream: boolean, added: JsonObject) {
  const { path, body, headers } = textRequest(style, { key: gateway.key, model, stream });
  const answer = await gateway.send<{ message: string }>('POST', path, { ...body, ...added }, headers);
  return { status: answer.status, message: answer.body.message };
}

describe.each(STYLES)('A call that must be made, in the %s style', (style) => {
  it.each(UPSTREAMS)('is refused by name where there is nothing to call, over %s', async (upstream) => {
    for (const stream of [false, true])
      for (const added of [ANY[style], OTHER[style], { ...TOOLS[style], ...OTHER[style] }])
        expect(await refusalOf(style, MODEL_OVER[upstream], stream, added)).toEqual({
          status: 400,
          message: expect.stringMatching(FIELD),
        });
  });
});

it.each(SEVERAL)('A call of some tools of which none is there is refused by name: %s, %j', async (style, choice) => {
  for (const model of Object.values(MODEL_OVER).filter((each) => each !== MODEL_OVER[style]))
    expect(await refusalOf(style, model, false, { ...TOOLS[style], ...choice })).toEqual({
      status: 400,
      message: expect.stringMatching(FIELD),
    });
});

it('A call in the legacy form, of a function that is not there, is refused by name', async () => {
  for (const model of Object.values(MODEL_OVER).filter((each) => each !== MODEL_OVER.chat))
    expect(await refusalOf('chat', model, false, { function_call: { name: 'get_time' } })).toEqual({
      status: 400,
      message: expect.stringContaining('function_call'),
    });
});

it('A call of a tool of the gateway that is not among the tools is refused by name', async () => {
  const tools = [{ type: 'web_search' }];
  for (const tool_choice of [{ type: 'file_search' }, { type: 'mcp', server_label: 'scales' }])
    expect(await refusalOf('responses', MODEL_OVER.chat, false, { tools, tool_choice })).toEqual({
      status: 400,
      message: expect.stringContaining('tool_choice'),
    });
});

it('A tool of the gateway alone can be called', async () => {
  const added = { tools: [{ type: 'web_search' }], tool_choice: 'required' };
  gateway.vendor.script = ({ result, mustCall }) =>
    result === undefined && mustCall
      ? { reasoning: undefined, text: '', call: { id: 'call_1', name: 'web_search', args: { query: 'tides' } } }
      : undefined;
  expect(await refusalOf('responses', MODEL_OVER.chat, false, added)).toMatchObject({ status: 200 });
  gateway.vendor.script = () => undefined;
});
