import Anthropic from '@anthropic-ai/sdk';
import EarlierAnthropic from 'anthropic-sdk-0';
import {
  startTextGateway,
  type TextGateway,
  MODEL_OVER,
  type Upstream,
  UPSTREAMS,
} from '../harness/text-vendor/text-gateway.js';

const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** How a vendor's proof of thinking comes back to that vendor; protocols without one get none. */
const PROOF_OF_OWN_VENDOR: Record<Upstream, string> = {
  messages: '"signature":"proof"',
  responses: '"encrypted_content":"sealed"',
  chat: '',
  gemini: '',
  sandbox: '',
};

/** The newest library sends Bearer, the earlier one x-api-key; both types are structurally the same here. */
const LIBRARIES = [
  ['1.x', Anthropic],
  ['0.x', EarlierAnthropic as object as typeof Anthropic],
] as const;

describe.each(LIBRARIES)('The @anthropic-ai/sdk library %s', (_version, Library) => {
  let gateway: TextGateway;
  let client: Anthropic;
  beforeAll(async () => {
    gateway = await startTextGateway();
    client = new Library({ apiKey: gateway.key, baseURL: gateway.baseUrl, maxRetries: 0 });
  });
  afterAll(() => gateway.stop());

  const textOf = (message: Anthropic.Message): string =>
    message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');

  describe.each(UPSTREAMS)('over %s', (upstream) => {
    const model = MODEL_OVER[upstream];
    const ask = { model, max_tokens: 2_000 };

    it('reads a whole reply and its usage', async () => {
      const message = await client.messages.create({ ...ask, messages: [{ role: 'user', content: 'Hello there' }] });
      expect(textOf(message)).toContain('Hello there');
      expect(message).toMatchObject({
        type: 'message',
        role: 'assistant',
        model,
        stop_reason: 'end_turn',
        stop_sequence: null,
      });
      expect(message.usage.input_tokens + message.usage.output_tokens).toBeGreaterThan(0);
    });

    it('streams the same text in pieces', async () => {
      let text = '';
      const stream = client.messages.stream({ ...ask, messages: [{ role: 'user', content: 'Hello there' }] });
      stream.on('text', (piece) => {
        text += piece;
      });
      const message = await stream.finalMessage();
      expect(text).toContain('Hello there');
      expect(textOf(message)).toBe(text);
      expect(message.usage.output_tokens).toBeGreaterThan(1);
    });

    it('sends a tool call and its result in a second turn', async () => {
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Use get_weather for Paris' }];
      const asked = await client.messages.stream({ ...ask, messages, tools: [WEATHER] }).finalMessage();
      const [use] = asked.content.filter((block) => block.type === 'tool_use');
      expect(asked.stop_reason).toBe('tool_use');
      expect(use).toMatchObject({ name: 'get_weather', input: { city: 'Paris' } });
      const result = { type: 'tool_result' as const, tool_use_id: use?.id ?? '', content: '22 degrees' };
      const answered = await client.messages.create({
        ...ask,
        tools: [WEATHER],
        messages: [...messages, { role: 'assistant', content: asked.content }, { role: 'user', content: [result] }],
      });
      expect(textOf(answered)).toContain('22 degrees');
    });

    it('keeps a conversation of several turns', async () => {
      const messages: Anthropic.MessageParam[] = [
        { role: 'user', content: 'My name is Ada' },
        { role: 'assistant', content: 'Hello Ada' },
        { role: 'user', content: [{ type: 'text', text: 'Who am I?' }] },
      ];
      expect(textOf(await client.messages.create({ ...ask, messages }))).toContain('Who am I?');
      expect(gateway.vendor.last.text).toContain(upstream === 'sandbox' ? '' : 'Hello Ada');
    });

    it('sends an image', async () => {
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data: PIXEL };
      const content = [
        { type: 'text' as const, text: 'What is this?' },
        { type: 'image' as const, source },
      ];
      const message = await client.messages.create({ ...ask, messages: [{ role: 'user', content }] });
      expect(textOf(message)).toMatch(/1 image|PNG image of 1 x 1 pixels/);
    });

    it('thinks when asked, and gets its proof of thinking back with the next turn', async () => {
      const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Think about this' }];
      const first = await client.messages.stream({ ...ask, thinking, messages }).finalMessage();
      const [thought] = first.content;
      expect(thought).toMatchObject({ type: 'thinking' });
      await client.messages.create({
        ...ask,
        thinking,
        messages: [...messages, { role: 'assistant', content: first.content }, { role: 'user', content: 'And now?' }],
      });
      expect(gateway.vendor.last.text).toContain(PROOF_OF_OWN_VENDOR[upstream]);
    });

    it('counts the tokens of a request', async () => {
      const search = {
        type: 'server_tool_use' as const,
        id: 'srvtoolu_1',
        name: 'web_search' as const,
        input: { query: 'Paris' },
      };
      const { input_tokens: withSearch } = await client.messages.countTokens({
        model: ask.model,
        messages: [
          { role: 'user', content: 'Hello there' },
          { role: 'assistant', content: [search, { type: 'text', text: 'Found it' }] },
          { role: 'user', content: 'Go on' },
        ],
      });
      expect(withSearch).toBeGreaterThan(10);
      const counted = await client.messages.countTokens({
        model,
        messages: [{ role: 'user', content: 'Hello there' }],
      });
      expect(counted.input_tokens).toBeGreaterThan(1);
    });
  });

  it('obeys stop sequences, output limits and a prefilled reply', async () => {
    const ask = { model: MODEL_OVER.sandbox, max_tokens: 2_000 };
    const user: Anthropic.MessageParam = { role: 'user', content: 'Hello' };
    const stopped = await client.messages.create({ ...ask, messages: [user], stop_sequences: ['real model'] });
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'real model' });
    const cut = await client.messages.create({ ...ask, max_tokens: 3, messages: [user] });
    expect(cut).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 3 } });
    const prefilled = await client.messages.create({
      ...ask,
      messages: [user, { role: 'assistant', content: 'Well,' }],
    });
    expect(textOf(prefilled)).toMatch(/^ This is/);
  });

  it('gets its own error classes, with the type inside', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'x' }];
    const wrong = await client.messages
      .create({ model: 'vendor-5', max_tokens: 0, messages })
      .catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(Library.BadRequestError);
    expect(wrong).toMatchObject({ status: 400, error: { type: 'error', error: { type: 'invalid_request_error' } } });
    await expect(client.messages.create({ model: 'nothing', max_tokens: 5, messages })).rejects.toBeInstanceOf(
      Library.NotFoundError,
    );
  });

  it('gets a typed error in the middle of a stream', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go on [sandbox:cut]' }];
    const reading = client.messages.stream({ model: MODEL_OVER.sandbox, max_tokens: 50, messages }).finalMessage();
    await expect(reading).rejects.toMatchObject({ error: { error: { type: 'api_error' } } });
  });

  it('works with a base address that already holds /v1', async () => {
    const other = new Library({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    const message = await other.messages.create({
      model: 'vendor-5',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(message.role).toBe('assistant');
  });
});
