import { eventually } from '#testing';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedMany } from 'ai';
import OpenAI from 'openai';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const MODEL = 'text-embedding';

describe('Embeddings', () => {
  let gateway: TextGateway;
  let client: OpenAI;
  beforeAll(async () => {
    gateway = await startTextGateway();
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 });
    // Two units for a token, and no price for output.
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_e', $1, 'input_token', 2000000, 1, '2026-01-01', 'test')`,
      values: [MODEL],
    });
  });
  afterAll(() => gateway.stop());
  afterEach(async () => {
    gateway.vendor.fault = 'none';
    gateway.vendor.rewrite = (json) => json;
    await gateway.settled();
  });

  interface Books {
    readonly available: bigint;
    readonly held: bigint;
  }
  const books = async (): Promise<Books> => {
    const text = 'select available_micros as available, held_micros as held from account where id = $1';
    const { rows } = await gateway.database.query<Books>({ text, values: [gateway.accountId] });
    return rows[0] ?? { available: 0n, held: 0n };
  };

  /** The charge of a request in micros, and the source of its token counts. */
  async function charged(run: () => Promise<unknown>): Promise<readonly [bigint, string]> {
    const since = await gateway.settled();
    await run();
    const record = await eventually(async () => {
      const { rows } = await gateway.database.query<{ amount: bigint; source: string }>({
        text: `select amount_micros as amount, lines -> 0 ->> 'source' as source from usage_record where created_at >= $1`,
        values: [since],
      });
      return rows[0];
    });
    return [record.amount, record.source];
  }

  it('are read by the openai library, and cost their input', async () => {
    await gateway.setBalance(100_000_000n);
    const cost = await charged(async () => {
      const { data, model, usage } = await client.embeddings.create({
        model: MODEL,
        input: ['Hello', 'there'],
        encoding_format: 'float',
      });
      expect([data.map(({ embedding }) => embedding), model, usage]).toEqual([
        [
          [0.5, -0.25, 0],
          [0.5, -0.25, 1],
        ],
        MODEL,
        { prompt_tokens: 8, total_tokens: 8 },
      ]);
    });
    expect(cost).toEqual([16_000_000n, 'upstream']);
    expect(gateway.vendor.last).toMatchObject({
      path: '/v1/embeddings',
      body: { model: 'vendor-embedding', input: ['Hello', 'there'], encoding_format: 'float' },
      headers: { authorization: 'Bearer sk-vendor' },
    });
  });

  it('are read by the AI SDK', async () => {
    await gateway.setBalance(100_000_000n);
    const provider = createOpenAICompatible({ name: 'gateway', apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1` });
    const { embeddings } = await embedMany({
      model: provider.embeddingModel(MODEL),
      values: ['a', 'b'],
      maxRetries: 0,
    });
    expect(embeddings).toHaveLength(2);
  });

  it('are counted by the gateway where the vendor reports no usage', async () => {
    await gateway.setBalance(100_000_000n);
    gateway.vendor.rewrite = (json) => json.replace(/,"usage":\{[^}]*\}/, '');
    const words = await charged(() => client.embeddings.create({ model: MODEL, input: 'Hello there' }));
    expect(words).toEqual([4_000_000n, 'counted']);
    const tokens = await charged(() => client.embeddings.create({ model: MODEL, input: [[1, 2, 3], [4]] }));
    expect(tokens).toEqual([8_000_000n, 'counted']);
  });

  it('are refused before money moves where the balance does not cover them, and no vendor is asked', async () => {
    await gateway.setBalance(1_000_000n);
    const asked = gateway.vendor.seen.length;
    await expect(client.embeddings.create({ model: MODEL, input: 'Hello there' })).rejects.toMatchObject({
      status: 402,
    });
    expect(gateway.vendor.seen).toHaveLength(asked);
  });

  it.each([
    ['vendor-5', 'writes text: send it to POST /v1/responses'],
    ['no-such-model', 'No upstream makes embeddings'],
  ])('are refused before money moves with %s, which no upstream offers', async (model, words) => {
    await gateway.setBalance(0n);
    const failure = client.embeddings.create({ model, input: 'x' });
    await expect(failure).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(failure).rejects.toMatchObject({ code: 'model_not_found', message: expect.stringContaining(words) });
  });

  it.each([
    ['input', { input: [] }],
    ['input', { input: '' }],
    ['input', { input: { image: 'x' } }],
    ['input[1]', { input: ['a', 1] }],
    ['input[0][0]', { input: [['a']] }],
    ['dimensions', { input: 'x', dimensions: 0 }],
    ['encoding_format', { input: 'x', encoding_format: 'binary' }],
  ])('are refused where %s is wrong: %j', async (param, body) => {
    const { status, body: refusal } = await gateway.send<{ error: object }>('POST', '/v1/embeddings', {
      model: MODEL,
      ...body,
    });
    expect([status, refusal.error]).toEqual([400, expect.objectContaining({ param })]);
  });

  it('leave out fields whose price is unknown', async () => {
    await gateway.setBalance(100_000_000n);
    const { status } = await gateway.send('POST', '/v1/embeddings', {
      model: MODEL,
      input: 'x',
      task: 'query',
      rerank: 1,
    });
    expect([status, gateway.vendor.last.body]).toEqual([200, { model: 'vendor-embedding', input: 'x', task: 'query' }]);
  });

  it('cost nothing when the vendor fails, and its message is not shown', async () => {
    await gateway.setBalance(100_000_000n);
    gateway.vendor.fault = 'error-500';
    const failure = client.embeddings.create({ model: MODEL, input: 'x' });
    await expect(failure).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
    await expect(failure).rejects.not.toThrow('secret internals');
    await gateway.settled();
    expect((await books()).available).toBe(100_000_000n);
  });

  it('cost their input when the reply exceeds the size limit, and no other vendor is asked', async () => {
    await gateway.setBalance(100_000_000n);
    gateway.vendor.fault = 'huge-reply';
    const asked = gateway.vendor.seen.length;
    const cost = await charged(async () => {
      const failure = client.embeddings.create({ model: MODEL, input: 'Hello there' });
      await expect(failure).rejects.toMatchObject({ status: 413, code: 'request_too_large', param: 'input' });
    });
    expect([cost, gateway.vendor.seen.length - asked]).toEqual([[4_000_000n, 'counted'], 1]);
  });

  it('are offered by models of their own in the list', async () => {
    const { body } = await gateway.send<{ kind: string; paths: string[] }>('GET', `/v1/models/${MODEL}`);
    expect(body).toMatchObject({ id: MODEL, kind: 'embedding', paths: ['/v1/embeddings'] });
    const text = await gateway.send('POST', '/v1/responses', { model: MODEL, input: 'x' });
    expect(text.status).toBe(404);
  });
});
