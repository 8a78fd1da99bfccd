import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser } from '#testing';
import { consoleClient } from '../../../../tests/harness/console-client.js';
import { type ConsoleLinks, consoleLinks } from '../../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { openIdentityProvider, type TestIdentityProvider } from './identity-provider.js';
import { enter, loaded, openConsole, type Watched } from '../open-console.js';

const ADMIN_TOKEN = 'admin-token-for-tests';
/** Of a test of many steps. */
const LONG_MS = 180_000;
const PROVIDER = 'Studio login';

describeWithBrowser('The ways into the console, in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let links: ConsoleLinks;
  let browser: Browser;
  let provider: TestIdentityProvider;
  /** Browsers make passkeys for names alone. */
  let localhost: string;

  beforeAll(async () => {
    provider = await openIdentityProvider(PROVIDER);
    [browser, gateway] = await Promise.all([
      startBrowser(),
      startTestGateway({ workers: false, environment: { ADMIN_TOKEN, ...provider.environment } }),
    ]);
    provider.serve(gateway.baseUrl);
    localhost = gateway.baseUrl.replace('127.0.0.1', 'localhost');
    links = await consoleLinks(gateway);
  });
  afterAll(async () => {
    await browser.close();
    await links.close();
    await gateway.stop();
    await provider.close();
  });

  /** A browser on a device with a passkey store that knows its owner's finger. */
  const openOnDevice = async (): Promise<Watched> => {
    const opened = await openConsole(browser, localhost);
    const devtools = await opened.context.newCDPSession(opened.page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return opened;
  };
  const signOut = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'You' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/sign-in/);
  };
  const forgetProofs = () =>
    gateway.database.query({ text: "update console_session set proved_at = now() - interval '16 minutes'" });

  it(
    'takes a passkey in place of a password: to sign in and as a proof, until it is removed',
    async () => {
      const { page, context, complaints } = await openOnDevice();
      await enter(page, (await links.next()).replace(gateway.baseUrl, localhost));
      await page.goto(`${localhost}/console/account`);
      await loaded(page);
      await page.getByLabel('Name of the passkey').fill('laptop');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByRole('button', { name: 'Remove: laptop' }).waitFor();
      await signOut(page);

      await page.getByRole('button', { name: 'Use a passkey' }).click();
      await page.waitForURL(/\/console\/$/);
      await loaded(page);
      const { rows } = await gateway.database.query<{ counter: string }>({ text: 'select counter from passkey' });
      expect(rows).toHaveLength(1);

      await forgetProofs();
      await page.goto(`${localhost}/console/keys?create=true`);
      await page.locator('dialog input').first().fill('proved by a passkey');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Is it you?' }).getByRole('button', { name: 'Use a passkey' }).click();
      await page.locator('[data-testid=secret]').waitFor();

      await page.goto(`${localhost}/console/account`);
      await loaded(page);
      await page.getByRole('button', { name: 'Remove: laptop' }).click();
      await page.getByText('No passkey yet').waitFor();
      await signOut(page);
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      await page.getByText(/does not know this passkey/).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    LONG_MS,
  );

  it(
    'accepts the answer to a challenge once, and only for its purpose',
    async () => {
      const { page, context } = await openOnDevice();
      await enter(page, (await links.next()).replace(gateway.baseUrl, localhost));
      await page.goto(`${localhost}/console/account`);
      await loaded(page);
      await page.getByLabel('Name of the passkey').fill('heard');
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByRole('button', { name: 'Remove: heard' }).waitFor();
      await signOut(page);
      const asked = page.waitForRequest((request) => request.url().endsWith('/sign-in/passkey'));
      await page.getByRole('button', { name: 'Use a passkey' }).click();
      const heard = (await asked).postDataJSON() as object;
      await page.waitForURL(/\/console\/$/);

      const thief = consoleClient(gateway);
      expect((await thief.call('POST /sign-in/passkey', heard)).status).toBe(401);
      const owner = consoleClient(gateway);
      owner.cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
      expect((await owner.call('GET /session')).status).toBe(200);
      expect((await owner.call('POST /session/proof/passkey', heard)).status).toBe(401);
      await context.close();
    },
    LONG_MS,
  );

  it('opens a link when the sign-in page is already shown', async () => {
    const { page, context } = await openConsole(browser, gateway.baseUrl);
    await page.goto(`${gateway.baseUrl}/console/sign-in`);
    await page.getByLabel('Password').waitFor();
    await enter(page, await links.next());
    expect(page.url()).not.toContain('code=');
    await context.close();
  });

  /** Says a name to the identity provider, and lets it tell the gateway. */
  const sayName = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('button', { name: `Continue with ${PROVIDER}` }).click();
    await page.waitForURL(/\/interaction\//);
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('whatever');
    await page.locator('button[type=submit]').click();
    const consent = page.locator('button[type=submit]', { hasText: 'Continue' });
    await consent.waitFor();
    await consent.click();
    await page.waitForURL((url) => url.origin === gateway.baseUrl && !url.pathname.includes('/api/'));
  };
  const invite = async (role: string, email?: string): Promise<string> => {
    const operator = consoleClient(gateway);
    await operator.call('POST /sign-in/operator', { token: ADMIN_TOKEN });
    const sent = { account_id: gateway.accountId, role, ...(email !== undefined && { email }) };
    return (await operator.call('POST /admin/people/invitations', sent)).body.link;
  };

  it(
    'signs in through the identity provider only people invited with that identity, and once for each return',
    async () => {
      const stranger = await openConsole(browser, gateway.baseUrl);
      await stranger.page.goto(`${gateway.baseUrl}/console/sign-in`);
      await sayName(stranger.page, 'stranger');
      await stranger.page.getByText('You have not been invited yet').waitFor();
      expect((await stranger.context.request.get(`${gateway.baseUrl}/console/api/session`)).status()).toBe(401);
      await stranger.context.close();

      const invited = await openConsole(browser, gateway.baseUrl);
      await invited.page.goto(await invite('developer'));
      await sayName(invited.page, 'mira');
      await loaded(invited.page);
      const session = await invited.context.request.get(`${gateway.baseUrl}/console/api/session`);
      expect(await session.json()).toMatchObject({
        method: 'oidc',
        roles: ['developer'],
        user: { name: 'mira of the test', email: 'mira@example.com', has_password: false },
      });
      await invited.context.close();

      const again = await openConsole(browser, gateway.baseUrl);
      await again.page.goto(`${gateway.baseUrl}/console/usage?by=model`);
      await again.page.waitForURL(/sign-in/);
      const callback = again.page.waitForRequest((request) => request.url().includes('/sign-in/oidc/callback'));
      await sayName(again.page, 'mira');
      await again.page.waitForURL(/\/usage\?by=model/);
      const request = await callback;
      const { cookie = '' } = await request.allHeaders();
      await again.context.close();

      // The same return again, with the cookie that the browser carried: its code was used.
      expect(cookie).toContain('gw_console_sso=');
      const replayed = await fetch(request.url(), { redirect: 'manual', headers: { cookie } });
      expect(replayed.headers.get('location')).toBe('/console/sign-in?error=sso');
      expect(replayed.headers.getSetCookie().some((set) => set.startsWith('gw_console='))).toBe(false);
    },
    LONG_MS,
  );

  it('gives an invitation that names an address only to the owner of that address', async () => {
    const other = await openConsole(browser, gateway.baseUrl);
    await other.page.goto(await invite('viewer', 'nadia@example.com'));
    await sayName(other.page, 'oskar');
    await other.page.getByText('The invitation is for a different e-mail address').waitFor();
    expect((await other.context.request.get(`${gateway.baseUrl}/console/api/session`)).status()).toBe(401);
    await other.context.close();
  });

  it('ignores a return from the identity provider that did not start here', async () => {
    const callback = `${gateway.baseUrl}/console/api/sign-in/oidc/callback?code=stolen&state=guessed`;
    const first = await fetch(callback, { redirect: 'manual' });
    expect([first.status, first.headers.get('location')]).toEqual([303, '/console/sign-in?error=sso']);
    const client = consoleClient(gateway);
    await client.call('POST /sign-in/oidc', { to: '//evil.example/' });
    const second = await fetch(callback, { redirect: 'manual', headers: { cookie: client.cookie } });
    expect([second.headers.get('location'), second.headers.get('set-cookie')?.includes('gw_console_sso=;')]).toEqual([
      '/console/sign-in?error=sso',
      true,
    ]);
  });
});
