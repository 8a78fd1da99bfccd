import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { startTextGateway, type TextGateway, MODEL_OVER, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';

const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('The @google/genai library', () => {
  let gateway: TextGateway;
  let client: GoogleGenAI;
  beforeAll(async () => {
    gateway = await startTextGateway();
    client = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.baseUrl } });
  });
  afterAll(() => gateway.stop());

  describe.each(UPSTREAMS)('over %s', (upstream) => {
    const model = MODEL_OVER[upstream];

    it('reads a whole reply and its usage', async () => {
      const reply = await client.models.generateContent({ model, contents: 'Hello there' });
      expect(reply.text).toContain('Hello there');
      expect(reply.candidates?.[0]?.finishReason).toBe('STOP');
      expect(reply.modelVersion).toBe(model);
      expect(reply.usageMetadata?.totalTokenCount).toBeGreaterThan(0);
    });

    it('streams the same text in pieces', async () => {
      let text = '';
      let total: number | undefined;
      for await (const chunk of await client.models.generateContentStream({ model, contents: 'Hello there' })) {
        text += chunk.text ?? '';
        total = chunk.usageMetadata?.totalTokenCount;
      }
      expect(text).toContain('Hello there');
      expect(total).toBeGreaterThan(0);
    });

    it('sends a tool call and its result in a chat', async () => {
      const config = { tools: [{ functionDeclarations: [WEATHER] }] };
      const chat = client.chats.create({ model, config });
      const asked = await chat.sendMessage({ message: 'Use get_weather for Paris' });
      expect(asked.functionCalls).toMatchObject([{ name: 'get_weather', args: { city: 'Paris' } }]);
      const call = asked.functionCalls?.[0];
      const answered = await chat.sendMessage({
        message: [
          {
            functionResponse: {
              ...(call?.id ? { id: call.id } : {}),
              name: 'get_weather',
              response: { output: '22 degrees' },
            },
          },
        ],
      });
      expect(answered.text).toContain('22 degrees');
      // A vendor of the same style wants its own proof back; others are never sent it.
      expect(gateway.vendor.last.text.includes('"thoughtSignature":"proof"')).toBe(upstream === 'gemini');
    });

    it('streams a forced tool call whole', async () => {
      const config = {
        tools: [{ functionDeclarations: [WEATHER] }],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
      };
      const calls = [];
      for await (const chunk of await client.models.generateContentStream({
        model,
        contents: 'Somewhere in Paris',
        config,
      }))
        calls.push(...(chunk.functionCalls ?? []));
      expect(calls).toMatchObject([{ name: 'get_weather', args: { city: 'Paris' } }]);
    });

    it('sends an image', async () => {
      const parts = [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }];
      const reply = await client.models.generateContent({ model, contents: [{ role: 'user', parts }] });
      expect(reply.text).toMatch(/1 image|PNG image of 1 x 1 pixels/);
    });

    it('keeps a chat of several streamed turns', async () => {
      const chat = client.chats.create({ model });
      for await (const _chunk of await chat.sendMessageStream({ message: 'My name is Ada' }));
      const second = await chat.sendMessage({ message: 'Who am I?' });
      expect(second.text).toContain('Who am I?');
    });
  });

  it('hears where embeddings are made, and that there are no batches', async () => {
    await expect(client.models.embedContent({ model: MODEL_OVER.chat, contents: 'x' })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('POST /v1/embeddings') as string,
    });
    await expect(client.batches.create({ model: MODEL_OVER.chat, src: [{ contents: 'x' }] })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('There is no batch API') as string,
    });
  });

  it('counts tokens', async () => {
    const { totalTokens } = await client.models.countTokens({ model: MODEL_OVER.chat, contents: 'Hello there' });
    expect(totalTokens).toBeGreaterThan(1);
  });

  it('gets an error with the status, whole and streamed', async () => {
    const wrong = { model: 'vendor-5', contents: 'x', config: { temperature: 9 } };
    await expect(client.models.generateContent(wrong)).rejects.toMatchObject({ status: 400 });
    await expect(client.models.generateContentStream(wrong)).rejects.toBeInstanceOf(ApiError);
  });

  it('gets an error in the middle of a stream', async () => {
    const stream = await client.models.generateContentStream({
      model: MODEL_OVER.sandbox,
      contents: 'Go on [sandbox:cut]',
    });
    const reading = (async () => {
      for await (const _chunk of stream);
    })();
    await expect(reading).rejects.toMatchObject({ status: 502 });
  });

  it('streams a JSON array without alt=sse, whichever the upstream', async () => {
    for (const model of Object.values(MODEL_OVER)) {
      const answer = await fetch(`${gateway.baseUrl}/v1beta/models/${model}:streamGenerateContent`, {
        method: 'POST',
        headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
        body: JSON.stringify({ contents: [{ parts: [{ text: 'Hello there' }] }] }),
      });
      expect(answer.headers.get('content-type')).toContain('application/json');
      const chunks = (await answer.json()) as { candidates?: { finishReason?: string }[] }[];
      expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    }
  });
});
