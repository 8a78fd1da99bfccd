import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest, type Style } from '../harness/text-vendor/text-requests.js';

const ORIGIN = { origin: 'https://shop.example' };

/** What a page of another origin is allowed to read. */
const READABLE = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'ratelimit',
  'idempotent-replayed',
];

const PATHS: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/v1/responses'],
  ['POST', '/responses'],
  ['GET', '/v1/responses/resp_1'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/chat/completions'],
  ['POST', '/v1/messages'],
  ['POST', '/v1/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/v1beta/models/vendor-2.5-flash:generateContent'],
  ['POST', '/v1/models/vendor-2.5-flash%3AstreamGenerateContent'],
  ['GET', '/v1/user/balance'],
  ['GET', '/user/balance'],
  ['GET', '/v1/balance'],
];

describe('A page of another origin', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  const listed = (headers: Headers, name: string): string[] => (headers.get(name) ?? '').toLowerCase().split(', ');

  it.each(PATHS)('may %s %s: the preflight needs no key and allows the requested headers', async (method, path) => {
    const asked = 'authorization, x-api-key, content-type, x-stainless-os, anthropic-version';
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'OPTIONS',
      headers: { ...ORIGIN, 'access-control-request-method': method, 'access-control-request-headers': asked },
    });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(listed(answer.headers, 'access-control-allow-headers')).toEqual(asked.split(', '));
    expect(listed(answer.headers, 'access-control-allow-methods')).toContain(method.toLowerCase());
    expect(Number(answer.headers.get('access-control-max-age'))).toBeGreaterThan(0);
  });

  async function ask(style: Style, stream: boolean, model: string, change: Record<string, string> = {}) {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model, stream });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { ...ORIGIN, ...headers, 'content-type': 'application/json', ...change },
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    return answer;
  }

  /** The status that a page reads, and the headers it may not read although it should. */
  const readable = ({ status, headers }: Response): unknown[] => {
    const exposed = listed(headers, 'access-control-expose-headers');
    const hidden = READABLE.filter((name) => !exposed.includes(name));
    return [headers.get('access-control-allow-origin') === '*' ? status : 'unreadable', hidden];
  };

  it.each(STYLES)('reads replies, streams and refusals in the %s style', async (style) => {
    expect(readable(await ask(style, false, 'vendor-5'))).toEqual([200, []]);
    expect(readable(await ask(style, true, 'vendor-5'))).toEqual([200, []]);
    expect(readable(await ask(style, true, 'no-such-model'))).toEqual([404, []]);
    const stranger = { authorization: 'Bearer sk-unknown', 'x-api-key': 'sk-unknown' };
    expect(readable(await ask(style, false, 'vendor-5', stranger))).toEqual([401, []]);
    expect(readable(await ask(style, false, 'vendor-5', { 'content-type': 'text/plain' }))).toEqual([415, []]);
  });

  it('reads its balance, and the error for a missing one', async () => {
    const read = (headers: Record<string, string>) =>
      fetch(`${gateway.baseUrl}/v1/user/balance`, { headers: { ...ORIGIN, ...headers } });
    expect(readable(await read({ authorization: `Bearer ${gateway.key}` }))).toEqual([200, []]);
    expect(readable(await read({}))).toEqual([401, []]);
  });

  it.each(['/v1/tasks', '/admin/v1/accounts', '/ops/queues'])('gets no CORS headers from %s', async (path) => {
    const answer = await fetch(gateway.baseUrl + path, { headers: ORIGIN });
    await answer.arrayBuffer();
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});
