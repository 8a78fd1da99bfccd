import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { FunctionCallingConfigMode, type CallableTool, type FunctionCall, type Part } from '@google/genai';
import { generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import { type LibraryClients, libraryClients } from '../harness/text-vendor/library-clients.js';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';

const VENDORS = UPSTREAMS.filter((upstream) => upstream !== 'sandbox');
const QUESTION = 'How is Oslo?';
const DESCRIPTION = 'Tells the weather of a city.';
const CITY = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false as const,
};
const CITIES = { type: 'array' as const, items: CITY };

/** What a program with a function does with a library: asks, and lets the library run the function until there is an answer. */
type Helper = (clients: LibraryClients, model: string, run: Weather) => Promise<string>;
type Weather = (args: { readonly city: string }) => string;

/** A function as the content-generation library calls it by itself. */
function callable(run: Weather): CallableTool {
  const declaration = { name: 'weather', description: DESCRIPTION, parametersJsonSchema: CITY };
  return {
    tool: () => Promise.resolve({ functionDeclarations: [declaration] }),
    callTool: (calls: FunctionCall[]): Promise<Part[]> =>
      Promise.resolve(
        calls.map(({ id, name = '', args = {} }) => ({
          functionResponse: {
            ...(id !== undefined && { id }),
            name,
            response: { output: run(args as { city: string }) },
          },
        })),
      ),
  };
}

const HELPERS: Readonly<Record<string, Helper>> = {
  'openai runTools': async ({ openai }, model, run) => {
    const runner = openai.chat.completions.runTools({
      model,
      messages: [{ role: 'user', content: QUESTION }],
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: DESCRIPTION, parameters: CITY, parse: JSON.parse, function: run },
        },
      ],
    });
    return (await runner.finalContent()) ?? '';
  },
  'openai runTools, streamed': async ({ openai }, model, run) => {
    const runner = openai.chat.completions.runTools({
      model,
      stream: true,
      messages: [{ role: 'user', content: QUESTION }],
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: DESCRIPTION, parameters: CITY, parse: JSON.parse, function: run },
        },
      ],
    });
    return (await runner.finalContent()) ?? '';
  },
  '@anthropic-ai/sdk toolRunner': async ({ anthropic }, model, run) => {
    const weather = betaTool({ name: 'weather', description: DESCRIPTION, inputSchema: CITY, run });
    const { content } = await anthropic.beta.messages.toolRunner({
      model,
      max_tokens: 1_000,
      messages: [{ role: 'user', content: QUESTION }],
      tools: [weather],
    });
    return JSON.stringify(content);
  },
  '@google/genai functions that it calls itself': async ({ google }, model, run) => {
    const answer = await google.models.generateContent({
      model,
      contents: QUESTION,
      config: { tools: [callable(run)] },
    });
    return answer.text ?? '';
  },
  '@google/genai functions that it calls itself, streamed': async ({ google }, model, run) => {
    const stream = await google.models.generateContentStream({
      model,
      contents: QUESTION,
      config: { tools: [callable(run)] },
    });
    let text = '';
    for await (const chunk of stream) text += chunk.text ?? '';
    return text;
  },
  '@google/genai chat': async ({ google }, model, run) => {
    const chat = google.chats.create({ model, config: { tools: [callable(run)] } });
    const { text } = await chat.sendMessage({ message: QUESTION });
    return text ?? '';
  },
};

const AI_STYLES = ['openai responses', 'openai chat', 'anthropic', 'google'] as const;

describe('The helpers of client libraries, as their guides show them', () => {
  let gateway: TextGateway;
  let clients: LibraryClients;
  let ran: string[];
  const run: Weather = ({ city }) => {
    ran.push(city);
    return `windy in ${city}`;
  };
  beforeAll(async () => {
    gateway = await startTextGateway();
    gateway.vendor.isStrict = true;
    clients = libraryClients(gateway);
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    ran = [];
  });

  const askingWeather = (): void => {
    gateway.vendor.script = ({ result, toolNames }) =>
      result === undefined && toolNames.includes('weather')
        ? { reasoning: undefined, text: '', call: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } } }
        : { reasoning: undefined, text: `It is ${result ?? 'unknown'}.`, call: undefined };
  };
  const saying = (text: string): void => {
    gateway.vendor.script = () => ({ reasoning: undefined, text, call: undefined });
  };
  const aiModel = (style: (typeof AI_STYLES)[number], model: string): LanguageModel => {
    const { baseUrl, key: apiKey } = gateway;
    switch (style) {
      case 'openai responses':
        return createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey }).responses(model);
      case 'openai chat':
        return createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey }).chat(model);
      case 'anthropic':
        return createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey })(model);
      default:
        return createGoogleGenerativeAI({ baseURL: `${baseUrl}/v1beta`, apiKey })(model);
    }
  };

  describe.each(VENDORS)('over the %s upstream', (upstream) => {
    const model = MODEL_OVER[upstream];

    it.each(Object.entries(HELPERS))(
      'run a function and end with an answer from its result: %s',
      async (_name, helper) => {
        askingWeather();
        expect(await helper(clients, model, run)).toContain('windy in Oslo');
        expect(ran).toEqual(['Oslo']);
      },
    );

    it('read an object of a schema: openai responses.parse and chat.completions.parse', async () => {
      saying('{"city":"Oslo"}');
      const format = { type: 'json_schema' as const, name: 'city', strict: true, schema: CITY };
      const whole = await clients.openai.responses.parse({ model, input: QUESTION, text: { format } });
      expect(JSON.parse(whole.output_text)).toEqual({ city: 'Oslo' });
      const { name, strict, schema } = format;
      const chat = await clients.openai.chat.completions.parse({
        model,
        messages: [{ role: 'user', content: QUESTION }],
        response_format: { type: 'json_schema', json_schema: { name, strict, schema } },
      });
      expect(JSON.parse(chat.choices[0]?.message.content ?? '')).toEqual({ city: 'Oslo' });
    });

    it('read an object of a schema: anthropic messages.parse', async () => {
      saying('{"city":"Oslo"}');
      const parsed = await clients.anthropic.messages.parse({
        model,
        max_tokens: 1_000,
        messages: [{ role: 'user', content: QUESTION }],
        output_config: { format: { type: 'json_schema', schema: CITY } },
      });
      expect(JSON.stringify(parsed.content)).toContain('Oslo');
    });

    it('force a function and read its arguments: @google/genai', async () => {
      askingWeather();
      const answer = await clients.google.models.generateContent({
        model,
        contents: QUESTION,
        config: {
          tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: CITY }] }],
          toolConfig: {
            functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['weather'] },
          },
        },
      });
      expect(answer.functionCalls?.[0]).toMatchObject({ name: 'weather', args: { city: 'Oslo' } });
    });

    describe.each(AI_STYLES)('with the AI SDK in the style of %s', (style) => {
      const tools = {
        weather: tool({
          description: DESCRIPTION,
          inputSchema: jsonSchema<{ city: string }>(CITY),
          execute: (args: { city: string }) => run(args),
        }),
      };

      it('run a function over several steps, whole and streamed', async () => {
        askingWeather();
        const whole = await generateText({
          model: aiModel(style, model),
          prompt: QUESTION,
          tools,
          stopWhen: stepCountIs(4),
        });
        expect(whole.text).toContain('windy in Oslo');
        const streamed = streamText({
          model: aiModel(style, model),
          prompt: QUESTION,
          tools,
          stopWhen: stepCountIs(4),
        });
        expect(await streamed.text).toContain('windy in Oslo');
        expect(ran).toEqual(['Oslo', 'Oslo']);
      });

      it('read an object, a list and a choice', async () => {
        saying('{"city":"Oslo"}');
        const object = await generateText({
          model: aiModel(style, model),
          prompt: QUESTION,
          output: Output.object({ schema: jsonSchema<{ city: string }>(CITY) }),
        });
        expect(object.output).toEqual({ city: 'Oslo' });
        saying('{"elements":[{"city":"Oslo"}]}');
        const list = await generateText({
          model: aiModel(style, model),
          prompt: QUESTION,
          output: Output.array({ element: jsonSchema<{ city: string }>(CITY) }),
        });
        expect(list.output).toEqual([{ city: 'Oslo' }]);
        saying('{"result":"windy"}');
        const chosen = await generateText({
          model: aiModel(style, model),
          prompt: QUESTION,
          output: Output.choice({ options: ['windy', 'calm'] }),
        });
        expect(chosen.output).toBe('windy');
      });
    });

    it('read a list at the root of a schema, where the style has one: @google/genai', async () => {
      saying('[{"city":"Oslo"}]');
      const answer = await clients.google.models.generateContent({
        model,
        contents: QUESTION,
        config: { responseMimeType: 'application/json', responseJsonSchema: CITIES },
      });
      expect(JSON.parse(answer.text ?? '')).toEqual([{ city: 'Oslo' }]);
    });
  });
});
