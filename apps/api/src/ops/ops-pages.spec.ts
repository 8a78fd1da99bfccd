import { startTestGateway, type TestGateway } from '../../../gateway/src/testing/test-gateway.js';

const ADMIN = 'admin-token-for-tests';
const VIEWER = 'viewer-token-for-tests';

describe('The pages of operators', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      workers: false,
      environment: { ADMIN_TOKEN: ADMIN, OPS_VIEWER_TOKEN: VIEWER },
    });
  });
  afterAll(() => gateway.stop());

  const visit = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(gateway.baseUrl + path, { redirect: 'manual', ...init });

  async function signIn(token: string): Promise<{ status: number; cookie: string }> {
    const answer = await visit('/ops/sign-in', { method: 'POST', body: new URLSearchParams({ token }) });
    return { status: answer.status, cookie: (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '' };
  }

  const change = (
    path: string,
    cookie: string,
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ) => visit(path, { method: 'PUT', headers: { cookie, 'content-type': 'application/json', ...headers }, body: '{}' });

  it.each(['/ops', '/ops/queues', '/ops/queues/api/queues', '/ops/tasks', '/ops/tasks/task_x', '/ops/anything'])(
    'shows nothing of %s to strangers',
    async (path) => {
      expect((await visit(path)).status).toBe(401);
      const page = await visit(path, { headers: { accept: 'text/html' } });
      expect([page.status, page.headers.get('location')]).toEqual([303, '/ops/sign-in']);
    },
  );

  it('does not take the API key of a customer for an operator', async () => {
    const answer = await visit('/ops/queues/api/queues', {
      headers: { authorization: 'Bearer sk-test-0123456789abcdef' },
    });
    expect(answer.status).toBe(401);
  });

  it('signs in with a cookie that scripts and other sites cannot use, and out again', async () => {
    const answer = await visit('/ops/sign-in', { method: 'POST', body: new URLSearchParams({ token: ADMIN }) });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('set-cookie')).toMatch(/Path=\/ops;.*HttpOnly; SameSite=Strict/);
    const { cookie } = await signIn(ADMIN);
    const out = await visit('/ops/sign-out', { method: 'POST', headers: { cookie, 'sec-fetch-site': 'same-origin' } });
    expect(out.headers.get('set-cookie')).toContain('gateway_operator=;');
  });

  it('shows the queues with readable names, and leads from a bell to its task', async () => {
    const taskId = await gateway.submit('/v1/images/generations', {
      model: 'eta-image-2.0',
      prompt: 'a secret prompt',
    });
    const { cookie } = await signIn(VIEWER);
    const look = async (): Promise<{ name: string; jobs: object[] }[]> => {
      const answer = await visit('/ops/queues/api/queues?activeQueue=image&status=waiting', { headers: { cookie } });
      return ((await answer.json()) as { queues: { name: string; jobs: object[] }[] }).queues;
    };
    expect((await look()).map(({ name }) => name).toSorted()).toEqual(expect.arrayContaining(['image', 'video']));
    const bells = async (): Promise<object[]> => (await look()).find(({ name }) => name === 'image')?.jobs ?? [];
    // The bell rings after the answer.
    while ((await bells()).length === 0);
    expect(await bells()).toContainEqual(
      expect.objectContaining({
        name: `image ${taskId}`,
        externalUrl: { displayText: 'Open the task', href: `/ops/tasks/${taskId}` },
      }),
    );
    const task = await (await visit(`/ops/tasks/${taskId}`, { headers: { cookie } })).text();
    expect(task).toContain('eta-image-2.0');
    expect(task).toContain('0.035000');
    expect(task).not.toContain('a secret prompt');
  });

  it('lets an admin pause and resume a queue, and a viewer change nothing', async () => {
    const [admin, viewer] = [await signIn(ADMIN), await signIn(VIEWER)];
    expect((await change('/ops/queues/api/queues/video/pause', viewer.cookie)).status).toBe(403);
    expect((await change('/ops/queues/api/queues/video/pause', admin.cookie)).status).toBe(200);
    const video = gateway.platform.doorbell.queues().find(({ name }) => name === 'video');
    expect(await video?.isPaused()).toBe(true);
    expect((await change('/ops/queues/api/queues/video/resume', admin.cookie)).status).toBe(200);
    expect(await video?.isPaused()).toBe(false);
  });

  it('refuses changes that are not safe, and changes that another site sent', async () => {
    const { cookie } = await signIn(ADMIN);
    expect((await change('/ops/queues/api/queues/video/obliterate', cookie)).status).toBe(403);
    expect((await change('/ops/queues/api/queues/video/empty', cookie)).status).toBe(403);
    expect(
      (await change('/ops/queues/api/queues/video/pause', cookie, { 'sec-fetch-site': 'cross-site' })).status,
    ).toBe(403);
    expect((await change('/ops/queues/api/queues/video/pause', cookie, {})).status).toBe(403);
    for (const origin of ['https://elsewhere.example', 'null', 'nonsense'])
      expect((await change('/ops/queues/api/queues/video/pause', cookie, { origin })).status).toBe(403);
  });

  it('takes changes and sign-out from its own pages on plain HTTP, where browsers name the origin only', async () => {
    const { cookie } = await signIn(ADMIN);
    const own = { origin: gateway.baseUrl };
    expect((await change('/ops/queues/api/queues/video/pause', cookie, own)).status).toBe(200);
    expect((await change('/ops/queues/api/queues/video/resume', cookie, own)).status).toBe(200);
    const out = await visit('/ops/sign-out', { method: 'POST', headers: { cookie, ...own } });
    expect(out.headers.get('set-cookie')).toContain('gateway_operator=;');
    const foreign = { cookie, ...own, 'sec-fetch-site': 'cross-site' };
    expect((await visit('/ops/sign-out', { method: 'POST', headers: foreign })).status).toBe(403);
  });

  it('tells those who guess to stop, and cannot be made to lock operators out', async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) statuses.push((await signIn(`guess number ${guess}`)).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
    expect((await signIn(ADMIN)).status).toBe(303);
  });
});
