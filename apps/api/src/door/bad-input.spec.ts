import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../gateway/src/testing/test-gateway.js';

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
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('The door', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN: 'admin-token-for-tests' } });
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
    'turns strangers away from %s before it reads their body',
    async (path) => {
      expect(await announceBody(path, {})).toBe(401);
      expect(await announceBody(path, { authorization: 'Bearer sk-of-nobody' })).toBe(401);
    },
  );

  it('refuses compressed bodies by name', async () => {
    const answer = await fetch(`${gateway.baseUrl}/v1/quote`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TEST_KEY}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync('{}'),
    });
    expect([answer.status, await answer.text()]).toEqual([415, expect.stringContaining('gzip')]);
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
});
