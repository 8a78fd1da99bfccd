import { CONSOLE_ACCESS, type ConsoleApi, type ConsoleRole } from '#contracts';
import { type ConsoleClient, consoleClient, OWN_PAGE } from '../../../../tests/harness/console-client.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const VIEWER_TOKEN = 'a-viewer-token-for-tests';
const PASSWORD = 'correct horse battery';
const UNKNOWN_TASK = 'task_00000000000000000000000000';

type Route = keyof ConsoleApi;
const ROUTES = (Object.keys(CONSOLE_ACCESS) as Route[]).map((name) => ({ name, ...CONSOLE_ACCESS[name] }));
/** A route with ids that do not exist. */
const pathOf = (name: Route): string =>
  (name.split(' ')[1] ?? '').replace(':task_id', UNKNOWN_TASK).replaceAll(/:\w+/g, 'unknown_1');

describe('The routes of the console', () => {
  let gateway: TestGateway;
  /** A signed-in browser for each role. */
  const clients = new Map<ConsoleRole, ConsoleClient>();
  const clientOf = (role: ConsoleRole): ConsoleClient => {
    const client = clients.get(role);
    if (!client) throw new Error(`no client is signed in as ${role}`);
    return client;
  };
  beforeAll(async () => {
    gateway = await startTestGateway({ environment: { ADMIN_TOKEN, OPS_VIEWER_TOKEN: VIEWER_TOKEN } });
    const operator = await signedIn('operator', 'POST /sign-in/operator', { token: ADMIN_TOKEN });
    await signedIn('ops_viewer', 'POST /sign-in/operator', { token: VIEWER_TOKEN });
    await signedIn('key', 'POST /sign-in/key', { key: 'sk-test-0123456789abcdef' });
    for (const role of ['owner', 'developer', 'finance', 'viewer'] as const) {
      const code = await invited(operator, gateway.accountId, role);
      const person = { code, name: role, email: `${role}@example.com`, password: PASSWORD };
      await signedIn(role, 'POST /sign-in/invitation', person);
    }
  });
  afterAll(() => gateway.stop());

  async function signedIn(role: ConsoleRole, name: Route, sent: object): Promise<ConsoleClient> {
    const client = consoleClient(gateway);
    const { status } = await client.call(name, sent);
    expect([role, status]).toEqual([role, 200]);
    clients.set(role, client);
    return client;
  }

  const invited = async (operator: ConsoleClient, accountId: string, role: ConsoleRole): Promise<string> => {
    const { body } = await operator.call('POST /admin/people/invitations', { account_id: accountId, role });
    return new URL(body.link).hash.replace('#invitation=', '');
  };

  it('are exactly those in the access table', () => {
    const served = gateway
      .routes()
      .flatMap(([method, path]) =>
        path.startsWith('/console/api') ? [`${method} ${path.slice('/console/api'.length)}`] : [],
      );
    expect(served.toSorted()).toEqual(ROUTES.map(({ name }) => name).toSorted());
  });

  it('refuse a request without a session, and do not reveal what exists', async () => {
    for (const { name, needs } of ROUTES.filter((route) => route.needs !== 'nothing')) {
      const { status, body } = await consoleClient(gateway).call(name, {}, pathOf(name));
      expect([name, needs, status, body.error?.code]).toEqual([name, needs, 401, 'sign_in_required']);
    }
    const unknown = await fetch(`${gateway.baseUrl}/console/api/nothing`);
    expect(unknown.status).toBe(401);
  });

  it.each(['viewer', 'developer', 'finance', 'owner', 'key', 'ops_viewer', 'operator'] as const)(
    'allow the role %s exactly what the table says',
    async (role) => {
      const client = clientOf(role);
      const { permissions } = (await client.call('GET /session')).body;
      for (const { name, needs } of ROUTES.filter(({ name: each }) => !ENDS_SESSION.has(each))) {
        if (needs === 'nothing' || needs === 'session') continue;
        const { status, body } = await client.call(name, {}, pathOf(name));
        const isRefused = status === 403 && /^The role .* may not do this/.test(body.error?.message ?? '');
        expect([name, isRefused]).toEqual([name, !permissions.includes(needs)]);
        expect([name, status < 500]).toEqual([name, true]);
      }
    },
  );

  it('accept changes only from their own pages', async () => {
    const { cookie } = clientOf('owner');
    const { 'sec-fetch-site': _site, ...program } = OWN_PAGE;
    const foreign: Record<string, string>[] = [
      { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' },
      { ...OWN_PAGE, 'sec-fetch-site': 'same-site' },
      { ...program, origin: 'https://evil.example' },
      program,
      { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      { ...OWN_PAGE, 'content-type': 'text/plain' },
    ];
    for (const { name } of ROUTES.filter((route) => route.name.startsWith('POST'))) {
      for (const headers of name === 'POST /keys' ? foreign : foreign.slice(0, 1)) {
        const answer = await fetch(`${gateway.baseUrl}/console/api${pathOf(name)}`, {
          method: 'POST',
          headers: { ...headers, cookie },
          body: '{}',
        });
        expect([name, headers, answer.status]).toEqual([name, headers, 403]);
      }
    }
    const own = { ...program, origin: gateway.baseUrl, cookie };
    const taken = await fetch(`${gateway.baseUrl}/console/api/quote`, { method: 'POST', headers: own, body: '{}' });
    expect(taken.status).toBe(200);
  });

  it('ask outdated pages to reload', async () => {
    const headers = { ...OWN_PAGE, 'x-console': '0', cookie: clientOf('owner').cookie };
    const answer = await fetch(`${gateway.baseUrl}/console/api/quote`, { method: 'POST', headers, body: '{}' });
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      409,
      'reload_required',
    ]);
  });

  it('are the only ones that accept the session cookie', async () => {
    const { cookie } = clientOf('owner');
    const others = gateway.routes().filter(([, path]) => !path.startsWith('/console/api'));
    expect(others.length).toBeGreaterThan(60);
    for (const [method, pattern] of others) {
      const path = pattern.replaceAll(/[:*]\w+/g, 'x');
      const ask = async (headers: Record<string, string>) =>
        (await fetch(gateway.baseUrl + path, { method, headers, redirect: 'manual' })).status;
      expect([method, path, await ask({ cookie })]).toEqual([method, path, await ask({})]);
    }
  });

  it('require proof where the table says so, once the last one is 15 minutes old', async () => {
    await gateway.database.query({ text: "update console_session set proved_at = now() - interval '16 minutes'" });
    for (const { name, needs } of ROUTES.filter(({ proof }) => proof)) {
      const role = needs.startsWith('admin:') ? 'operator' : 'owner';
      const { status, body } = await clientOf(role).call(name, {}, pathOf(name));
      expect([name, status, body.error?.code]).toEqual([name, 403, 'proof_required']);
    }
    await gateway.database.query({ text: 'update console_session set proved_at = now()' });
  });

  it('show an account no data of another', async () => {
    const operator = clientOf('operator');
    const ours = await thingsOf(clientOf('owner'));
    const { body: other } = await operator.call('POST /admin/accounts', { name: 'Another studio' });
    const code = await invited(operator, other.id, 'owner');
    const stranger = consoleClient(gateway);
    const person = { code, name: 'Stranger', email: 'stranger@example.com', password: PASSWORD };
    expect((await stranger.call('POST /sign-in/invitation', person)).body.account?.id).toBe(other.id);
    const ownRoutes = ROUTES.filter(({ name, needs }) => needs !== 'nothing' && !/ \/admin\/|events/.test(name));
    for (const { name } of ownRoutes.filter((route) => route.name.includes(':') && !route.name.includes(':model'))) {
      const path = ours.pathOf(name);
      const { status } = await stranger.call(name, VALID[name] ?? {}, path);
      expect([name, path, status]).toEqual([name, path, 404]);
    }
    for (const { name } of ownRoutes.filter((route) => route.name.startsWith('GET') && !route.name.includes(':'))) {
      const query = name === 'GET /agent-sessions/requests' ? '?session=theirs' : '';
      const { status, text } = await stranger.call(name, {}, name.slice('GET '.length) + query);
      const shown = Object.values(ours.ids).filter((id) => text.includes(`"${id}"`));
      expect([name, status, shown]).toEqual([name, 200, []]);
    }
    const followed = await stranger.call('GET /tasks/events', {}, `/tasks/events?ids=${ours.ids.task_id}`);
    expect(followed.text).toContain('task_not_found');
  });

  it('return a secret once and never again', async () => {
    const owner = clientOf('owner');
    const { ids, secrets, pathOf: ourPathOf } = await thingsOf(owner);
    expect((await gateway.send('GET', '/v1/models', undefined, { authorization: `Bearer ${secrets[0]}` })).status).toBe(
      200,
    );
    const rotated = await owner.call('POST /keys/:key_id/rotate', {}, `/keys/${ids.key_id}/rotate`);
    const hook = `/webhooks/endpoints/${ids.endpoint_id}/rotate-secret`;
    const renewed = await owner.call('POST /webhooks/endpoints/:endpoint_id/rotate-secret', {}, hook);
    const given = [...secrets, rotated.body.secret, renewed.body.secret];
    expect(new Set(given).size).toBe(5);
    const settings = await owner.call('POST /keys/:key_id', { name: 'renamed' }, `/keys/${ids.key_id}`);
    expect(given.filter((secret) => settings.text.includes(secret))).toEqual([]);
    for (const { name, needs } of ROUTES.filter(
      (route) => route.name.startsWith('GET') && !route.name.includes('events'),
    )) {
      const client = clientOf(needs.startsWith('admin:') ? 'operator' : 'owner');
      const { text } = await client.call(name, {}, ourPathOf(name));
      expect([name, given.filter((secret) => text.includes(secret))]).toEqual([name, []]);
    }
  });

  /** Makes one of everything that an account has. A parameter of a route that is new needs one here. */
  async function thingsOf(owner: ConsoleClient) {
    const { body: made } = await owner.call('POST /keys', { name: 'ours' });
    const { body: run } = await owner.call('POST /runs', IMAGE);
    const { body: hook } = await owner.call('POST /webhooks/endpoints', { url: 'https://example.com/hook' });
    const test = `/webhooks/endpoints/${hook.endpoint.id}/test`;
    const { body: sent } = await owner.call('POST /webhooks/endpoints/:endpoint_id/test', {}, test);
    const { body: invitation } = await owner.call('POST /people/invitations', { role: 'viewer' });
    const ids = {
      account_id: gateway.accountId,
      key_id: made.key.id,
      task_id: run.task_id,
      endpoint_id: hook.endpoint.id,
      delivery_id: sent.delivery_id,
      invitation_id: invitation.invitation.id,
      entry_id: (await owner.call('GET /billing/entries')).body.items[0]?.id ?? '',
      user_id: (await owner.call('GET /people')).body.people[0]?.user_id ?? '',
      session_id: (await owner.call('GET /session')).body.id,
      passkey_id: 'passkey_of_nobody',
      upstream_id: 'unknown_1',
      proposal_id: 'unknown_1',
      list_id: 'unknown_1',
    };
    const idOf = (parameter: string): string => {
      const id = ({ ...ids, model: IMAGE.model } as Readonly<Record<string, string | undefined>>)[parameter];
      if (id === undefined) throw new Error(`no test knows a ${parameter}`);
      return id;
    };
    return {
      ids,
      secrets: [made.secret, hook.secret, new URL(invitation.link).hash.replace('#invitation=', '')],
      pathOf: (name: Route) =>
        (name.split(' ')[1] ?? '').replaceAll(/:(\w+)/g, (_all, parameter: string) => idOf(parameter)),
    };
  }
});

/** What would sign out the browser that walks the routes, or change what it is. */
const ENDS_SESSION: ReadonlySet<Route> = new Set(['POST /session/account', 'POST /session/sign-out']);
/** What is right where an empty body is refused before anything is looked up. */
const VALID: Readonly<Partial<Record<Route, object>>> = { 'POST /people/:user_id': { role: 'viewer' } };
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
