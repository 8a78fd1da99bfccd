import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

const QUESTION = 'How warm is it in Paris, and what will the weather be?';
const NAME = 'forecast';
const DESCRIPTION = 'The weather of a city. Call it for everything about temperatures.';
const PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string', description: 'Its name.' } },
  required: ['city'],
};

/** The tool of the program. */
const forecast = ({ city }: { readonly city?: string }): string => `22 degrees in ${city}`;

/** More turns than any of these loops should take. */
const MOST_TURNS = 4;

/** How a program with a tool is written with each library: asks, runs what is called, tells the results, until there is an answer. */
const LOOPS: Readonly<Record<string, (baseUrl: string, turn: () => void) => Promise<string>>> = {
  'openai, responses': async (baseUrl, turn) => {
    const { responses } = new OpenAI({ apiKey: TEST_KEY, baseURL: `${baseUrl}/v1`, maxRetries: 0 });
    const tools = [
      { type: 'function' as const, name: NAME, description: DESCRIPTION, parameters: PARAMETERS, strict: false },
    ];
    let answer = await responses.create({ model: 'vendor-5', input: QUESTION, tools });
    for (;;) {
      turn();
      const calls = answer.output.filter((item) => item.type === 'function_call');
      if (calls.length === 0) return answer.output_text;
      const input = calls.map(({ call_id, arguments: json }) => ({
        type: 'function_call_output' as const,
        call_id,
        output: forecast(JSON.parse(json) as object),
      }));
      answer = await responses.create({ model: 'vendor-5', input, tools, previous_response_id: answer.id });
    }
  },
  'openai, chat completions': async (baseUrl, turn) => {
    const { chat } = new OpenAI({ apiKey: TEST_KEY, baseURL: `${baseUrl}/v1`, maxRetries: 0 });
    const runner = chat.completions.runTools({
      model: 'vendor-5',
      messages: [{ role: 'user', content: QUESTION }],
      tools: [
        {
          type: 'function',
          function: {
            name: NAME,
            description: DESCRIPTION,
            parameters: PARAMETERS,
            parse: JSON.parse,
            function: forecast,
          },
        },
      ],
    });
    runner.on('chatCompletion', turn);
    return (await runner.finalContent()) ?? '';
  },
  anthropic: async (baseUrl, turn) => {
    const { messages: api } = new Anthropic({ apiKey: TEST_KEY, baseURL: baseUrl, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }];
    for (;;) {
      turn();
      const { content } = await api.create({
        model: 'vendor-haiku-4-5-20251001',
        max_tokens: 500,
        messages,
        tools: [{ name: NAME, description: DESCRIPTION, input_schema: PARAMETERS }],
      });
      const calls = content.filter((block) => block.type === 'tool_use');
      if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      const results = calls.map(({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: forecast(input as object),
      }));
      messages.push({ role: 'assistant', content }, { role: 'user', content: results });
    }
  },
  google: async (baseUrl, turn) => {
    const google = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl } });
    const functionDeclarations = [{ name: NAME, description: DESCRIPTION, parametersJsonSchema: PARAMETERS }];
    const chat = google.chats.create({ model: 'vendor-2.5-flash', config: { tools: [{ functionDeclarations }] } });
    let answer = await chat.sendMessage({ message: QUESTION });
    for (;;) {
      turn();
      const calls = answer.functionCalls ?? [];
      if (calls.length === 0) return answer.text ?? '';
      const message = calls.map(({ id, args }) => ({
        functionResponse: {
          ...(id === undefined ? {} : { id }),
          name: NAME,
          response: { output: forecast(args ?? {}) },
        },
      }));
      answer = await chat.sendMessage({ message });
    }
  },
};

describe('An agent with a tool, over an unconfigured gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  it.each(Object.entries(LOOPS))(
    'gets a call of its tool for a matching question, and ends: %s',
    async (_library, loop) => {
      let turns = 0;
      const turn = (): void => {
        turns += 1;
        if (turns > MOST_TURNS) throw new Error('The loop does not end');
      };
      expect(await loop(gateway.baseUrl, turn)).toContain('22 degrees in Paris');
      expect(turns).toBe(2);
    },
  );
});
