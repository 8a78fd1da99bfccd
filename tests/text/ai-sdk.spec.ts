import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import { startTextGateway, type TextGateway, MODEL_OVER, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES } from '../harness/text-vendor/text-requests.js';

const CITY = jsonSchema<{ city: string }>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
});
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A name of a function that the vendors of a style take and those of another do not. */
const NAMES: Readonly<Record<Style, string>> = {
  responses: '1st-tool',
  chat: '1st-tool',
  messages: 'n'.repeat(100),
  gemini: 'files:read.all',
};

describe('The Vercel AI SDK', () => {
  let gateway: TextGateway;
  let models: Record<Style, (model: string) => LanguageModel>;
  beforeAll(async () => {
    gateway = await startTextGateway();
    gateway.vendor.isStrict = true;
    const apiKey = gateway.key;
    const openai = createOpenAI({ apiKey, baseURL: `${gateway.baseUrl}/v1` });
    models = {
      responses: (model) => openai.responses(model),
      chat: createOpenAICompatible({
        name: 'gateway',
        apiKey,
        baseURL: `${gateway.baseUrl}/v1`,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }),
      messages: createAnthropic({ apiKey, baseURL: `${gateway.baseUrl}/v1` }),
      gemini: createGoogleGenerativeAI({ apiKey, baseURL: `${gateway.baseUrl}/v1beta` }),
    };
  });
  afterAll(() => gateway.stop());

  const tools = {
    get_weather: tool({
      description: 'The weather of a city.',
      inputSchema: CITY,
      execute: ({ city }) => Promise.resolve(`22 degrees in ${city}`),
    }),
  };

  describe.each(STYLES)('in the %s style', (style) => {
    describe.each(UPSTREAMS)('over %s', (upstream) => {
      const ask = (): { model: LanguageModel; maxRetries: number; maxOutputTokens: number } => ({
        model: models[style](MODEL_OVER[upstream]),
        maxRetries: 0,
        maxOutputTokens: 2_000,
      });

      it('reads a whole reply', async () => {
        const { text, usage, finishReason } = await generateText({ ...ask(), prompt: 'Hello there' });
        expect(text).toContain('Hello there');
        expect(usage.totalTokens).toBeGreaterThan(0);
        expect(finishReason).toBe('stop');
      });

      it('streams a reply', async () => {
        const { textStream, finishReason } = streamText({ ...ask(), prompt: 'Hello there' });
        let text = '';
        for await (const piece of textStream) text += piece;
        expect(text).toContain('Hello there');
        expect(await finishReason).toBe('stop');
      });

      it('runs a tool and answers with its result, across stored items', async () => {
        const stopWhen = stepCountIs(3);
        const whole = await generateText({ ...ask(), tools, stopWhen, prompt: 'Use get_weather for Paris' });
        expect(whole.text).toContain('22 degrees in Paris');
        const streamed = streamText({ ...ask(), tools, stopWhen, prompt: 'Use get_weather for Paris' });
        await streamed.consumeStream();
        expect(await streamed.text).toContain('22 degrees in Paris');
      });

      it('calls a function by a name that other vendors refuse, and returns its result', async () => {
        const named = { [NAMES[style]]: tools.get_weather };
        const prompt = 'What is the weather?';
        const called = await generateText({ ...ask(), tools: named, toolChoice: 'required', prompt });
        expect(called.toolCalls.map(({ toolName }) => toolName)).toEqual([NAMES[style]]);
        const messages = [{ role: 'user' as const, content: prompt }, ...called.response.messages];
        const { text } = await generateText({ ...ask(), tools: named, messages });
        expect(text).toContain('22 degrees');
        const { fullStream } = streamText({ ...ask(), tools: named, toolChoice: 'required', prompt });
        const names = new Set<string>();
        for await (const part of fullStream) if (part.type === 'tool-call') names.add(part.toolName);
        expect([...names]).toEqual([NAMES[style]]);
      });

      it('keeps a conversation of several turns', async () => {
        const { text } = await generateText({
          ...ask(),
          messages: [
            { role: 'user', content: 'My name is Ada' },
            { role: 'assistant', content: 'Hello Ada' },
            { role: 'user', content: 'Who am I?' },
          ],
        });
        expect(text).toContain('Who am I?');
        expect(gateway.vendor.last.text).toContain(upstream === 'sandbox' ? '' : 'Hello Ada');
      });

      it('gets an object that fits a schema', async () => {
        const { output } = await generateText({
          ...ask(),
          output: Output.object({ schema: CITY }),
          prompt: 'A city like Paris ?',
        });
        expect(output).toEqual({ city: 'Paris' });
      });

      it('sends an image', async () => {
        const content = [
          { type: 'text' as const, text: 'What is this?' },
          { type: 'image' as const, image: Buffer.from(PIXEL, 'base64') },
        ];
        const { text } = await generateText({ ...ask(), messages: [{ role: 'user', content }] });
        expect(text).toMatch(/1 image|PNG image of 1 x 1 pixels/);
      });
    });

    it('sees a failure in the middle of a stream', async () => {
      const errors: unknown[] = [];
      const { fullStream } = streamText({
        model: models[style](MODEL_OVER.sandbox),
        maxRetries: 0,
        prompt: 'Go on [sandbox:cut]',
        onError: ({ error }) => {
          errors.push(error);
        },
      });
      for await (const _part of fullStream);
      expect(errors).toHaveLength(1);
    });
  });
});
