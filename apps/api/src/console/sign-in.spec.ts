import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvitationsService, OneTimeLinks, PeopleService, SessionsModule } from '#features';
import { eventually, untilBlocked } from '#testing';
import { createApi } from '../create-api.js';
import { consoleLink } from '../seed.js';
import { type ConsoleClient, consoleClient, OWN_PAGE } from '../../../../tests/harness/console-client.js';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const PASSWORD = 'correct horse battery';

describe('Signing in to the console', () => {
  let gateway: TestGateway;
  let api: Awaited<ReturnType<typeof createApi>>;
  /** An identity provider that takes no code. */
  const provider = createServer((request, response) => {
    const self = `http://${request.headers.host}`;
    const isDiscovery = request.url?.startsWith('/.well-known/');
    response.writeHead(isDiscovery ? 200 : 400, { 'content-type': 'application/json' });
    const addresses = { authorization_endpoint: `${self}/authorize`, token_endpoint: `${self}/token` };
    response.end(JSON.stringify(isDiscovery ? { issuer: self, ...addresses } : { error: 'invalid_grant' }));
  });
  beforeAll(async () => {
    await once(provider.listen(0, '127.0.0.1'), 'listening');
    const OIDC_ISSUER = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const client = { OIDC_CLIENT_ID: 'gateway', OIDC_CLIENT_SECRET: 'a-secret-of-the-test' };
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN, OIDC_ISSUER, ...client } });
    api = await createApi(gateway.platform);
    await api.init();
  });
  afterAll(async () => {
    await api.close();
    await gateway.stop();
    provider.closeAllConnections();
    provider.close();
  });

  const query = (text: string, values: unknown[] = []) =>
    gateway.database.query<Record<string, unknown>>({ text, values });
  const newCode = async (): Promise<string> =>
    new URL(await consoleLink(api, gateway.baseUrl)).hash.replace('#code=', '');
  const signedIn = async (): Promise<ConsoleClient> => {
    const client = consoleClient(gateway);
    await client.call('POST /sign-in/link', { code: await newCode() });
    return client;
  };

  it('accepts a one-time link once', async () => {
    const code = await newCode();
    const client = consoleClient(gateway);
    const { status, body } = await client.call('POST /sign-in/link', { code });
    expect([status, body.method, body.roles, body.account?.id]).toEqual([
      200,
      'link',
      ['owner', 'operator'],
      gateway.accountId,
    ]);
    expect((await client.call('GET /session')).body.user?.name).toBe('Owner');
    const again = await consoleClient(gateway).call('POST /sign-in/link', { code });
    expect([again.status, again.body.error?.code]).toEqual([401, 'wrong_credentials']);
  });

  it('refuses an expired link', async () => {
    const code = await newCode();
    await query("update one_time_link set expires_at = now() - interval '1 second'");
    expect((await consoleClient(gateway).call('POST /sign-in/link', { code })).status).toBe(401);
  });

  it('stores only hashes of links, cookies and passwords', async () => {
    const code = await newCode();
    const client = await signedIn();
    const token = client.cookie.split('=')[1] ?? '';
    await client.call('POST /profile/password', { password: PASSWORD });
    for (const table of ['one_time_link', 'console_session', 'console_user']) {
      const stored = JSON.stringify((await query(`select t::text from ${table} t`)).rows);
      for (const secret of [code, token, PASSWORD]) expect(stored.includes(secret)).toBe(false);
    }
    const hash = createHash('sha256').update(token).digest();
    expect((await query('select 1 from console_session where token_hash = $1', [hash])).rows).toHaveLength(1);
  });

  it('accepts a password, and gives the same error for a wrong address and a wrong password', async () => {
    const owner = await signedIn();
    await owner.call('POST /profile', { email: 'Owner@Example.com' });
    await owner.call('POST /profile/password', { password: PASSWORD });
    const client = consoleClient(gateway);
    const { status, body } = await client.call('POST /sign-in/password', {
      email: 'owner@example.com',
      password: PASSWORD,
    });
    expect([status, body.user?.has_password, body.proofs]).toEqual([200, true, ['password']]);
    const refusals = await Promise.all(
      [
        { email: 'owner@example.com', password: 'another horse battery' },
        { email: 'unknown@example.com', password: PASSWORD },
      ].map(async (sent) => (await consoleClient(gateway).call('POST /sign-in/password', sent)).body.error?.message),
    );
    expect(refusals[0]).toBe(refusals[1]);
    const people = api.select(SessionsModule).get(PeopleService);
    expect(await people.withPassword('owner@example.com', PASSWORD)).not.toBeNull();
  });

  it('gives an address that two people take at once to the first of them', async () => {
    const owner = await signedIn();
    const models = await gateway.database.models();
    const renaming = models.$transaction(async (transaction) => {
      const data = { id: 'user_first', name: 'First', email: 'wanted@example.com' };
      await transaction.consoleUser.create({ data });
      const answer = owner.call('POST /profile', { email: 'wanted@example.com' });
      await untilBlocked(gateway.database);
      return { answer };
    });
    const { status, body } = await (await renaming).answer;
    expect([status, body.error?.code, body.error?.field]).toEqual([409, 'conflict', 'email']);
  });

  it('lets in nobody who only claimed the address that an invited identity proves', async () => {
    const invitations = api.select(SessionsModule).get(InvitationsService);
    const operator = { actor: 'test', requestId: 'req_test', address: null };
    const invite = async (email: string | null) =>
      (await invitations.create(operator, { accountId: gateway.accountId, role: 'viewer', email, invitedBy: 'test' }))
        .code;
    const email = 'mira@example.com';
    const squatter = consoleClient(gateway);
    const claimed = { name: 'Not Mira', email, password: PASSWORD };
    await squatter.call('POST /sign-in/invitation', { code: await invite(null), ...claimed });
    expect((await squatter.call('GET /session')).status).toBe(200);
    const identity = { issuer: 'https://login.example.com', subject: 'mira', name: 'Mira', email };
    expect(await invitations.acceptAs(operator, await invite(email), identity)).not.toBeNull();
    expect((await squatter.call('GET /session')).status).toBe(401);
    expect((await squatter.call('POST /sign-in/password', { email, password: PASSWORD })).status).toBe(401);
  });

  it('ends the sessions of a person who joins an account again in another role', async () => {
    const invitations = api.select(SessionsModule).get(InvitationsService);
    const operator = { actor: 'test', requestId: 'req_test', address: null };
    const invite = async (role: 'developer' | 'viewer') =>
      (await invitations.create(operator, { accountId: gateway.accountId, role, email: null, invitedBy: 'test' })).code;
    const person = { name: 'Twice', email: 'twice@example.com', password: PASSWORD };
    const [before, after] = [consoleClient(gateway), consoleClient(gateway)];
    await before.call('POST /sign-in/invitation', { code: await invite('developer'), ...person });
    const again = await after.call('POST /sign-in/invitation', { code: await invite('viewer'), ...person });
    expect(again.body.roles).toEqual(['viewer']);
    expect((await before.call('GET /session')).status).toBe(401);
  });

  it('gives the holder of a key only what its scopes allow', async () => {
    const client = consoleClient(gateway);
    await query("update api_key set scopes = '{tasks:read,balance}' where kind = 'api'");
    const { body } = await client.call('POST /sign-in/key', { key: TEST_KEY });
    expect([body.roles, body.permissions, body.user]).toEqual([['key'], ['tasks:read', 'balance:read'], null]);
    await query("update api_key set revoked_at = now() where kind = 'api'");
    expect((await client.call('GET /session')).status).toBe(401);
    await query("update api_key set revoked_at = null, scopes = '{}' where kind = 'api'");
    const wrong = await consoleClient(gateway).call('POST /sign-in/key', { key: 'sk-unknown-1' });
    expect([wrong.status, wrong.body.error?.code]).toEqual([401, 'wrong_credentials']);
  });

  it('accepts the token of an operator until it is changed', async () => {
    const client = consoleClient(gateway);
    const { body } = await client.call('POST /sign-in/operator', { token: ADMIN_TOKEN });
    expect([body.roles, body.account, body.proofs]).toEqual([['operator'], null, ['operator_token']]);
    expect((await client.call('GET /session')).status).toBe(200);
    await query("update console_session set operator_check = '\\x00' where operator_role is not null");
    expect((await client.call('GET /session')).status).toBe(401);
    expect((await client.call('POST /sign-in/operator', { token: 'an-unknown-admin-token' })).status).toBe(401);
  });

  it('sets a new HttpOnly SameSite cookie at each sign-in', async () => {
    const send = async () =>
      fetch(`${gateway.baseUrl}/console/api/sign-in/link`, {
        method: 'POST',
        headers: { ...OWN_PAGE, cookie: 'gw_console=chosen-by-an-attacker' },
        body: JSON.stringify({ code: await newCode() }),
      });
    const answers = [await send(), await send()].map(({ headers }) => headers.getSetCookie());
    // The person is an operator too, whose session also opens the queues.
    for (const cookies of answers) {
      expect(cookies).toHaveLength(2);
      for (const [place, path] of ['/console', '/ops'].entries())
        expect(cookies[place]).toMatch(
          new RegExp(`^gw_console=[\\w-]{43}; Max-Age=604800; Path=${path}; Expires=[^;]+; HttpOnly; SameSite=Lax$`),
        );
    }
    expect(answers[0]).not.toEqual(answers[1]);
  });

  it('ends sessions on the server: its own, another one, and all at once', async () => {
    const [first, second, third] = [await signedIn(), await signedIn(), await signedIn()];
    const { cookie } = first;
    await first.call('POST /session/sign-out');
    first.cookie = cookie;
    expect((await first.call('GET /session')).body.error?.code).toBe('sign_in_required');
    const { body } = await second.call('GET /sessions');
    const others = body.items.filter((session) => !session.is_current);
    await second.call('POST /sessions/:session_id/end', {}, `/sessions/${others[0]?.id}/end`);
    expect((await third.call('GET /session')).status).toBe(401);
    const fourth = await signedIn();
    expect((await fourth.call('POST /session/sign-out-everywhere')).body.signed_out).toBeGreaterThan(1);
    expect((await second.call('GET /session')).status).toBe(401);
  });

  it.each([
    ['unused for 12 hours', "seen_at = now() - interval '12 hours 1 second'"],
    ['after 7 days', "expires_at = now() - interval '1 second'"],
  ])('ends a session %s', async (_when, change) => {
    const client = await signedIn();
    await query(`update console_session set ${change}`);
    expect((await client.call('GET /session')).status).toBe(401);
  });

  it('requires proof again after 15 minutes, and accepts the password for it', async () => {
    const client = await signedIn();
    await client.call('POST /profile/password', { password: PASSWORD });
    await query("update console_session set proved_at = now() - interval '16 minutes'");
    const refused = await client.call('POST /profile/password', { password: PASSWORD });
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'proof_required']);
    expect((await client.call('POST /session/proof', { password: 'something else entirely' })).status).toBe(401);
    expect((await client.call('POST /session/proof', { password: PASSWORD })).body.proved_until).not.toBeNull();
    expect((await client.call('POST /profile/password', { password: PASSWORD })).status).toBe(200);
    const short = await client.call('POST /profile/password', { password: 'too short' });
    expect([short.status, short.body.error?.field]).toEqual([400, 'password']);
  });

  it('counts what a stranger tries with an invitation, and at the identity provider, as guesses too', async () => {
    /** Null while there are none. */
    const counted = async (): Promise<number | null> => {
      const { rows } = await query(
        `select sum(points)::int as points from rate_count where key like '%guesses:operator%'`,
      );
      return rows[0]?.['points'] as number | null;
    };
    const invitations = api.select(SessionsModule).get(InvitationsService);
    const operator = { actor: 'test', requestId: 'req_test', address: null };
    const invitation = { accountId: gateway.accountId, role: 'viewer', email: null, invitedBy: 'test' } as const;
    const { code } = await invitations.create(operator, invitation);
    const owner = await signedIn();
    const email = 'guessed@example.com';
    await owner.call('POST /profile', { email });
    await owner.call('POST /profile/password', { password: PASSWORD });
    const guess = { code, name: 'Guesser', email, password: 'wrong horse battery' };
    // Guesses of the tests before are forgotten in their own time, and may still be on their way to be counted.
    await query(`delete from rate_count where key like '%guesses:operator%'`);
    const refused = await consoleClient(gateway).call('POST /sign-in/invitation', guess);
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict']);
    const atFirst = await eventually(counted);

    const stranger = consoleClient(gateway);
    const { body } = await stranger.call('POST /sign-in/oidc');
    const state = new URL(body.location).searchParams.get('state');
    await stranger.call(
      'GET /sign-in/oidc/callback' as 'GET /sign-in',
      undefined,
      `/sign-in/oidc/callback?code=guess&state=${state}`,
    );
    await eventually(async () => ((await counted()) ?? 0) > atFirst);
  });

  it('throttles guesses, and still accepts the right password', async () => {
    const code = await newCode();
    for (let guess = 0; guess < 12; guess += 1) {
      expect((await consoleClient(gateway).call('POST /sign-in/link', { code: `guess-${guess}` })).status).toBe(401);
    }
    expect((await consoleClient(gateway).call('POST /sign-in/link', { code })).status).toBe(200);
  });

  it('creates one user when a link is opened twice at once', async () => {
    const links = api.select(SessionsModule).get(OneTimeLinks);
    const code = await newCode();
    const users = await Promise.all([links.use(code), links.use(code), links.use(code)]);
    expect(users.filter((user) => user !== null)).toHaveLength(1);
  });
});
