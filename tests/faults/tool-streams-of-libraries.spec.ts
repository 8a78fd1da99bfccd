import type Anthropic from '@anthropic-ai/sdk';
import type { Content, Part, Tool as GoogleTool } from '@google/genai';
import { eventually, pdfSample } from '#testing';
import { type OpenAI, toFile } from 'openai';
import { type HostileServer, startHostileServer } from '../harness/tools/hostile-server.js';
import { type LibraryClients, libraryClients } from '../harness/text-vendor/library-clients.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';
import type { VendorCall, VendorRequest, VendorWords } from '../harness/text-vendor/vendor-script.js';

const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const QUESTION = 'Who was the keeper, and how is the weather?';
const WINDY = 'very windy';
const VENDORS = UPSTREAMS.filter((upstream) => upstream !== 'sandbox');

/** The tools of the gateway, what the model calls them, and a word that is only known from them. */
const TOOLS = {
  file_search: { name: 'file_search', args: { query: 'keeper of the lighthouse' }, known: 'Ingrid Aasen' },
  remote_mcp: { name: 'weigh', args: {}, known: 'It weighs 7.' },
} as const;
type Tool = keyof typeof TOOLS;

/** What came of both turns, in whatever form the library reads it. */
interface Turns {
  readonly first: unknown;
  readonly second: unknown;
}

let calls = 0;
const call = (name: string, args: Record<string, unknown>): VendorWords => {
  const made: VendorCall = { id: `call_${(calls += 1)}`, name, args };
  return { reasoning: undefined, text: '', call: made };
};

/** Uses the gateway's tool, then calls the caller's function, then says what both told. */
const using =
  (tool: Tool) =>
  ({ result }: VendorRequest): VendorWords => {
    if (result === undefined) return call(TOOLS[tool].name, TOOLS[tool].args);
    if (!result.includes(WINDY)) return call('get_weather', { city: 'Whitby' });
    return { reasoning: undefined, text: `I know both, and it is ${WINDY}.`, call: undefined };
  };

describe('Tools that the gateway runs, streamed through client libraries beside a function of the caller', () => {
  let server: HostileServer;
  let gateway: TextGateway;
  let openai: LibraryClients['openai'];
  let anthropic: LibraryClients['anthropic'];
  let google: LibraryClients['google'];
  beforeAll(async () => {
    server = await startHostileServer();
    gateway = await startTextGateway({ MEDIA_FETCH_ALLOW: server.address }, { idleSeconds: 30, workers: true });
    gateway.vendor.isStrict = true;
    ({ openai, anthropic, google } = libraryClients(gateway));
    const text = 'The lighthouse of Vesterholm was lit in 1871. Its keeper was Ingrid Aasen.';
    await openai.files.create({
      file: await toFile(Buffer.from(pdfSample([text])), 'harbour.pdf'),
      purpose: 'assistants',
    });
    await eventually(async () => {
      const tools = [{ type: 'file_search' } as OpenAI.Responses.FileSearchTool];
      const { output_text: said } = await openai.responses.create({
        model: MODEL_OVER.sandbox,
        input: 'keeper',
        tools,
      });
      return said.includes(TOOLS.file_search.known);
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await server.stop();
  });

  /** @param store whether the gateway keeps the first turn; otherwise the client sends it back. */
  const responses =
    (store: boolean) =>
    async (model: string, tool: Tool): Promise<Turns> => {
      const mcp: OpenAI.Responses.Tool.Mcp = {
        type: 'mcp',
        server_label: 'scales',
        server_url: `http://${server.address}/mcp`,
        require_approval: 'never',
      };
      const search = { type: 'file_search' } as OpenAI.Responses.FileSearchTool;
      const tools: OpenAI.Responses.Tool[] = [
        tool === 'file_search' ? search : mcp,
        { type: 'function', name: 'get_weather', parameters: SCHEMA, strict: false },
      ];
      const first = await openai.responses.stream({ model, input: QUESTION, tools, store }).finalResponse();
      const asked = first.output.find((item) => item.type === 'function_call');
      const output = { type: 'function_call_output' as const, call_id: asked?.call_id ?? '', output: WINDY };
      const sentBack = first.output as OpenAI.Responses.ResponseInput;
      const next = store
        ? { previous_response_id: first.id, input: [output] }
        : { input: [{ role: 'user' as const, content: QUESTION }, ...sentBack, output] };
      const second = await openai.responses.stream({ model, tools, store, ...next }).finalResponse();
      return { first: first.output, second: second.output };
    };

  async function chat(model: string, tool: Tool): Promise<Turns> {
    const hosted =
      tool === 'file_search'
        ? { type: 'file_search' }
        : { type: 'remote_mcp', remote_mcp: { url: `http://${server.address}/mcp` } };
    const tools = [
      hosted as object as OpenAI.Chat.ChatCompletionTool,
      { type: 'function' as const, function: { name: 'get_weather', parameters: SCHEMA } },
    ];
    const question = { role: 'user' as const, content: QUESTION };
    const first = await openai.chat.completions.stream({ model, messages: [question], tools }).finalMessage();
    const id = first.tool_calls?.[0]?.id ?? '';
    const answered = [question, first, { role: 'tool' as const, tool_call_id: id, content: WINDY }];
    const second = await openai.chat.completions.stream({ model, messages: answered, tools }).finalMessage();
    return { first, second };
  }

  async function messages(model: string, tool: Tool): Promise<Turns> {
    const search = { type: 'file_search', name: 'file_search' } as object as Anthropic.Beta.BetaToolUnion;
    const servers = { mcp_servers: [{ type: 'url' as const, name: 'scales', url: `http://${server.address}/mcp` }] };
    const body = {
      model,
      max_tokens: 1_000,
      tools: [...(tool === 'file_search' ? [search] : []), { name: 'get_weather', input_schema: SCHEMA }],
      ...(tool === 'remote_mcp' && servers),
    };
    const question = { role: 'user' as const, content: QUESTION };
    const first = await anthropic.beta.messages.stream({ ...body, messages: [question] }).finalMessage();
    const asked = first.content.find(({ type }) => type === 'tool_use') as { id: string } | undefined;
    const result = { type: 'tool_result' as const, tool_use_id: asked?.id ?? '', content: WINDY };
    const content = first.content as Anthropic.Beta.BetaContentBlockParam[];
    const answered = [question, { role: 'assistant' as const, content }, { role: 'user' as const, content: [result] }];
    const second = await anthropic.beta.messages.stream({ ...body, messages: answered }).finalMessage();
    return { first: first.content, second: second.content };
  }

  async function gemini(model: string, tool: Tool): Promise<Turns> {
    const mcpServers = [{ name: 'scales', streamableHttpTransport: { url: `http://${server.address}/mcp` } }];
    const hosted: GoogleTool = tool === 'file_search' ? { fileSearch: {} } : { mcpServers };
    const own = { functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: SCHEMA }] };
    const said = async (contents: Content[]): Promise<Content> => {
      const chunks = await google.models.generateContentStream({ model, contents, config: { tools: [hosted, own] } });
      const parts: Part[] = [];
      for await (const { candidates } of chunks) parts.push(...(candidates?.[0]?.content?.parts ?? []));
      return { role: 'model', parts };
    };
    const question: Content = { role: 'user', parts: [{ text: QUESTION }] };
    const first = await said([question]);
    const id = first.parts?.find(({ functionCall }) => functionCall)?.functionCall?.id ?? '';
    const functionResponse = { id, name: 'get_weather', response: { output: WINDY } };
    const { parts = [] } = await said([question, first, { role: 'user', parts: [{ functionResponse }] }]);
    return { first, second: parts.map(({ text }) => text ?? '').join('') };
  }

  const LIBRARIES = {
    'openai, from what is stored': responses(true),
    'openai, from what the client sends back': responses(false),
    'openai (chat completions)': chat,
    anthropic: messages,
    google: gemini,
  };

  describe.each(Object.keys(LIBRARIES) as (keyof typeof LIBRARIES)[])('%s', (library) => {
    describe.each(Object.keys(TOOLS) as Tool[])('with %s', (tool) => {
      it.each(VENDORS)('ends with the call of the function, and goes on from both over %s', async (upstream) => {
        gateway.vendor.script = using(tool);
        const { first, second } = await LIBRARIES[library](MODEL_OVER[upstream], tool);
        expect(JSON.stringify(first)).toContain('get_weather');
        expect(JSON.stringify(first)).toContain('Whitby');
        expect(JSON.stringify(second)).toContain(`it is ${WINDY}.`);
        // What the gateway's tool found in the first turn is known in the second, and all of it as the vendor wants it.
        expect(gateway.vendor.last.text).toContain(TOOLS[tool].known);
        expect(gateway.vendor.last.text).toContain(WINDY);
        expect(gateway.vendor.last.text).not.toMatch(/runHere|gateway:/);
      });
    });
  });
});
