import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

interface Answer {
  readonly status: number;
  readonly body: JsonObject & { readonly error?: JsonObject };
}

describe('A request meant to harm', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  async function send(path: string, body: JsonObject | string): Promise<Answer> {
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'vendor-version': '2025-01-01',
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Answer['body'] };
  }

  const counting = (text: string): JsonObject => ({
    model: MODEL_OVER.messages,
    messages: [{ role: 'user', content: text }],
  });

  it('is not counted when its text exceeds what any model reads', async () => {
    expect(await send('/v1/messages/count_tokens', counting('a'.repeat(100_000)))).toMatchObject({ status: 200 });
    expect(await send('/v1/messages/count_tokens', counting('a'.repeat(2_000_001)))).toMatchObject({
      status: 413,
      body: { error: { type: 'request_too_large' } },
    });
  });

  const longHost = `https://${'水'.repeat(60_000)}.com/`;
  it.each<[string, JsonObject, string]>([
    [
      '/v1/responses',
      { model: MODEL_OVER.chat, input: 'x', tools: [{ type: 'mcp', server_label: 's', server_url: longHost }] },
      'tools[0].server_url',
    ],
    [
      '/v1/messages',
      {
        model: MODEL_OVER.chat,
        messages: [{ role: 'user', content: 'x' }],
        mcp_servers: [{ type: 'url', url: longHost, name: 's' }],
      },
      'mcp_servers[0].url',
    ],
    [
      `/v1beta/models/${MODEL_OVER.chat}:generateContent`,
      {
        contents: [{ role: 'user', parts: [{ text: 'x' }] }],
        tools: [{ mcpServers: [{ name: 's', streamableHttpTransport: { url: longHost } }] }],
      },
      'tools[0].mcpServers[0].streamableHttpTransport.url',
    ],
  ])('gets 400 at %s for the address of a server that takes seconds to parse', async (path, body, param) => {
    const { status, body: answer } = await send(path, body);
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).toContain(param);
  });

  it.each<[string, string, JsonObject, string]>([
    [
      'NUL in the id of a vector store',
      '/v1/responses',
      { input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['vs_1', 'vs_\0'] }] },
      'tools[0].vector_store_ids[1]',
    ],
    ['NUL in an id', '/v1/responses', { input: 'x', previous_response_id: '\0' }, 'previous_response_id'],
    [
      'an endless id',
      '/v1/responses',
      { input: [{ role: 'user', content: 'x', id: 'i'.repeat(8_192) }] },
      'input[0].id',
    ],
  ])('gets 400 for %s, which cannot be stored', async (_what, path, body, param) => {
    expect(await send(path, { model: MODEL_OVER.chat, ...body })).toMatchObject({
      status: 400,
      body: { error: { param } },
    });
  });

  it('is passed through without a byte order mark', async () => {
    const body = JSON.stringify({ model: MODEL_OVER.responses, input: 'Hello there', store: false });
    const { status } = await send('/v1/responses', `\uFEFF${body}`);
    expect([status, gateway.vendor.last.text]).toEqual([200, expect.stringContaining('Hello there')]);
  });

  it('finds no response for an invalid id', async () => {
    const answer = await fetch(`${gateway.baseUrl}/v1/responses/${'x'.repeat(300)}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    expect(answer.status).toBe(404);
  });

  /** What the account has paid once nothing is held any more. */
  async function paid(): Promise<bigint> {
    return eventually(async () => {
      const { rows } = await gateway.database.query<{ held: bigint; used: bigint }>({
        text: 'select held_micros as held, used_micros as used from account where id = $1',
        values: [gateway.accountId],
      });
      return rows[0]?.held === 0n ? rows[0].used : null;
    });
  }

  it.each([[false], [true]])(
    'is charged for its response although the store refuses it (streamed: %s)',
    async (stream) => {
      const before = await paid();
      await gateway.database.query({ text: 'alter table text_response rename to text_response_away' });
      const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: MODEL_OVER.chat, input: 'Tell me a story', stream }),
      });
      const text = await answer.text();
      await gateway.database.query({ text: 'alter table text_response_away rename to text_response' });
      expect(text).toMatch(stream ? /event: response\.completed/ : /"status":"completed"/);
      expect((await paid()) - before).toBeGreaterThan(0n);
    },
  );

  it('cannot assemble a conversation larger than a request may be', async () => {
    const model = MODEL_OVER.chat;
    const said = [{ type: 'message', role: 'user', id: 'msg_said', content: 'Remember this' }];
    const first = await send('/v1/responses', { model, input: said });
    const { id } = first.body as { readonly id?: string };
    expect(first.status).toBe(200);
    const continuing = { model, input: 'And now?', previous_response_id: id ?? '' };
    const referring = (times: number): JsonObject => ({
      model,
      input: Array.from({ length: times }, () => ({ type: 'item_reference', id: 'msg_said' })),
    });
    expect([
      (await send('/v1/responses', continuing)).status,
      (await send('/v1/responses', referring(2))).status,
    ]).toEqual([200, 200]);
    await gateway.database.query({ text: 'update text_response set size_bytes = size_bytes + 40000000' });
    await gateway.database.query({ text: 'update text_item_place set size_bytes = size_bytes + 40000000' });
    expect(await send('/v1/responses', continuing)).toMatchObject({ status: 200 });
    expect(await send('/v1/responses', referring(2))).toMatchObject({
      status: 413,
      body: { error: { param: 'input' } },
    });
    await gateway.database.query({ text: 'update text_response set size_bytes = size_bytes + 40000000' });
    expect(await send('/v1/responses', continuing)).toMatchObject({
      status: 413,
      body: { error: { param: 'previous_response_id' } },
    });
  });

  it('holds money for the output limit that its style uses, whatever other limits it sends', async () => {
    await gateway.setBalance(10_000n);
    const asking = { ...counting('x'), max_tokens: 1_000_000_000 };
    const answers = [
      await send('/v1/messages', asking),
      await send('/v1/messages', { ...asking, max_output_tokens: 1 }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([402, 402]);
  });
});
