import OpenAI from 'openai';
import type { ResponseInput } from 'openai/resources/responses/responses';
import { eventually } from '#testing';
import { startTextGateway, type TextGateway, MODEL_OVER, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';

const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('The openai library', () => {
  let gateway: TextGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startTextGateway({ DISCONNECT_DRAIN_SECONDS: '0.2' }, { idleSeconds: 30 });
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
  });
  afterAll(() => gateway.stop());

  describe.each(UPSTREAMS)('over %s', (upstream) => {
    const model = MODEL_OVER[upstream];

    it('reads a whole reply and its usage', async () => {
      const response = await client.responses.create({ model, input: 'Hello there' });
      expect(response.output_text).toContain('Hello there');
      expect(response).toMatchObject({ status: 'completed', model, object: 'response' });
      expect(response.usage?.total_tokens).toBeGreaterThan(0);
    });

    it('streams the same text in pieces, in the order its helper demands', async () => {
      const stream = client.responses.stream({ model, input: 'Hello there' });
      let text = '';
      stream.on('response.output_text.delta', ({ delta }) => {
        text += delta;
      });
      const final = await stream.finalResponse();
      expect(text).toContain('Hello there');
      expect(final.output_text).toBe(text);
      expect(final.usage?.output_tokens).toBeGreaterThan(0);
    });

    it('sends a tool call and its result in a second turn', async () => {
      const input: ResponseInput = [{ role: 'user', content: 'Use get_weather for Paris' }];
      const asked = await client.responses.create({ model, input, tools: [WEATHER], store: false });
      const [call] = asked.output.filter((item) => item.type === 'function_call');
      expect(call).toMatchObject({ name: 'get_weather' });
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris' });
      const answered = await client.responses.create({
        model,
        input: [
          ...input,
          ...(call ? [call] : []),
          { type: 'function_call_output', call_id: call?.call_id ?? '', output: '22 degrees' },
        ],
        tools: [WEATHER],
      });
      expect(answered.output_text).toContain('22 degrees');
    });

    it('streams a tool call whose arguments add up to JSON', async () => {
      const stream = client.responses.stream({ model, input: 'Use get_weather for Paris', tools: [WEATHER] });
      const final = await stream.finalResponse();
      const [call] = final.output.filter((item) => item.type === 'function_call');
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris' });
    });

    it('sends an image', async () => {
      const content = [
        { type: 'input_text' as const, text: 'What is this?' },
        { type: 'input_image' as const, image_url: PIXEL, detail: 'auto' as const },
      ];
      const response = await client.responses.create({ model, input: [{ role: 'user', content }] });
      expect(response.output_text).toMatch(/1 image|PNG image of 1 x 1 pixels/);
    });

    it('gets JSON of the schema it asked for', async () => {
      const schema = {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      };
      const format = { type: 'json_schema' as const, name: 'place', schema, strict: true };
      const response = await client.responses.create({ model, input: 'Where is Paris ?', text: { format } });
      expect(JSON.parse(response.output_text)).toEqual({ city: 'Paris' });
    });

    it('continues a stored response by its id', async () => {
      const first = await client.responses.create({ model, input: 'My name is Ada' });
      const second = await client.responses.create({ model, input: 'Who am I?', previous_response_id: first.id });
      expect(second.output_text).toContain('Who am I?');
      expect(gateway.vendor.last.text).toContain(upstream === 'sandbox' ? '' : 'My name is Ada');
    });
  });

  it('gets 400 with the field at fault, and does not try again', async () => {
    const error = await client.responses
      .create({ model: 'vendor-5', input: 'x', temperature: 3 })
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      param: 'temperature',
      code: 'invalid_parameter',
      type: 'invalid_request_error',
    });
  });

  it('gets 401, 404 and previous_response_not_found as its own error classes', async () => {
    const stranger = new OpenAI({ apiKey: 'sk-unknown', baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    await expect(stranger.responses.create({ model: 'vendor-5', input: 'x' })).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    await expect(client.responses.create({ model: 'vendor-9', input: 'x' })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await expect(
      client.responses.create({ model: 'vendor-5', input: 'x', previous_response_id: 'resp_unknown' }),
    ).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found', param: 'previous_response_id' });
  });

  it('refuses a reference to an unknown item instead of dropping it', async () => {
    const input: ResponseInput = [
      { role: 'user', content: 'x' },
      { type: 'item_reference', id: 'msg_unknown' },
    ];
    await expect(client.responses.create({ model: 'vendor-5', input })).rejects.toMatchObject({
      status: 404,
      code: 'item_not_found',
      param: 'input[1].id',
    });
  });

  it('reads a stored response, and none sent with store: false', async () => {
    const kept = await client.responses.create({ model: 'vendor-4-vision', input: 'Keep me' });
    expect((await client.responses.retrieve(kept.id)).output_text).toBe(kept.output_text);
    const lost = await client.responses.create({ model: 'vendor-4-vision', input: 'Forget me', store: false });
    await expect(client.responses.retrieve(lost.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('gets a typed error in the middle of a stream', async () => {
    const stream = await client.responses.create({
      model: 'vendor-4-vision',
      input: 'Go on [sandbox:cut]',
      stream: true,
    });
    const reading = (async () => {
      for await (const _event of stream);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'upstream_error' });
  });

  it('aborts the upstream soon after it stops reading, where the reply does not end by itself', async () => {
    const before = gateway.vendor.aborted;
    gateway.vendor.gate = { at: 'middle', opened: new Promise(() => {}) };
    const stream = await client.responses.create({ model: 'vendor-4o-image', input: 'A long story', stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    stream.controller.abort();
    await eventually(() => gateway.vendor.aborted > before);
    gateway.vendor.gate = undefined;
    expect(gateway.vendor.aborted).toBe(before + 1);
  });
});
