import type { JsonObject } from '#contracts';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../testing/text-vendor/text-gateway.js';

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

  it('gets no tokens counted of more text than any model reads', async () => {
    expect(await send('/v1/messages/count_tokens', counting('a'.repeat(100_000)))).toMatchObject({ status: 200 });
    expect(await send('/v1/messages/count_tokens', counting('a'.repeat(2_000_001)))).toMatchObject({
      status: 413,
      body: { error: { type: 'request_too_large' } },
    });
  });
});
