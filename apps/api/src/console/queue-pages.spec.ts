import { consoleClient, OWN_PAGE } from '../../../../tests/harness/console-client.js';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const TOKENS = { admin: 'admin-token-for-tests', viewer: 'viewer-token-for-tests' } as const;
const API = '/ops/queues/api/queues';

describe('The queues of operators below /ops', () => {
  let gateway: TestGateway;
  let admin: string;
  let viewer: string;
  beforeAll(async () => {
    gateway = await startTestGateway({
      workers: false,
      environment: { ADMIN_TOKEN: TOKENS.admin, OPS_VIEWER_TOKEN: TOKENS.viewer },
    });
    [admin, viewer] = [await signIn(TOKENS.admin), await signIn(TOKENS.viewer)];
  });
  afterAll(() => gateway.stop());

  const visit = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(gateway.baseUrl + path, { redirect: 'manual', ...init });

  /** What a browser sends after an operator has signed in to the console. */
  async function signIn(token: string): Promise<string> {
    const client = consoleClient(gateway);
    expect((await client.call('POST /sign-in/operator', { token })).status).toBe(200);
    return client.cookie;
  }

  const change = (
    path: string,
    cookie: string,
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ) => visit(path, { method: 'PUT', headers: { cookie, 'content-type': 'application/json', ...headers }, body: '{}' });

  it.each([
    ['/ops', '/console/admin/health'],
    ['/ops/', '/console/admin/health'],
    ['/ops/sign-in', '/console/sign-in'],
    ['/ops/tasks', '/console/admin/tasks'],
    ['/ops/tasks/task_x', '/console/admin/tasks/task_x'],
    ['/ops/tasks/%2F%2Felsewhere.example', '/console/admin/tasks/%2F%2Felsewhere.example'],
    ['/ops/deliveries', '/console/admin/deliveries'],
    ['/ops/workers?all=true', '/console/admin/workers'],
  ])('lead from %s to the page of the console', async (path, page) => {
    const answer = await visit(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, page]);
  });

  it('show nothing without a session, and say where to sign in', async () => {
    for (const path of ['/ops/queues', API]) {
      const answer = await visit(path);
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { code: 401, message: expect.stringContaining('/console/sign-in') },
      ]);
    }
    const page = await visit('/ops/queues', { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([401, expect.stringContaining('href="/console/sign-in"')]);
  });

  it('show nothing to customers, by key or by session', async () => {
    const key = await visit(API, { headers: { authorization: `Bearer ${TEST_KEY}` } });
    const customer = consoleClient(gateway);
    expect((await customer.call('POST /sign-in/key', { key: TEST_KEY })).status).toBe(200);
    const session = await visit(API, { headers: { cookie: customer.cookie } });
    expect([key.status, session.status]).toEqual([401, 401]);
  });

  it('get the session of operators alone, in a cookie that scripts cannot use', async () => {
    const cookiesOf = async (path: string, body: object): Promise<string[]> => {
      const init = { method: 'POST', headers: OWN_PAGE, body: JSON.stringify(body) };
      return (await visit(`/console/api/sign-in/${path}`, init)).headers.getSetCookie();
    };
    const ofOperator = await cookiesOf('operator', { token: TOKENS.admin });
    expect(ofOperator.filter((cookie) => /Path=\/ops;.*HttpOnly; SameSite=Lax/.test(cookie))).toHaveLength(1);
    expect((await cookiesOf('key', { key: TEST_KEY })).filter((cookie) => cookie.includes('Path=/ops'))).toEqual([]);
  });

  it('are shut by the end of the session: by sign-out, and by the next sign-in of the browser', async () => {
    const operator = consoleClient(gateway);
    await operator.call('POST /sign-in/operator', { token: TOKENS.admin });
    const first = operator.cookie;
    await operator.call('POST /sign-in/key', { key: TEST_KEY });
    expect((await visit(API, { headers: { cookie: first } })).status).toBe(401);
    await operator.call('POST /sign-in/operator', { token: TOKENS.viewer });
    const second = operator.cookie;
    expect((await visit(API, { headers: { cookie: second } })).status).toBe(200);
    await operator.call('POST /session/sign-out');
    expect((await visit(API, { headers: { cookie: second } })).status).toBe(401);
  });

  it('have readable names, and lead from a wake-up to its task', async () => {
    const taskId = await gateway.submit('/v1/images/generations', {
      model: 'eta-image-2.0',
      prompt: 'a secret prompt',
    });
    const look = async (): Promise<{ name: string; jobs: object[] }[]> => {
      const answer = await visit(`${API}?activeQueue=image&status=waiting`, { headers: { cookie: viewer } });
      return ((await answer.json()) as { queues: { name: string; jobs: object[] }[] }).queues;
    };
    expect((await look()).map(({ name }) => name).toSorted()).toEqual(expect.arrayContaining(['image', 'video']));
    const wakeups = async (): Promise<object[]> => (await look()).find(({ name }) => name === 'image')?.jobs ?? [];
    // The wake-up is sent after the answer.
    while ((await wakeups()).length === 0);
    expect(await wakeups()).toContainEqual(
      expect.objectContaining({
        name: `image ${taskId}`,
        externalUrl: { displayText: 'Open the task', href: `/console/admin/tasks/${taskId}` },
      }),
    );
    expect(JSON.stringify(await look())).not.toContain('a secret prompt');
  });

  it('let an admin pause and resume a queue, and a viewer change nothing', async () => {
    expect((await change(`${API}/video/pause`, viewer)).status).toBe(403);
    expect((await change(`${API}/video/pause`, admin)).status).toBe(200);
    const video = gateway.platform.notifier.queues().find(({ name }) => name === 'video');
    expect(await video?.isPaused()).toBe(true);
    expect((await change(`${API}/video/resume`, admin)).status).toBe(200);
    expect(await video?.isPaused()).toBe(false);
  });

  it('refuse unsafe changes, and changes sent by another site', async () => {
    expect((await change(`${API}/video/obliterate`, admin)).status).toBe(403);
    expect((await change(`${API}/video/empty`, admin)).status).toBe(403);
    expect((await change(`${API}/video/pause`, admin, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await change(`${API}/video/pause`, admin, {})).status).toBe(403);
    for (const origin of ['https://elsewhere.example', 'null', 'nonsense'])
      expect((await change(`${API}/video/pause`, admin, { origin })).status).toBe(403);
  });

  it('take changes from their own page on plain HTTP, where browsers name the origin only', async () => {
    const own = { origin: gateway.baseUrl };
    expect((await change(`${API}/video/pause`, admin, own)).status).toBe(200);
    expect((await change(`${API}/video/resume`, admin, own)).status).toBe(200);
  });

  it('load nothing from other hosts, and lead back to the console', async () => {
    const text = await (await visit('/ops/queues', { headers: { cookie: viewer } })).text();
    expect(text).not.toMatch(/(href|src)="https?:/);
    expect(text).toContain('<a href="/console/admin/health"');
  });

  it('are all there is: other addresses are answered 404', async () => {
    expect((await visit('/ops/nowhere', { headers: { cookie: viewer } })).status).toBe(404);
    expect((await visit('/ops/tasks/a/b', { headers: { cookie: viewer } })).status).toBe(404);
  });
});

describe('Guesses of operator tokens', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN: TOKENS.admin } });
  });
  afterAll(() => gateway.stop());

  const guess = async (token: string): Promise<number> =>
    (await consoleClient(gateway).call('POST /sign-in/operator', { token })).status;
  const useApi = async (token: string): Promise<number> =>
    (await gateway.send('GET', '/admin/v1/accounts', undefined, { authorization: `Bearer ${token}` })).status;

  it('are checked one at a time from an address that made a dozen, at the sign-in and in the admin API alike', async () => {
    for (let count = 0; count < 12; count += 1) expect(await guess(`first guess ${count}`)).toBe(401);
    const beganAtMs = performance.now();
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, count) => (count % 2 === 0 ? guess : useApi)(`guess number ${count}`)),
    );
    const tookMs = performance.now() - beganAtMs;
    const lookedAt = statuses.filter((status) => status === 401).length;
    // Three wait for their turn, half a second each; only a machine that needs longer for all of them lets more come.
    expect(tookMs).toBeGreaterThan(500);
    expect(lookedAt).toBeLessThanOrEqual(3 + tookMs / 500);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40 - lookedAt);
    expect(await useApi(TOKENS.admin)).toBe(200);
  });
});
