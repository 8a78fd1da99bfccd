import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const PATH = '/v1/chat/completions';
const MESSAGES = [{ role: 'user', content: 'Hello there' }];

/** Fields of which the gateway knows nothing but that they cost no more than their tokens. */
const PASSED = {
  n: 3,
  logprobs: true,
  top_logprobs: 2,
  logit_bias: { '50256': -100 },
  seed: 7,
  chat_template_kwargs: { enable_thinking: false },
  repetition_penalty: 1.1,
  store: true,
  metadata: { a: 'b' },
  functions: [{ name: 'f' }],
};

describe('A chat completion that passes through', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());
  afterEach(() => {
    gateway.vendor.rewrite = (json) => json;
    gateway.vendor.script = () => undefined;
  });

  async function ask(more: object) {
    const body = JSON.stringify({ model: MODEL_OVER.chat, messages: MESSAGES, ...more });
    const answer = await fetch(gateway.baseUrl + PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body,
    });
    return { status: answer.status, sent: body, text: await answer.text() };
  }

  /** What both sides say, the model's name and what the gateway adds apart. */
  const rest = (text: string): string => text.replaceAll(/"model":"[^"]*",?/g, '');

  it('reaches the vendor byte for byte, its own fields too', async () => {
    const { status, sent } = await ask({ max_tokens: 100, ...PASSED });
    expect(status).toBe(200);
    expect(rest(gateway.vendor.last.text)).toBe(rest(sent));
  });

  it.each<[{ stream_options?: object }]>([
    [{}],
    [{ stream_options: {} }],
    [{ stream_options: { include_obfuscation: false } }],
  ])('requests the usage of a stream, and changes no other byte: %j', async (more) => {
    const { sent, text } = await ask({ max_tokens: 100, stream: true, ...more });
    const { last } = gateway.vendor;
    expect(last.body).toMatchObject({ stream_options: { include_usage: true, ...more.stream_options } });
    const without = last.text.replace(/"stream_options":\{"include_usage":true\},|"include_usage":true,?/, '');
    expect(rest(without)).toBe(rest(sent));
    expect(text).not.toContain('usage');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('sends the limit in the one field that the vendor supports', async () => {
    const { sent } = await ask({ max_completion_tokens: 77 });
    expect(rest(gateway.vendor.last.text)).toBe(rest(sent.replace('max_completion_tokens', 'max_tokens')));
    await ask({ max_tokens: null });
    expect(gateway.vendor.last.body).toMatchObject({ max_tokens: 16_384 });
    expect(gateway.vendor.last.body).not.toHaveProperty('max_completion_tokens');
  });

  it('holds money for each requested reply, and limits each to what the balance covers', async () => {
    await gateway.setBalance(50_000n);
    const asked = gateway.vendor.seen.length;
    // One such reply is covered, three are not.
    expect((await ask({ max_tokens: 4_000, n: 3 })).status).toBe(402);
    expect(gateway.vendor.seen).toHaveLength(asked);
    expect((await ask({ max_tokens: 4_000 })).status).toBe(200);
    await gateway.setBalance(50_000n);
    expect((await ask({ n: 3 })).status).toBe(200);
    const { max_tokens: limit } = gateway.vendor.last.body as { max_tokens: number };
    expect(limit).toBeGreaterThanOrEqual(1_024);
    expect(limit * 3 * 10).toBeLessThanOrEqual(50_000);
    await gateway.spareMoney();
  });

  it.each([false, true])('is charged by the reported usage, streamed %s', async (stream) => {
    const since = await gateway.settled();
    await ask({ max_tokens: 100, stream });
    await gateway.settled();
    const { rows } = await gateway.database.query<{ input: bigint; output: bigint; source: string }>({
      text: `select input_tokens as input, output_tokens as output, lines -> 0 ->> 'source' as source
        from usage_record where created_at >= $1`,
      values: [since],
    });
    expect(rows).toEqual([{ input: 11n, output: 7n, source: 'upstream' }]);
  });

  it.each([
    [false, {}],
    [true, {}],
    [false, { logit_bias: { '50256': -100 }, seed: 7, modalities: ['text'] }],
  ])(
    'counts the prompt once and each of several replies once where the vendor reports no usage, streamed %s, with %j',
    async (stream, more) => {
      const severalIn = (json: string): string => {
        const { usage: _usage, choices, ...others } = JSON.parse(json) as { usage?: object; choices: object[] };
        const replies = gateway.vendor.last.body['n'] === 3 ? [0, 1, 2] : [0];
        const several = choices.length === 0 ? [] : replies.map((index) => ({ ...choices[0], index }));
        return JSON.stringify({ ...others, choices: several });
      };
      gateway.vendor.rewrite = (sent) => sent.replace(/\{.*\}/, severalIn);
      // Long words of one token each, which an estimate by bytes takes for many.
      const messages = [
        { role: 'system', content: 'Answer briefly. '.repeat(40) },
        { role: 'user', content: 'understanding international information '.repeat(200) },
      ];
      const counted = async (n: number): Promise<readonly { input: bigint; output: bigint }[]> => {
        const since = await gateway.settled();
        expect((await ask({ max_tokens: 100, messages, stream, ...more, n })).status).toBe(200);
        await gateway.settled();
        const { rows } = await gateway.database.query<{ input: bigint; output: bigint; source: string }>({
          text: `select input_tokens as input, output_tokens as output, lines -> 0 ->> 'source' as source
            from usage_record where created_at >= $1`,
          values: [since],
        });
        return rows;
      };
      gateway.vendor.script = () => ({ reasoning: undefined, text: 'Hello there', call: undefined });
      const [one] = await counted(1);
      const [three] = await counted(3);
      expect(three).toMatchObject({ input: one?.input, source: 'counted' });
      // Pieces of a stream that come side by side are cut within words.
      const [least, most] = stream ? [2n, 5n] : [3n, 3n];
      expect(three?.output).toBeGreaterThanOrEqual(least * (one?.output ?? 0n));
      expect(three?.output).toBeLessThanOrEqual(most * (one?.output ?? 0n));
    },
  );

  it('is returned unchanged at the top of the response and in its envelope', async () => {
    const { text } = await ask({ max_tokens: 100 });
    const { code, data, ...native } = JSON.parse(text) as { code: number; data: object };
    expect([code, data]).toEqual([200, native]);
    expect(native).toMatchObject({ object: 'chat.completion', model: MODEL_OVER.chat });
  });
});
