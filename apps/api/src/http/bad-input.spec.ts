import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const MESSAGES = '/v1/messages';
const BODY_PATHS = [
  '/v1/responses',
  MESSAGES,
  `${MESSAGES}/count_tokens`,
  '/v1beta/models/vendor-2.5-flash:generateContent',
  '/v1/videos/generations',
  '/v1/quote',
  '/v1/tasks/batch',
];
const ORDER = { model: 'beta-2.5-preview', prompt: 'waves', resolution: '480p', size: '16:9', duration: 5 };
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('The checks of every request', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      workers: false,
      environment: { ADMIN_TOKEN: 'admin-token-for-tests', BODY_LIMIT_MB: '1' },
    });
  });
  afterAll(() => gateway.stop());

  /** Announces a large body and sends only its first byte. */
  async function announceBody(path: string, headers: Record<string, string>): Promise<number | undefined> {
    const sent = httpRequest(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '10000000', ...headers },
    });
    sent.write('{');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    sent.on('error', () => undefined).destroy();
    return answer.statusCode;
  }

  it.each([...BODY_PATHS, '/admin/v1/accounts', '/v1/no-such-path'])(
    'refuses unauthenticated requests to %s before reading their body',
    async (path) => {
      expect(await announceBody(path, {})).toBe(401);
      expect(await announceBody(path, { authorization: 'Bearer sk-unknown-1' })).toBe(401);
    },
  );

  it('refuses transfer codings other than chunked, naming them', async () => {
    const sent = httpRequest(`${gateway.baseUrl}/v1/quote`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        'content-type': 'application/json',
        'transfer-encoding': 'gzip, chunked',
      },
    });
    sent.end('{}');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect([answer.statusCode, await text(answer)]).toEqual([415, expect.stringContaining('gzip, chunked')]);
  });

  const quote = (contentType: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
    fetch(`${gateway.baseUrl}/v1/quote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': contentType },
      body,
    });

  it('accepts UTF-8 in any spelling, and refuses every other charset, naming it', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/json;charset="UTF8"', 'application/vnd.x+json'])
      expect((await quote(type, JSON.stringify(ORDER))).status).toBe(200);
    expect((await quote('application/json', `\uFEFF${JSON.stringify(ORDER)}`)).status).toBe(200);
    const answer = await quote('application/json; charset=utf-16', JSON.stringify(ORDER));
    expect([answer.status, await answer.text()]).toEqual([415, expect.stringContaining('utf-16')]);
  });

  it('refuses invalid UTF-8, which an upstream could read differently', async () => {
    const answer = await quote('application/json', Buffer.from([...Buffer.from('{"model":"'), 0xff, 0x22, 0x7d]));
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('UTF-8')]);
  });

  it('refuses a body beyond BODY_LIMIT_MB after reading it, and keeps the connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = async (body: string): Promise<[number | undefined, string]> => {
      const sent = httpRequest(`${gateway.baseUrl}/v1/quote`, {
        agent,
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return [answer.statusCode, await text(answer)];
    };
    expect(await send(JSON.stringify('x'.repeat(2 * 1024 * 1024)))).toEqual([413, expect.stringContaining('1048576')]);
    expect((await send(JSON.stringify(ORDER)))[0]).toBe(200);
    agent.destroy();
  });

  it('is free for the next request when a client leaves in the middle of a body', async () => {
    const sent = httpRequest(`${gateway.baseUrl}/v1/quote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', 'content-length': '1000' },
    });
    sent.on('error', () => undefined);
    await new Promise((resolve) => sent.write('{"model":', resolve));
    sent.destroy();
    expect((await quote('application/json', JSON.stringify(ORDER))).status).toBe(200);
  });

  it('reports invalid JSON with its position', async () => {
    const answer = await quote('application/json', '{"model": }');
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('not valid JSON')]);
  });

  it.each(BODY_PATHS)('refuses bodies on %s that nest deeper than 200 arrays and objects', async (path) => {
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'anthropic-version': '2023-06-01' };
    const answers = [`{"contents":${nested(20_000)}}`, nested(201), '{"a":'.repeat(201) + '1' + '}'.repeat(201)];
    for (const body of answers) {
      const answer = await gateway.send('POST', path, body, headers);
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining('deeper than 200')]);
    }
    const within = await gateway.send('POST', path, nested(200), headers);
    expect([within.status, JSON.stringify(within.body)]).toEqual([400, expect.not.stringContaining('deeper')]);
  });

  it.each([
    '/v1/responses/%00',
    '/v1/responses/%ff',
    '/v1/tasks/%00',
    '/v1/tasks?cursor=%00',
    '/v1/models/a%00b',
    '/v1/webhooks/deliveries?cursor=%00',
    '/v1/webhooks/deliveries?cursor=msg%20',
    '/v1/webhooks/deliveries?task_id=a&task_id=b',
    '/v1/webhooks/deliveries/%00',
    '/v1/usage/records?cursor=%00',
    '/admin/v1/accounts/%00',
    '/ops/tasks/%00',
    '/files/%00',
    '/docs/%ff',
  ])('answers 400 to %s', async (path) => {
    expect(await gateway.send('GET', path)).toMatchObject({ status: 400 });
  });

  const asked = async (method: string, path: string, body?: object) => {
    const answer = await fetch(gateway.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        'content-type': 'application/json',
        'vendor-version': '2023-06-01',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  it.each([
    ['POST', '/v1/images/generations?n=4', 'n'],
    ['POST', '/v1/videos/generations?duration=10', 'duration'],
    ['POST', '/v1/quote?model=other', 'model'],
    ['POST', '/v1/responses?model=other', 'model'],
    ['POST', '/v1/messages?Max_Tokens=9', 'Max_Tokens'],
    ['POST', '/v1/chat/completions?stream=true', 'stream'],
    ['POST', '/v1beta/models/vendor-2.5-flash:streamGenerateContent?Alt=sse', 'Alt'],
    ['POST', '/v1/files?purpose=user_data', 'purpose'],
    ['GET', '/v1/files?Purpose=user_data', 'Purpose'],
    ['GET', '/v1/files?order=asc&__proto__=desc', '__proto__'],
    ['GET', '/v1/vector_stores?Limit=2', 'Limit'],
    ['GET', '/v1/tasks/task_00000000000000000000000000?Wait=5', 'Wait'],
    ['GET', '/v1/responses/resp_1?startingAfter=3', 'startingAfter'],
  ])('refuses what an address would ask for and nothing reads: %s %s', async (method, path, name) => {
    const { status, text: said } = await asked(method, path, method === 'POST' ? {} : undefined);
    expect([status, said]).toEqual([400, expect.stringMatching(`${name} .* in the address`)]);
  });

  it.each([
    ['GET', '/v1/models?limit=5&client_version=1'],
    ['GET', '/v1/files?limit=5&beta=true'],
    ['GET', '/v1/user/balance?_=1'],
  ])('takes what client libraries add to addresses: %s %s', async (method, path) => {
    expect((await asked(method, path)).status).toBe(200);
  });

  it.each(['/v1/messages?beta=true', '/v1/chat/completions?api-version=1', '/v1/responses?trace=1'])(
    'reads the body of a request to %s',
    async (path) => {
      expect(await asked('POST', path, {})).toMatchObject({ status: 400, text: expect.stringContaining('model') });
    },
  );

  it('takes one way of writing a stream', async () => {
    const path = '/v1beta/models/vendor-2.5-flash:streamGenerateContent?alt=sse&alt=json';
    const { status, text: said } = await asked('POST', path, { contents: [{ parts: [{ text: 'hi' }] }] });
    expect([status, said]).toEqual([400, expect.stringContaining('alt')]);
  });

  it.each(['Authorization', 'Content-Type', 'Host'])('refuses the header %s given twice', async (name) => {
    const sent = httpRequest(`${gateway.baseUrl}/v1/user/balance`, {
      headers: ['Connection', 'close', ...(name === 'Host' ? [] : ['Host', 'gateway']), name, 'one', name, 'other'],
    });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect([answer.statusCode, await text(answer)]).toEqual([400, expect.stringContaining(name.toLowerCase())]);
  });
});
