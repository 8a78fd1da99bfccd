import type { JsonObject } from '#contracts';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';

/** Upstreams that speak another interface than the agent. */
const TRANSLATED = ['chat', 'messages', 'gemini'] as const satisfies readonly Upstream[];

/** What a coding agent of the responses style offers with its defaults. */
const AGENT_TOOLS: JsonObject[] = [
  {
    type: 'function',
    name: 'exec_command',
    description: 'Runs a command.',
    strict: false,
    parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
  },
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  },
  {
    type: 'namespace',
    name: 'multi_agent_v1',
    description: 'Other agents.',
    tools: [{ type: 'function', name: 'spawn_agent', description: 'Starts one.', parameters: { type: 'object' } }],
  },
  { type: 'web_search', external_web_access: false },
  { type: 'image_generation' },
];

interface Item extends JsonObject {
  readonly type: string;
}

interface Turn {
  readonly status: number;
  readonly output: readonly Item[];
  readonly events: readonly { readonly type: string }[];
  readonly leftOut: string | null;
  readonly text: string;
}

let gateway: TextGateway;
beforeAll(async () => {
  gateway = await startTextGateway();
  gateway.vendor.isStrict = true;
});
afterAll(() => gateway.stop());

/** One turn of the agent, streamed as it streams. */
async function turn(upstream: Upstream, input: readonly JsonObject[], more: JsonObject = {}): Promise<Turn> {
  const body = {
    model: MODEL_OVER[upstream],
    instructions: 'You are a coding agent.',
    input,
    tools: AGENT_TOOLS,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    store: false,
    stream: true,
    ...more,
  };
  const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, json]) => JSON.parse(json ?? '') as { type: string; response?: { output: Item[] } },
  );
  const output = events.at(-1)?.response?.output ?? [];
  return { status: answer.status, output, events, leftOut: answer.headers.get('x-gateway-tools-left-out'), text };
}

const user = (text: string): JsonObject => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const resultFor = (call: Item, output: string): JsonObject => ({
  type: `${call.type}_output`,
  call_id: call['call_id'] ?? '',
  output,
});

describe.each(TRANSLATED)('A coding agent with its defaults, over %s', (upstream) => {
  const patch = '*** Begin Patch\n"x"\n';

  it('calls a free-form tool and continues with its result, unchanged byte by byte', async () => {
    const asked = [user(`Use apply_patch with ${JSON.stringify({ input: patch })}`)];
    const first = await turn(upstream, asked);
    expect(first).toMatchObject({ status: 200 });
    const call = first.output.find(({ type }) => type === 'custom_tool_call');
    if (!call) throw new Error(`no call in ${first.text}`);
    expect(call).toMatchObject({ name: 'apply_patch', input: patch });
    expect(first.events.map(({ type }) => type)).toContain('response.custom_tool_call_input.done');
    const second = await turn(upstream, [...asked, ...first.output, resultFor(call, 'Done\0 and half \ud83d')]);
    expect([second.status, second.output.map(({ type }) => type)]).toEqual([200, expect.arrayContaining(['message'])]);
    expect(gateway.vendor.last.text).toContain(String.raw`Done\ufffd and half \ufffd`);
  });

  it('calls a tool of a namespace by both its names', async () => {
    const asked = [user('Use multi_agent_v1__spawn_agent')];
    const first = await turn(upstream, asked);
    const call = first.output.find(({ type }) => type === 'function_call');
    expect(call).toMatchObject({ namespace: 'multi_agent_v1', name: 'spawn_agent' });
    const second = await turn(upstream, [...asked, ...first.output, resultFor(call!, 'ok')]);
    expect(second.status).toBe(200);
    expect(gateway.vendor.last.text.split('multi_agent_v1__spawn_agent').length).toBeGreaterThan(2);
  });

  it('gets a list of the tools that were not sent to the upstream', async () => {
    const { leftOut } = await turn(upstream, [user('Hello')]);
    expect(leftOut).toBe('web_search, image_generation');
    expect(gateway.vendor.last.text).not.toMatch(/web_search|image_generation/);
  });

  it('is refused where it insists on a tool that the upstream lacks', async () => {
    const forced = await turn(upstream, [user('Hello')], { tool_choice: { type: 'web_search' } });
    expect([forced.status, forced.text]).toEqual([404, expect.stringContaining('tools[3]')]);
  });
});

it('A coding agent with its defaults works over an upstream of its own interface, which gets all tools but the extra-priced ones', async () => {
  const { status, leftOut } = await turn('responses', [user('Hello')]);
  expect([status, leftOut]).toEqual([200, 'web_search, image_generation']);
  expect(gateway.vendor.last.body['tools']).toEqual(AGENT_TOOLS.slice(0, 3));
  const forced = await turn('responses', [user('Hello')], { tool_choice: { type: 'web_search' } });
  expect([forced.status, forced.text]).toEqual([404, expect.stringContaining('tools[3]')]);
});

it('Characters that the database cannot store reach an upstream of the same interface unchanged', async () => {
  const tools = AGENT_TOOLS.slice(0, 1);
  const call = { type: 'function_call', call_id: 'c', name: 'exec_command', arguments: '{}' };
  const input = [user('x'), call, resultFor(call, 'bin\0ary \ud83d')];
  expect((await turn('responses', input, { tools })).status).toBe(200);
  expect(gateway.vendor.last.text).toContain(String.raw`bin\u0000ary \ud83d`);
});

it('The sandbox calls the tools of a coding agent with its defaults, and answers their results', async () => {
  const asked = [user('Use apply_patch and multi_agent_v1__spawn_agent')];
  const first = await turn('sandbox', asked);
  const calls = first.output.filter(({ type }) => type.endsWith('_call'));
  expect(calls).toMatchObject([
    { type: 'custom_tool_call', name: 'apply_patch' },
    { type: 'function_call', namespace: 'multi_agent_v1', name: 'spawn_agent' },
  ]);
  const results = calls.map((call) => resultFor(call, 'Done\0'));
  const second = await turn('sandbox', [...asked, ...first.output, ...results]);
  expect([second.status, second.output.map(({ type }) => type)]).toEqual([200, expect.arrayContaining(['message'])]);
});
