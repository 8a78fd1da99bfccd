import { randomUUID } from 'node:crypto';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const TEXT = { model: 'vendor-5', input: '[sandbox:delay=2500] lighthouses' };

describe('A whole reply that takes long', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { WHOLE_REPLY_KEEPALIVE_SECONDS: '1' } });
  });
  afterAll(() => gateway.stop());

  const ask = async (body: object, headers = {}) => {
    const beganMs = performance.now();
    const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const headersMs = performance.now() - beganMs;
    return { status: answer.status, text: await answer.text(), headersMs, headers: answer.headers };
  };

  it('is begun with blanks, which no parser of JSON sees', async () => {
    const { status, text, headersMs } = await ask(TEXT);
    expect([status, text.startsWith(' {')]).toEqual([200, true]);
    expect(JSON.parse(text)).toMatchObject({ object: 'response', status: 'completed' });
    expect(headersMs).toBeLessThan(2_400);
  });

  it('that comes in time is sent as ever', async () => {
    const { text, headers } = await ask({ ...TEXT, input: 'lighthouses' });
    expect([text.startsWith('{'), headers.get('content-length')]).toEqual([true, String(Buffer.byteLength(text))]);
  });

  it('that fails after its blanks holds the error of its style, and leaves its key free', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const input = '[sandbox:delay=2500] [sandbox:fail=upstream_error] lighthouses';
    const { status, text } = await ask({ ...TEXT, input }, headers);
    expect([status, JSON.parse(text)]).toMatchObject([200, { error: { code: 'upstream_error' } }]);
    const { rows } = await gateway.database.query({ text: 'select 1 from idempotency_record' });
    expect(rows).toEqual([]);
  });

  it('is begun with blanks for a repeat that waits for the first request too', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = ask(TEXT, headers);
    const second = await ask(TEXT, headers);
    expect(JSON.parse(second.text)).toEqual(JSON.parse((await first).text));
  });
});
