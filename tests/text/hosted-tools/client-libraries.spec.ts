import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { type HostileServer, startHostileServer } from '../../harness/tools/hostile-server.js';
import { type FakeEngine, startFakeEngine } from '../../harness/tools/search-engine.js';
import { type LibraryClients, libraryClients } from '../../harness/text-vendor/library-clients.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../../harness/text-vendor/text-gateway.js';
import type { VendorCall, VendorRequest, VendorWords } from '../../harness/text-vendor/vendor-script.js';

const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const VENDORS = UPSTREAMS.filter((upstream) => upstream !== 'sandbox');

let calls = 0;
const call = (name: string, args: Record<string, unknown>): VendorCall => ({ id: `call_${(calls += 1)}`, name, args });
const say = (text: string): VendorWords => ({ reasoning: undefined, text, call: undefined });
const ask = (first: VendorCall, second?: VendorCall): VendorWords => ({
  reasoning: undefined,
  text: '',
  call: first,
  alsoCalled: second,
});

/** Searches and calls the caller's function at once, then answers with the result. */
const mixing = ({ result, toolNames }: VendorRequest): VendorWords =>
  result === undefined && toolNames.includes('web_search')
    ? ask(call('web_search', { query: 'tides' }), call('get_weather', { city: 'Whitby' }))
    : say(`High water is at 17:42.【1】 And: ${result ?? 'nothing'}`);

/** Weighs a word at the server of tools, then answers with the result. */
const weighing = ({ result, toolNames }: VendorRequest): VendorWords =>
  result === undefined && toolNames.includes('weigh') ? ask(call('weigh', {})) : say(`Result: ${result ?? 'nothing'}`);

describe('Tools that the gateway runs, through client libraries', () => {
  let engine: FakeEngine;
  let server: HostileServer;
  let gateway: TextGateway;
  let openai: LibraryClients['openai'];
  let anthropic: LibraryClients['anthropic'];
  let google: LibraryClients['google'];
  beforeAll(async () => {
    [engine, server] = await Promise.all([startFakeEngine(), startHostileServer()]);
    gateway = await startTextGateway(
      { WEB_SEARCH_ENGINE: 'searxng', WEB_SEARCH_URL: engine.baseUrl, MEDIA_FETCH_ALLOW: server.address },
      { idleSeconds: 30 },
    );
    ({ openai, anthropic, google } = libraryClients(gateway));
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([engine.stop(), server.stop()]);
  });

  describe.each(VENDORS)('over the %s upstream', (upstream) => {
    const model = MODEL_OVER[upstream];

    it('stand beside functions of the caller in responses, whose next turn continues from both', async () => {
      gateway.vendor.script = mixing;
      const tools: OpenAI.Responses.Tool[] = [
        { type: 'web_search' },
        { type: 'function', name: 'get_weather', parameters: SCHEMA, strict: false },
      ];
      const include: OpenAI.Responses.ResponseIncludable[] = ['web_search_call.action.sources'];
      const stream = openai.responses.stream({ model, input: 'When can we walk?', tools, include });
      const first = await stream.finalResponse();
      const types = first.output.map(({ type }) => type).filter((type) => type !== 'reasoning');
      expect(types).toEqual(['function_call', 'web_search_call']);
      const asked = first.output.find((item) => item.type === 'function_call');
      const second = await openai.responses.create({
        model,
        tools,
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: asked?.call_id ?? '', output: 'windy' }],
      });
      expect(second.output_text).toContain('windy');
    });

    it('wait for approval where the caller requires it, and run once it is given', async () => {
      gateway.vendor.script = weighing;
      const tools: OpenAI.Responses.Tool[] = [
        { type: 'mcp', server_label: 'scales', server_url: `http://${server.address}/mcp`, require_approval: 'always' },
      ];
      const before = server.asked.filter(({ method }) => method === 'tools/call').length;
      const first = await openai.responses.create({ model, input: 'weigh it', tools });
      const request = first.output.find((item) => item.type === 'mcp_approval_request');
      expect(request).toMatchObject({ server_label: 'scales', name: 'weigh' });
      expect(server.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(before);
      const second = await openai.responses.create({
        model,
        tools,
        previous_response_id: first.id,
        input: [{ type: 'mcp_approval_response', approval_request_id: request?.id ?? '', approve: true }],
      });
      expect(second.output.find((item) => item.type === 'mcp_call')).toMatchObject({
        output: 'It weighs 7.',
        approval_request_id: request?.id,
      });
      expect(second.output_text).toContain('It weighs 7.');
      expect(server.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(before + 1);
    });

    it('are read by the messages library, whole and streamed, and their blocks can be sent back', async () => {
      gateway.vendor.script = weighing;
      const body = {
        model,
        max_tokens: 1_000,
        messages: [{ role: 'user' as const, content: 'weigh it' }],
        mcp_servers: [{ type: 'url' as const, name: 'scales', url: `http://${server.address}/mcp` }],
      };
      const whole = await anthropic.beta.messages.create(body);
      const streamed = await anthropic.beta.messages.stream(body).finalMessage();
      const shown = whole.content.filter(({ type }) => type !== 'redacted_thinking');
      expect(shown.map(({ type }) => type)).toEqual(['mcp_tool_use', 'mcp_tool_result', 'text']);
      expect(streamed.content.map(({ type }) => type)).toEqual(whole.content.map(({ type }) => type));
      expect(JSON.stringify(streamed.content)).toContain('It weighs 7.');
      gateway.vendor.script = ({ text }) => say(`Heard: ${text}`);
      const next = await anthropic.beta.messages.create({
        model,
        max_tokens: 1_000,
        messages: [
          ...body.messages,
          { role: 'assistant', content: whole.content as Anthropic.Beta.BetaContentBlockParam[] },
          { role: 'user', content: 'thanks' },
        ],
      });
      expect(JSON.stringify(next.content)).toContain('Heard: thanks');
      expect(gateway.vendor.last.text).toContain('It weighs 7.');
    });

    it('appear as grounding in content generation, and as citations in chat', async () => {
      gateway.vendor.script = ({ result, toolNames }) =>
        result === undefined && toolNames.includes('web_search')
          ? ask(call('web_search', { query: 'tides' }))
          : say('Walk early. High water is at 17:42.【1】');
      const content = await google.models.generateContent({
        model,
        contents: 'When is high water?',
        config: { tools: [{ googleSearch: {} }] },
      });
      const grounding = content.candidates?.[0]?.groundingMetadata;
      expect(grounding?.webSearchQueries).toEqual(['tides']);
      expect(grounding?.groundingSupports?.[0]?.segment?.text).toBe('High water is at 17:42.');
      const stream = openai.chat.completions.stream({
        model,
        messages: [{ role: 'user', content: 'When is high water?' }],
        web_search_options: {},
      });
      const cited: unknown[] = [];
      for await (const { choices } of stream)
        cited.push(...((choices[0]?.delta as { annotations?: unknown[] } | undefined)?.annotations ?? []));
      expect(cited).toHaveLength(1);
      expect(cited[0]).toMatchObject({ type: 'url_citation', url_citation: { start_index: 12, end_index: 35 } });
    });
  });
});
