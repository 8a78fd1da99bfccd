import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatGoogle } from '@langchain/google';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { ChatOpenAI } from '@langchain/openai';
import { startTextGateway, type TextGateway, MODEL_OVER, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';

const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Its adapters, by the style they speak; the last is the one that `@langchain/google` replaces. */
const ADAPTERS = ['responses', 'chat', 'messages', 'gemini', 'gemini (former)'] as const;
type Adapter = (typeof ADAPTERS)[number];
type Model = BaseChatModel;

describe('LangChain', () => {
  let gateway: TextGateway;
  let create: Record<Adapter, (model: string) => Model>;
  beforeAll(async () => {
    gateway = await startTextGateway();
    gateway.vendor.isStrict = true;
    const { baseUrl, key: apiKey } = gateway;
    create = {
      responses: (model) =>
        new ChatOpenAI({
          model,
          apiKey,
          maxRetries: 0,
          useResponsesApi: true,
          configuration: { baseURL: `${baseUrl}/v1` },
        }),
      chat: (model) => new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL: `${baseUrl}/v1` } }),
      messages: (model) =>
        new ChatAnthropic({ model, apiKey, maxRetries: 0, maxTokens: 2_000, anthropicApiUrl: baseUrl }),
      gemini: (model) => new ChatGoogle({ model, apiKey, maxRetries: 0, endpoint: baseUrl }),
      'gemini (former)': (model) => new ChatGoogleGenerativeAI({ model, apiKey, maxRetries: 0, baseUrl }),
    };
  });
  afterAll(() => gateway.stop());

  describe.each(ADAPTERS)('through its %s adapter', (adapter) => {
    describe.each(UPSTREAMS)('over %s', (upstream) => {
      it('invokes and streams, with usage', async () => {
        const model = create[adapter](MODEL_OVER[upstream]);
        const reply = await model.invoke('Hello there');
        expect(reply.text).toContain('Hello there');
        expect(reply).toMatchObject({ usage_metadata: { total_tokens: expect.any(Number) } });
        let all = new AIMessageChunk('');
        for await (const chunk of await model.stream('Hello there')) all = all.concat(chunk);
        expect(all.text).toContain('Hello there');
      });

      it('calls a tool and reads its result', async () => {
        const model = create[adapter](MODEL_OVER[upstream]).bindTools?.([WEATHER]);
        const messages: BaseMessage[] = [new HumanMessage('Use get_weather for Paris')];
        if (!model) throw new Error('This model takes no tools');
        const asked = await model.invoke(messages);
        expect(asked.tool_calls).toMatchObject([{ name: 'get_weather', args: { city: 'Paris' } }]);
        const call = asked.tool_calls?.[0];
        const result = new ToolMessage({ content: '22 degrees', tool_call_id: call?.id ?? '', name: 'get_weather' });
        const answered = await model.invoke([...messages, asked, result]);
        expect(answered.text).toContain('22 degrees');
        let all = new AIMessageChunk('');
        for await (const chunk of await model.stream(messages)) all = all.concat(chunk);
        expect(all.tool_calls).toMatchObject([{ name: 'get_weather', args: { city: 'Paris' } }]);
      });

      it('keeps a conversation of several turns', async () => {
        const messages = [
          new HumanMessage('My name is Ada'),
          new AIMessage('Hello Ada'),
          new HumanMessage('Who am I?'),
        ];
        const { text } = await create[adapter](MODEL_OVER[upstream]).invoke(messages);
        expect(text).toContain('Who am I?');
        expect(gateway.vendor.last.text).toContain(upstream === 'sandbox' ? '' : 'Hello Ada');
      });
    });

    // One adapter sends images only to models whose names it knows, or that speak of vision.
    const seeing = UPSTREAMS.filter((upstream) => adapter !== 'gemini (former)' || upstream === 'sandbox');
    it.each(seeing)('sends an image over %s', async (upstream) => {
      const content = [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: PIXEL } },
      ];
      const { text } = await create[adapter](MODEL_OVER[upstream]).invoke([new HumanMessage({ content })]);
      expect(text).toMatch(/1 image|PNG image of 1 x 1 pixels/);
    });

    it('sees an error of the gateway', async () => {
      await expect(create[adapter]('no-such-model').invoke('x')).rejects.toThrow('no-such-model');
    });
  });
});
