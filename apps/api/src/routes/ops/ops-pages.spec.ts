import { startTestGateway, type TestGateway } from '../../../../../tests/harness/test-gateway.js';

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
    'shows nothing of %s without a session',
    async (path) => {
      expect((await visit(path)).status).toBe(401);
      const page = await visit(path, { headers: { accept: 'text/html' } });
      expect([page.status, page.headers.get('location')]).toEqual([303, '/ops/sign-in']);
    },
  );

  it('does not accept the API key of a customer as an operator token', async () => {
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

  it('shows the queues with readable names, and leads from a wake-up to its task', async () => {
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
    const wakeups = async (): Promise<object[]> => (await look()).find(({ name }) => name === 'image')?.jobs ?? [];
    // The wake-up is sent after the answer.
    while ((await wakeups()).length === 0);
    expect(await wakeups()).toContainEqual(
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
    const video = gateway.platform.notifier.queues().find(({ name }) => name === 'video');
    expect(await video?.isPaused()).toBe(true);
    expect((await change('/ops/queues/api/queues/video/resume', admin.cookie)).status).toBe(200);
    expect(await video?.isPaused()).toBe(false);
  });

  it('refuses unsafe changes, and changes sent by another site', async () => {
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

  it('answers 429 to guesses, and never locks operators out', async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) statuses.push((await signIn(`guess number ${guess}`)).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
    expect((await signIn(ADMIN)).status).toBe(303);
  });

  it('checks the guesses from one address one at a time, at the sign-in and in the admin API alike', async () => {
    const beganAtMs = performance.now();
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, guess) =>
        guess % 2 === 0
          ? signIn(`guess number ${guess}`).then(({ status }) => status)
          : visit('/admin/v1/accounts', { headers: { authorization: `Bearer guess-${guess}` } }).then(
              ({ status }) => status,
            ),
      ),
    );
    const tookMs = performance.now() - beganAtMs;
    const lookedAt = statuses.filter((status) => status === 401).length;
    // Three wait for their turn, half a second each; only a machine that needs longer for all of them lets more come.
    expect(tookMs).toBeGreaterThan(500);
    expect(lookedAt).toBeLessThanOrEqual(3 + tookMs / 500);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40 - lookedAt);
    expect((await visit('/admin/v1/accounts', { headers: { authorization: `Bearer ${ADMIN}` } })).status).toBe(200);
  });

  describe('for tasks, deliveries and workers', () => {
    const look = async (path: string, cookie: string): Promise<{ status: number; text: string }> => {
      const answer = await visit(path, { headers: { cookie, accept: 'text/html' } });
      return { status: answer.status, text: await answer.text() };
    };
    const send = (path: string, cookie: string, fields: Record<string, string> = {}, headers: object = {}) =>
      visit(path, {
        method: 'POST',
        headers: { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html', ...headers },
        body: new URLSearchParams(fields),
      });
    const IMAGE = { model: 'eta-image-2.0', prompt: 'a secret prompt' };
    const submit = (): Promise<string> => gateway.submit('/v1/images/generations', IMAGE);

    it('opens after the sign-in on an overview of what needs attention', async () => {
      const signedIn = await visit('/ops/sign-in', { method: 'POST', body: new URLSearchParams({ token: VIEWER }) });
      expect(signedIn.headers.get('location')).toBe('/ops');
      const { status, text } = await look('/ops', (await signIn(VIEWER)).cookie);
      expect(status).toBe(200);
      for (const words of ['No live image-worker.', 'No live maintenance-worker.', 'Available to accounts', 'none yet'])
        expect(text).toContain(words);
      expect(text).not.toContain('did not answer');
    });

    it('shows upstreams with their health, and queues that are paused', async () => {
      const upstream = { protocol: 'chat', base_url: 'http://127.0.0.1:9/v1', models: { 'gpt-x': 'gpt-x' } };
      const headers = { authorization: `Bearer ${ADMIN}` };
      for (const [id, enabled] of [
        ['on', true],
        ['off', false],
      ] as const) {
        const made = await gateway.send(
          'POST',
          '/admin/v1/upstreams',
          { ...upstream, id: `spec-${id}`, enabled },
          headers,
        );
        expect(made).toMatchObject({ status: 200 });
      }
      const video = gateway.platform.notifier.queues().find(({ name }) => name === 'video');
      await video?.pause();
      const { text } = await look('/ops', (await signIn(VIEWER)).cookie);
      await video?.resume();
      expect(text).toContain('The queue video is paused.');
      expect(text).toMatch(/spec-on<[^]*?serving/);
      expect(text).toContain('href="#unpriced"');
      expect(text).toContain('<code>gpt-x</code>');
      expect(text).toMatch(/spec-off<[^]*?switched off/);
    });

    it('lists all tasks page by page, each once, and keeps the filters', async () => {
      for (let count = 0; count < 5; count += 1) await submit();
      const { cookie } = await signIn(VIEWER);
      const seen: string[] = [];
      let path: string | undefined = '/ops/tasks?limit=2&state=queued&model=eta-image-2.0';
      while (path !== undefined) {
        const { text } = await look(path, cookie);
        seen.push(
          ...[...text.matchAll(/<td class="id"><a href="\/ops\/tasks\/(task_\w+)"/g)].map(([, id]) => id ?? ''),
        );
        path = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      }
      const { rows } = await gateway.database.query<{ id: string }>({
        text: `select id from task where state = 'queued' and model = 'eta-image-2.0' order by id desc`,
      });
      expect(seen.length).toBeGreaterThanOrEqual(5);
      expect(seen).toEqual(rows.map(({ id }) => id));
    });

    it('finds a task by its request, its account and the time of its submission', async () => {
      const taskId = await submit();
      const { cookie } = await signIn(VIEWER);
      const { rows } = await gateway.database.query<{ request_id: string }>({
        text: 'select request_id from task where id = $1',
        values: [taskId],
      });
      for (const query of [
        `request_id=${rows[0]?.request_id}`,
        `task_id=${taskId}&account_id=&model=`,
        'created_from=2020-01-01T00:00',
      ])
        expect((await look(`/ops/tasks?${query}`, cookie)).text).toContain(taskId);
      for (const query of ['created_to=2020-01-01T00:00', 'account_id=acct_other', 'vendor_id=x'])
        expect((await look(`/ops/tasks?${query}`, cookie)).text).not.toContain(taskId);
    });

    it.each([
      'state=none',
      'cursor=x',
      'statu=failed',
      'task_id=<b>',
      'created_from=never',
      'task_id=a&task_id=b',
      'limit=0',
    ])('says what is wrong with %s', async (query) => {
      const { status, text } = await look(`/ops/tasks?${query}`, (await signIn(VIEWER)).cookie);
      expect(status).toBe(400);
      expect(text).toContain('role="alert"');
      expect(text).not.toContain('<b>');
    });

    it('acts only for admins and only from our own pages', async () => {
      const [admin, viewer] = [await signIn(ADMIN), await signIn(VIEWER)];
      const taskId = await submit();
      const paths = [
        ...['cancel', 'refund', 'redrive'].map((action) => `/ops/tasks/${taskId}/${action}`),
        '/ops/deliveries/msg_none/redeliver',
      ];
      for (const path of paths) {
        expect([path, (await send(path, viewer.cookie)).status]).toEqual([path, 403]);
        expect([path, (await send(path, '')).status]).toEqual([path, 401]);
        const foreign = { 'sec-fetch-site': 'cross-site' };
        expect([path, (await send(path, admin.cookie, {}, foreign)).status]).toEqual([path, 403]);
      }
      expect((await look(`/ops/tasks/${taskId}`, admin.cookie)).text).toContain('queued');
      const refused = await send(`/ops/tasks/${taskId}/refund`, admin.cookie, { reference: 'r', reason: '<b>x</b>' });
      expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('That was refused')]);
      expect((await send(`/ops/tasks/${taskId}/refund`, admin.cookie, { reference: 'r' })).status).toBe(400);
      expect((await send(`/ops/tasks/${taskId}/redrive`, admin.cookie)).status).toBe(409);
      expect((await send('/ops/deliveries/msg_none/redeliver', admin.cookie)).status).toBe(404);
      const cancelled = await send(`/ops/tasks/${taskId}/cancel`, admin.cookie, { actor: 'eve', reason: 'asked' });
      expect([cancelled.status, cancelled.headers.get('location')]).toEqual([303, `/ops/tasks/${taskId}?done=cancel`]);
      const { text } = await look(`/ops/tasks/${taskId}?done=cancel`, admin.cookie);
      expect(text).toContain('Cancellation of the task was requested.');
      expect(text).toContain('eve');
      expect(text).not.toContain('a secret prompt');
    });

    it('answers unknown addresses with a page, and programs with JSON', async () => {
      const { cookie } = await signIn(VIEWER);
      expect(await look('/ops/tasks/task_none', cookie)).toMatchObject({ status: 404 });
      expect((await look('/ops/nowhere', cookie)).text).toContain('There is no such page.');
      expect((await visit('/ops/nowhere', { headers: { cookie } })).headers.get('content-type')).toContain('json');
    });

    it('loads nothing from other hosts on the page of the queues', async () => {
      const { text } = await look('/ops/queues', (await signIn(VIEWER)).cookie);
      expect(text).not.toMatch(/(href|src)="https?:/);
      expect(text).toContain('<a href="/ops"');
    });
  });
});
