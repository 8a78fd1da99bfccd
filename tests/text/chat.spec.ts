import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';

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
const HELLO: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello there' }];

describe('The openai library, in the chat completions style', () => {
  let gateway: TextGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startTextGateway({}, { settings: 'allow: { fields: [input_audio] }' });
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
  });
  afterAll(() => gateway.stop());

  describe.each(UPSTREAMS)('over %s', (upstream) => {
    const model = MODEL_OVER[upstream];

    it('reads a whole reply and its usage', async () => {
      const completion = await client.chat.completions.create({ model, messages: HELLO });
      expect(completion).toMatchObject({ object: 'chat.completion', model });
      expect(completion.choices).toMatchObject([
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: expect.stringContaining('Hello') } },
      ]);
      expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    });

    it('streams the same text in pieces, with the usage where it is asked for and nowhere else', async () => {
      const read = async (more: object) => {
        const stream = await client.chat.completions.create({ model, messages: HELLO, stream: true, ...more });
        let [text, usages, emptyChunks] = ['', 0, 0];
        for await (const { choices, usage } of stream) {
          text += choices[0]?.delta.content ?? '';
          if (usage) usages += 1;
          if (choices.length === 0) emptyChunks += 1;
        }
        return { text, usages, emptyChunks };
      };
      const text = expect.stringContaining('Hello there') as string;
      expect(await read({ stream_options: { include_usage: true } })).toEqual({ text, usages: 1, emptyChunks: 1 });
      expect(await read({})).toEqual({ text, usages: 0, emptyChunks: 0 });
      expect(await read({ stream_options: { include_usage: false } })).toEqual({ text, usages: 0, emptyChunks: 0 });
    });

    it('runs a tool and answers with its result, whole and streamed', async () => {
      const asked: string[] = [];
      const tools = [
        {
          ...WEATHER,
          function: {
            ...WEATHER.function,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => {
              asked.push(city);
              return `22 degrees in ${city}`;
            },
          },
        },
      ];
      const messages = [{ role: 'user' as const, content: 'Use get_weather for Paris' }];
      const whole = client.chat.completions.runTools({ model, messages, tools });
      expect(await whole.finalContent()).toContain('22 degrees in Paris');
      const streamed = client.chat.completions.runTools({ model, messages, tools, stream: true });
      expect(await streamed.finalContent()).toContain('22 degrees in Paris');
      expect(asked).toEqual(['Paris', 'Paris']);
    });

    it('streams a tool call whose arguments add up to JSON', async () => {
      const messages = [{ role: 'user' as const, content: 'Use get_weather for Paris' }];
      const final = await client.chat.completions.stream({ model, messages, tools: [WEATHER] }).finalChatCompletion();
      const [choice] = final.choices;
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { role: 'assistant' } });
      const [call] = choice?.message.tool_calls ?? [];
      expect(call).toMatchObject({
        type: 'function',
        function: { name: 'get_weather', arguments: expect.any(String) },
      });
      expect(JSON.parse(call?.type === 'function' ? call.function.arguments : '')).toEqual({ city: 'Paris' });
    });

    it('parses JSON of the schema it asked for', async () => {
      const completion = await client.chat.completions.parse({
        model,
        messages: [{ role: 'user', content: 'Where is Paris ?' }],
        response_format: zodResponseFormat(z.object({ city: z.string() }), 'place'),
      });
      expect(completion.choices[0]?.message.parsed).toEqual({ city: 'Paris' });
    });

    it('sends an image', async () => {
      const content = [
        { type: 'text' as const, text: 'What is this?' },
        { type: 'image_url' as const, image_url: { url: PIXEL } },
      ];
      const completion = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] });
      expect(completion.choices[0]?.message.content).toMatch(/1 image|PNG image of 1 x 1 pixels/);
    });

    it('keeps a conversation of several turns and the developer message', async () => {
      const { choices } = await client.chat.completions.create({
        model,
        messages: [
          { role: 'developer', content: 'Be brief.' },
          { role: 'user', content: 'My name is Ada' },
          { role: 'assistant', content: 'Hello Ada' },
          { role: 'user', content: 'Who am I?' },
        ],
      });
      expect(choices[0]?.message.content).toContain('Who am I?');
      for (const said of ['Be brief.', 'Hello Ada'])
        expect(gateway.vendor.last.text).toContain(upstream === 'sandbox' ? '' : said);
    });

    it('reads the reasoning that it asked for', async () => {
      const { choices } = await client.chat.completions.create({ model, messages: HELLO, reasoning_effort: 'low' });
      expect(choices[0]?.message).toMatchObject({ reasoning_content: expect.stringMatching(/.+/) });
    });
  });

  /** What the vendor is sent back of its own reasoning when the tool has answered. */
  const REPLAYED = {
    messages: { type: 'thinking', thinking: 'Let me think.', signature: 'proof' },
    gemini: { thoughtSignature: 'proof', functionCall: expect.objectContaining({ name: 'get_weather' }) as object },
    responses: { type: 'reasoning', encrypted_content: 'sealed' },
  };
  const PROVING = ['messages', 'gemini', 'responses'] as const;

  /** Every object in what the vendor was sent last. */
  const sentParts = (): object[] => {
    const parts: object[] = [];
    JSON.parse(gateway.vendor.last.text, (_name, value: unknown) => {
      if (typeof value === 'object' && value !== null) parts.push(value);
      return value;
    });
    return parts;
  };

  describe.each(PROVING)('has the reasoning of %s, with its proof, go back to the vendor', (upstream) => {
    const expected = expect.arrayContaining([expect.objectContaining(REPLAYED[upstream])]) as object[];

    it('from the message that it got', async () => {
      const body = { model: MODEL_OVER[upstream], tools: [WEATHER], reasoning_effort: 'low' as const };
      const question: ChatCompletionMessageParam = { role: 'user', content: 'Use get_weather for Paris' };
      const asked = await client.chat.completions.create({ ...body, messages: [question] });
      const message = asked.choices[0]?.message ?? { role: 'assistant', content: '', refusal: null };
      const [call] = message.tool_calls ?? [];
      const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: '22 degrees' };
      await client.chat.completions.create({ ...body, messages: [question, message, result] });
      expect(sentParts()).toEqual(expected);
    });

    it.each([false, true])('from the parts that the AI SDK keeps, streamed %s', async (isStreamed) => {
      // It sends proofs back to a provider of this name alone.
      const name = 'google';
      const provider = createOpenAICompatible({ name, apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1` });
      const question = {
        model: provider(MODEL_OVER[upstream]),
        maxRetries: 0,
        providerOptions: { [name]: { reasoningEffort: 'low' } },
        prompt: 'Use get_weather for Paris',
        stopWhen: stepCountIs(2),
        tools: {
          get_weather: tool({
            inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
            execute: () => '22 degrees',
          }),
        },
      };
      if (isStreamed) await streamText(question).consumeStream();
      else await generateText(question);
      expect(sentParts()).toEqual(expected);
    });
  });

  it('gets 400 with the field at fault', async () => {
    const failure = client.chat.completions.create({ model: 'vendor-5', messages: HELLO, temperature: 3 });
    await expect(failure).rejects.toMatchObject({
      status: 400,
      param: 'temperature',
      code: 'invalid_parameter',
      type: 'invalid_request_error',
    });
    await expect(failure).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });

  it.each([
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].role', { messages: [{ role: 'model', content: 'x' }] }],
    [
      'messages[0].content[0].image_url.url',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
    ],
    ['messages[0].content[0].file', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }],
    [
      'messages[0].content[0].file.file_data',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'https://a.example/x.pdf' } }] }] },
    ],
    ['n', { n: 0 }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: 5, max_completion_tokens: 6 }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['response_format.json_schema.name', { response_format: { type: 'json_schema', json_schema: {} } }],
    ['stream_options.include_usage', { stream: true, stream_options: { include_usage: 1 } }],
  ])('gets an error naming %s for %j', async (param, more) => {
    const body = { model: 'vendor-5', messages: HELLO, ...more };
    await expect(client.chat.completions.create(body as never)).rejects.toMatchObject({ status: 400, param });
  });

  const TRANSLATED = UPSTREAMS.filter((upstream) => upstream !== 'chat');
  it.each(TRANSLATED)('gets an error naming the field that %s does not support', async (upstream) => {
    const asked = gateway.vendor.seen.length;
    const more: readonly (readonly [string, object])[] = [
      ['n', { n: 2 }],
      ['logprobs', { logprobs: true }],
      ['top_logprobs', { logprobs: false, top_logprobs: 2 }],
      ['logit_bias', { logit_bias: { '50256': -100 } }],
      ['functions', { functions: [{ name: 'f' }], tools: [{ type: 'function', function: { name: 'g' } }] }],
      ['response_format', { response_format: { type: 'grammar' } }],
      ['tool_choice', { tool_choice: { type: 'a_tool_of_tomorrow' } }],
    ];
    for (const [param, field] of more) {
      const body = { model: MODEL_OVER[upstream], messages: HELLO, ...field };
      const failure = client.chat.completions.create(body);
      await expect(failure).rejects.toMatchObject({ status: 400, param, code: 'unsupported_parameter' });
    }
    expect(gateway.vendor.seen).toHaveLength(asked);
  });

  it.each(['responses', 'messages', 'gemini'] as const)(
    'calls a free-form tool over %s, whole and streamed, and answers with its result',
    async (upstream) => {
      const custom = { name: 'patch' };
      const asked = {
        model: MODEL_OVER[upstream],
        messages: [{ role: 'user' as const, content: 'Use patch with {"input":"*** Begin"}' }],
        tools: [{ type: 'custom' as const, custom }],
        tool_choice: { type: 'custom' as const, custom },
      };
      const { message } = (await client.chat.completions.create(asked)).choices[0]!;
      const call = { type: 'custom', custom: { name: 'patch', input: '*** Begin' } };
      expect(message.tool_calls).toMatchObject([call]);
      const id = message.tool_calls?.[0]?.id ?? '';
      const messages = [...asked.messages, message, { role: 'tool' as const, tool_call_id: id, content: 'patched' }];
      const next = await client.chat.completions.create({ ...asked, messages, tool_choice: 'auto' });
      expect(next.choices[0]?.message.content).toContain('patched');
      const deltas: unknown[] = [];
      for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
        deltas.push(...(choices[0]?.delta.tool_calls ?? []));
      expect(deltas).toMatchObject([{ index: 0, ...call }]);
    },
  );

  it('accepts audio input where the upstream does and may, and gets an error where it does not', async () => {
    const audio = { type: 'input_audio' as const, input_audio: { data: 'UklGRg==', format: 'wav' as const } };
    const hear = (upstream: (typeof UPSTREAMS)[number]) =>
      client.chat.completions.create({ model: MODEL_OVER[upstream], messages: [{ role: 'user', content: [audio] }] });
    await hear('gemini');
    expect(sentParts()).toContainEqual({ mimeType: 'audio/wav', data: 'UklGRg==' });
    await hear('chat');
    expect(sentParts()).toContainEqual(audio);
    for (const deaf of ['responses', 'messages'] as const)
      await expect(hear(deaf)).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter' });
  });

  it('gets 401 and 404 as its own error classes', async () => {
    const stranger = new OpenAI({ apiKey: 'sk-unknown', baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    const unknown = stranger.chat.completions.create({ model: 'vendor-5', messages: HELLO });
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    const missing = client.chat.completions.create({ model: 'vendor-9', messages: HELLO });
    await expect(missing).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('gets a typed error in the middle of a stream', async () => {
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Go on [sandbox:cut]' }];
    const stream = await client.chat.completions.create({ model: MODEL_OVER.sandbox, messages, stream: true });
    const reading = (async () => {
      for await (const _chunk of stream);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'upstream_error', type: 'server_error' });
  });
});
