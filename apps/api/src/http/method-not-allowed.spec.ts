import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const ADMIN = { authorization: 'Bearer admin-token-for-tests' };

describe('A method that a path does not have', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN: 'admin-token-for-tests' } });
  });
  afterAll(() => gateway.stop());

  const ask = (method: string, path: string, headers: Record<string, string> = ADMIN) =>
    fetch(gateway.baseUrl + path, { method, headers });

  /** The methods of each path, by an example of it, as the running server has them. */
  const methodsByPath = (): ReadonlyMap<string, ReadonlySet<string>> => {
    const found = new Map<string, Set<string>>();
    for (const [method, pattern] of gateway.routes()) {
      const path = pattern.replaceAll(/[:*]\w+/g, 'x');
      const methods = found.get(path) ?? new Set();
      for (const each of method === 'GET' ? ['GET', 'HEAD'] : [method]) methods.add(each);
      found.set(path, methods);
    }
    // The path of many tasks is that of a task, too.
    found.get('/v1/tasks/batch')?.add('GET').add('HEAD');
    // And so are those of whole conversations that of a response.
    for (const [path, methods] of found)
      if (/responses\/(compact|input_tokens)$/.test(path)) methods.add('GET').add('HEAD').add('DELETE');
    return found;
  };
  const listed = (allow: string | null): string[] => (allow ?? '').split(', ').sort();

  it('gets 405 on every path, with the allowed methods in Allow', async () => {
    for (const [path, methods] of methodsByPath()) {
      const absent = methods.has('PUT') ? 'DELETE' : 'PUT';
      const answer = await ask(absent, path);
      const seen = [path, answer.status, listed(answer.headers.get('allow'))];
      expect(seen).toEqual([path, 405, [...methods, 'OPTIONS'].sort()]);
      await answer.arrayBuffer();
    }
  });

  it('OPTIONS lists the methods of every path', async () => {
    for (const [path, methods] of methodsByPath()) {
      const answer = await ask('OPTIONS', path);
      const seen = [path, answer.status, listed(answer.headers.get('allow'))];
      expect(seen).toEqual([path, 204, [...methods, 'OPTIONS'].sort()]);
    }
  });

  it.each([
    ['/v1/tasks', { code: 405, error: { type: 'invalid_request_error', code: 'method_not_allowed', param: null } }],
    ['/v1/responses', { error: { type: 'invalid_request_error', code: 'method_not_allowed', param: null } }],
    ['/v1/messages', { type: 'error', error: { type: 'invalid_request_error' } }],
    ['/v1beta/models/vendor-2.5-flash:generateContent', { error: { code: 405, status: 'INVALID_ARGUMENT' } }],
  ])('is refused with an error in the format of %s', async (path, body) => {
    const answer = await ask('DELETE', path);
    expect([answer.status, await answer.json()]).toMatchObject([405, body]);
    expect(answer.headers.get('x-should-retry')).toBe(path === '/v1/tasks' ? null : 'false');
  });

  it('is refused before the key and the body are checked, but below /admin/v1 only to operators', async () => {
    expect((await ask('GET', '/v1/videos/generations', {})).status).toBe(405);
    expect((await ask('PUT', '/v1/tasks/x', { 'content-type': 'text/plain' })).status).toBe(405);
    expect((await ask('PUT', '/admin/v1/accounts', {})).status).toBe(401);
    expect((await ask('OPTIONS', '/admin/v1/accounts', {})).status).toBe(401);
  });

  it('does not turn an unknown path into a known one', async () => {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    for (const method of ['GET', 'PUT', 'OPTIONS', 'DELETE'])
      expect((await ask(method, '/v1/nothing', headers)).status).toBe(404);
  });

  it('HEAD gets the response of GET without the body', async () => {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    for (const path of ['/v1/models/eta-image-2.0', '/healthz', '/v1/tasks/x', '/v1/balance']) {
      const [whole, head] = [await ask('GET', path, headers), await ask('HEAD', path, headers)];
      expect([path, head.status, await head.text()]).toEqual([path, whole.status, '']);
      expect(head.headers.get('content-type')).toBe(whole.headers.get('content-type'));
      await whole.arrayBuffer();
    }
  });

  it('adds no made-up label to the metrics', async () => {
    for (const path of ['/v1/made-up', '/v1/responses/made-up/a', '/v1/tasks/made-up']) await ask('PUT', path);
    const page = await (await ask('GET', '/metrics')).text();
    expect(page).toContain('route="none",style="tasks",model="none",code="405"');
    expect(page).not.toMatch(/made.up/);
  });
});
