import { eventually } from '#testing';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const PATHS = {
  media: ['/v1/images/generations', IMAGE],
  responses: ['/v1/responses', { model: 'vendor-5', input: 'hello' }],
  messages: ['/v1/messages', { model: 'vendor-haiku-4-5-20251001', messages: [{ role: 'user', content: 'hello' }] }],
  gemini: ['/v1beta/models/vendor-2.5-flash:generateContent', { contents: [{ parts: [{ text: 'hello' }] }] }],
} as const;

describe('A key over its limit', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { OPEN_TASKS_PER_ACCOUNT: '3' } });
    await gateway.database.query({ text: 'update api_key set requests_per_minute = 2' });
    for (let sent = 0; sent < 2; sent += 1) await gateway.submit(...PATHS.media);
  });
  afterAll(() => gateway.stop());

  it.each([
    ['media', { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' }, code: 429 }],
    ['responses', { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } }],
    ['messages', { type: 'error', error: { type: 'rate_limit_error' } }],
    ['gemini', { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }],
  ] as const)('is refused in the %s style, with the time to wait', async (style, body) => {
    const [path, request] = PATHS[style];
    const answer = await gateway.send('POST', path, request);
    expect(answer).toMatchObject({ status: 429, body });
    expect(answer.headers.get('ratelimit')).toMatch(/^"requests";r=0;t=\d+$/);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(answer.headers.get('retry-after-ms'))).toBeGreaterThan(0);
  });

  it.each([
    ['another letter case', '/V1/Images/Generations', PATHS.media[1], 404],
    ['an encoded colon', '/v1beta/models/vendor-2.5-flash%3AgenerateContent', PATHS.gemini[1], 429],
    ['a slash at the end', '/v1/images/generations/', PATHS.media[1], 429],
    ['a doubled version', '/v1/v1/responses', PATHS.responses[1], 429],
    ['an empty query', '/v1/responses?', PATHS.responses[1], 429],
  ])('cannot bypass it by %s in the path', async (_spelling, path, body, status) => {
    expect(await gateway.send('POST', path, body)).toMatchObject({ status });
  });

  it('is also refused token counting, which is free but costs work', async () => {
    const [path, body] = PATHS.messages;
    const answer = await gateway.send('POST', `${path}/count_tokens`, body);
    expect(answer).toMatchObject({ status: 429, body: { error: { type: 'rate_limit_error' } } });
  });

  it('may still poll its tasks', async () => {
    expect((await gateway.send('GET', '/v1/user/balance')).status).toBe(200);
    expect((await gateway.send('GET', '/v1/tasks/task_01M7X4NWG0C9AN03NSJMD0ZEA8')).status).toBe(404);
  });

  it('is refused further tasks when its account has reached its limit of open tasks', async () => {
    await gateway.database.query({ text: 'update api_key set requests_per_minute = null' });
    await eventually(async () => (await gateway.send('POST', ...PATHS.media)).status === 200);
    const answer = await gateway.send('POST', ...PATHS.media);
    expect(answer).toMatchObject({ status: 429, body: { message: expect.stringContaining('3 open tasks') } });
  });
});
