import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { ResponseInput } from 'openai/resources/responses/responses';
import type { JsonObject } from '#contracts';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const LOOK = { role: 'user' as const, content: 'look' };
const PNG = 'iVBORw0KGgo=';
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } } };
const REFUSED = { status: 400, param: 'moderation' };
/** The interfaces that have system messages anywhere, and a word for how much to say. */
const SAYS_MORE: ReadonlySet<string> = new Set(['responses', 'chat']);
/** A model of the messages interface of the newest generation. */
const NEWEST = `  - { id: newest, protocol: messages, base_url: "VENDOR_URL", key: k, models: { vendor-opus-4-1-20250805: claude-opus-5 } }
`;
const OVER = ['responses', 'chat', 'messages', 'gemini'] as const;

describe('What client libraries say, over vendors that keep to their own rules', () => {
  let gateway: TextGateway;
  let openai: OpenAI;
  let anthropic: Anthropic;
  let google: GoogleGenAI;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { more: NEWEST });
    gateway.vendor.isStrict = true;
    openai = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: gateway.baseUrl, apiKey: gateway.key, maxRetries: 0 });
    google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.baseUrl } });
  });
  afterEach(() => {
    gateway.vendor.rewrite = (json) => json;
  });
  afterAll(() => gateway.stop());

  describe.each(OVER)('over %s', (upstream) => {
    const model = MODEL_OVER[upstream];
    const sent = (): string => gateway.vendor.last.text;

    it('brings the picture that a function of the content-generation library returned', async () => {
      const part = { inlineData: { mimeType: 'image/png', data: PNG } };
      await google.models.generateContent({
        model,
        contents: [
          { role: 'user', parts: [{ text: 'Look.' }] },
          { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
          {
            role: 'user',
            parts: [{ functionResponse: { name: 'look', response: { output: 'seen' }, parts: [part] } }],
          },
        ],
        config: { tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: SCHEMA }] }] },
      });
      expect(sent()).toContain(PNG);
      expect(sent()).toContain('seen');
    });

    it('brings that a function of the messages library failed, streamed', async () => {
      const tools = [{ name: 'look', input_schema: SCHEMA }];
      const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'look', input: {} };
      const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'no light', is_error: true };
      await anthropic.messages
        .stream({
          model,
          max_tokens: 1_000,
          tools,
          messages: [
            { role: 'user', content: 'Look.' },
            { role: 'assistant', content: [call] },
            { role: 'user', content: [result] },
          ],
        })
        .finalMessage();
      expect(sent()).toMatch(/"is_error":true|Error: no light|"error":"no light"/);
    });

    it('brings a system message in the middle, in its place where the vendor has one', async () => {
      await openai.chat.completions.create({
        model,
        messages: [
          { role: 'user', content: 'Hello.' },
          { role: 'assistant', content: 'Hi.' },
          { role: 'system', content: 'Be brief from here on.' },
          { role: 'user', content: 'Go on.' },
        ],
      });
      expect(sent()).toContain('Be brief from here on.');
      const { input, messages, contents } = gateway.vendor.last.body;
      const turns = JSON.stringify(input ?? messages ?? contents);
      expect(turns.includes('Be brief from here on.')).toBe(SAYS_MORE.has(upstream));
    });

    it('brings the newest settings of chat completions, or names the one that it cannot', async () => {
      const asked = openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Hello.' }],
        verbosity: 'low',
        prompt_cache_key: 'k',
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'place', description: 'Where it is.', schema: { ...SCHEMA, required: ['city'] } },
        },
      });
      expect((await asked).choices[0]?.finish_reason).toBe('stop');
      expect(sent()).toContain('Where it is.');
      expect(sent().includes('"verbosity":"low"')).toBe(SAYS_MORE.has(upstream));
      const moderated = { model, messages: [{ role: 'user' as const, content: 'x' }], moderation: { model: 'm' } };
      const outcome: unknown = await openai.chat.completions.create(moderated).catch((error: unknown) => error);
      expect(outcome).toMatchObject(upstream === 'chat' ? { object: 'chat.completion' } : REFUSED);
    });
  });

  it('has the newest models of the messages interface think, which refuse the words of their forerunners', async () => {
    const model = 'vendor-opus-4-1-20250805';
    const messages = [{ role: 'user' as const, content: 'Hello.' }];
    const completion = await openai.chat.completions.create({
      model,
      messages,
      reasoning_effort: 'high',
      temperature: 0.3,
    });
    expect(completion.choices[0]?.message).toMatchObject({ content: 'Vendor heard: Hello.' });
    expect(gateway.vendor.last.body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
    const { status } = await openai.responses.create({ model, input: 'Hello.', temperature: 0.3, top_p: 0.9 });
    expect(status).toBe('completed');
    const thought = await google.models.generateContent({
      model,
      contents: 'Hello.',
      config: { temperature: 1, topK: 64, thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 } },
    });
    expect(thought.candidates?.[0]?.content?.parts).toMatchObject([
      { thought: true },
      { text: 'Vendor heard: Hello.' },
    ]);
    expect(gateway.vendor.last.body).toMatchObject({
      thinking: { display: 'summarized' },
      output_config: { effort: 'low' },
    });
  });

  /** Two turns of an agent whose first ends in a call, with each library. */
  const agents: Readonly<Record<string, (model: string) => Promise<unknown>>> = {
    openai: async (model) => {
      const tools = [{ type: 'function' as const, name: 'look', parameters: SCHEMA, strict: false }];
      const settings = { model, tools, reasoning: { effort: 'high' as const } };
      const { output } = await openai.responses.create({ ...settings, input: [LOOK] });
      const result = { type: 'function_call_output' as const, call_id: 'call_v1', output: 'seen' };
      await openai.responses.create({ ...settings, input: [LOOK, ...(output as ResponseInput), result] });
    },
    'openai (chat completions)': async (model) => {
      const tools = [{ type: 'function' as const, function: { name: 'look', parameters: SCHEMA } }];
      const settings = { model, tools, reasoning_effort: 'high' as const };
      const { choices } = await openai.chat.completions.create({ ...settings, messages: [LOOK] });
      const turns = choices.map(({ message }) => message);
      const result = { role: 'tool' as const, tool_call_id: 'call_v1', content: 'seen' };
      await openai.chat.completions.create({ ...settings, messages: [LOOK, ...turns, result] });
    },
    '@anthropic-ai/sdk': async (model) => {
      const thinking = { type: 'adaptive' as const };
      const settings = { model, max_tokens: 9_000, tools: [{ name: 'look', input_schema: SCHEMA }], thinking };
      const { content } = await anthropic.messages.create({ ...settings, messages: [LOOK] });
      const result = { type: 'tool_result' as const, tool_use_id: 'call_v1', content: 'seen' };
      const messages = [LOOK, { role: 'assistant' as const, content }, { role: 'user' as const, content: [result] }];
      await anthropic.messages.stream({ ...settings, messages }).finalMessage();
    },
    '@google/genai': async (model) => {
      const tools = [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: SCHEMA }] }];
      const settings = { model, config: { tools, thinkingConfig: { thinkingBudget: 2_000 } } };
      const asked = { role: 'user', parts: [{ text: 'look' }] };
      const { candidates } = await google.models.generateContent({ ...settings, contents: [asked] });
      const response = { functionResponse: { id: 'call_v1', name: 'look', response: { output: 'seen' } } };
      const contents = [asked, candidates?.[0]?.content ?? {}, { role: 'user', parts: [response] }];
      await google.models.generateContent({ ...settings, contents });
    },
  };
  const secondMessage = (): unknown => (gateway.vendor.last.body['messages'] as JsonObject[])[1];

  it.each(Object.keys(agents))('brings back what a model thought and does not show: %s', async (library) => {
    gateway.vendor.rewrite = (json) => json.replace('"thinking":"Let me think."', '"thinking":""');
    await agents[library]?.('vendor-opus-4-1-20250805');
    const content = [{ type: 'thinking', thinking: '', signature: 'proof' }, { type: 'tool_use' }];
    expect(secondMessage()).toMatchObject({ content });
  });

  it.each(Object.keys(agents).flatMap((library) => ['google', 'vertex'].map((holder) => [library, holder] as const)))(
    'brings back the proof that a chat vendor put at a call: %s, under the name %s',
    async (library, holder) => {
      const proof = { extra_content: { [holder]: { thought_signature: 'proof' } } };
      gateway.vendor.rewrite = (json) =>
        json.replace('"type":"function"', `${JSON.stringify(proof).slice(1, -1)},"type":"function"`);
      await agents[library]?.(MODEL_OVER.chat);
      expect(secondMessage()).toMatchObject({ tool_calls: [{ id: 'call_v1', ...proof }] });
    },
  );

  it.each(Object.keys(agents))('brings back the whole account of a chat vendor’s reasoning: %s', async (library) => {
    const details = [
      { type: 'reasoning.text', text: 'Hm', signature: 'proof', format: 'theirs', index: 0 },
      { type: 'reasoning.encrypted', data: 'sealed', format: 'theirs', index: 1 },
    ];
    gateway.vendor.rewrite = (json) =>
      json.replace('"role":"assistant"', `"role":"assistant","reasoning_details":${JSON.stringify(details)}`);
    await agents[library]?.(MODEL_OVER.chat);
    expect(secondMessage()).toMatchObject({ reasoning_details: details, tool_calls: [{ id: 'call_v1' }] });
  });

  it('sees a reply that a vendor ended for a reason of its own as no good end', async () => {
    gateway.vendor.rewrite = (json) => json.replace('"finishReason":"STOP"', '"finishReason":"OTHER"');
    const messages = [{ role: 'user' as const, content: 'Hello.' }];
    const whole = await anthropic.messages.create({ model: MODEL_OVER.gemini, max_tokens: 1_000, messages });
    expect(whole.stop_reason).toBe('refusal');
    const { status, incomplete_details: why } = await openai.responses.create({
      model: MODEL_OVER.gemini,
      input: 'Hello.',
    });
    expect([status, why?.reason]).toEqual(['incomplete', 'content_filter']);
  });

  it('brings the pages that a vendor cites although no search was asked for, in the form of each library', async () => {
    const fields = { url: 'https://a.example/page', title: 'A page', start_index: 0, end_index: 2 };
    const inChat = JSON.stringify([{ type: 'url_citation', url_citation: fields }]);
    const inResponses = JSON.stringify([{ type: 'url_citation', ...fields }]);
    gateway.vendor.rewrite = (json) =>
      json
        .replace('"role":"assistant",', `"role":"assistant","annotations":${inChat},`)
        .replace('"annotations":[]', `"annotations":${inResponses}`);
    const messages = [{ role: 'user' as const, content: 'Hello.' }];
    const contents = [{ role: 'user', parts: [{ text: 'Hello.' }] }];
    const [model, other] = [MODEL_OVER.chat, MODEL_OVER.responses];
    const response = await openai.responses.create({ model, input: 'Hello.' });
    expect(response.output).toMatchObject([{ content: [{ annotations: [{ type: 'url_citation', ...fields }] }] }]);
    const message = await anthropic.messages.create({ model, max_tokens: 1_000, messages });
    const citations = [{ url: fields.url, title: fields.title }];
    expect(message.content).toMatchObject([{ text: 'Ve', citations }, { text: 'ndor heard: Hello.' }]);
    const generated = await google.models.generateContent({ model, contents });
    const { groundingChunks } = generated.candidates?.[0]?.groundingMetadata ?? {};
    expect(groundingChunks).toMatchObject([{ web: { uri: fields.url, title: fields.title } }]);
    const completion = await openai.chat.completions.create({ model: other, messages });
    expect(completion.choices[0]?.message.annotations).toMatchObject([{ type: 'url_citation', url_citation: fields }]);
  });
});
