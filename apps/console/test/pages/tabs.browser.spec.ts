import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, eventually } from '#testing';
import { consoleClient } from '../../../../tests/harness/console-client.js';
import { type ConsoleLinks, consoleLinks } from '../../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { enter, expectNoComplaint, loaded, openConsole, type Watched } from '../open-console.js';

const ADMIN_TOKEN = 'admin-token-for-tests';
const VIDEO = { model: 'beta-2.5-preview', resolution: '480p', size: '16:9', duration: 5 };
const MINUTE_MS = 60_000;

describeWithBrowser('Tabs of the console that live long, in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let links: ConsoleLinks;
  let browser: Browser;
  let owner: Watched;

  beforeAll(async () => {
    [browser, gateway] = await Promise.all([startBrowser(), startTestGateway({ environment: { ADMIN_TOKEN } })]);
    links = await consoleLinks(gateway);
  });
  beforeEach(async () => {
    owner = await openConsole(browser, gateway.baseUrl);
    await enter(owner.page, await links.next());
  });
  afterEach(async () => {
    expectNoComplaint(owner);
    await owner.context.close();
  });
  afterAll(async () => {
    await browser.close();
    await links.close();
    await gateway.stop();
  });

  const show = async (path: string, page: Page = owner.page): Promise<void> => {
    await page.goto(`${gateway.baseUrl}/console${path}`);
    await loaded(page);
  };
  const openTab = async (path: string): Promise<Page> => {
    const page = await owner.context.newPage();
    await show(path, page);
    return page;
  };
  const endSessions = () => gateway.database.query({ text: `update console_session set expires_at = now()` });
  const signOut = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'You' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/sign-in/);
  };

  it('ask the user to sign in again in place, and lose nothing that was typed', async () => {
    const { page } = owner;
    await show('/keys?create=true');
    await page.locator('dialog input').first().fill('typed before the end');
    await endSessions();
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    const window = page.getByRole('dialog', { name: 'Your session has ended' });
    await window.waitFor();
    // A link that is opened in another tab counts as well.
    const other = await owner.context.newPage();
    await enter(other, await links.next());
    await page.locator('[data-testid=secret]').waitFor();
    expect(await window.count()).toBe(0);
    const { rows } = await gateway.database.query({
      text: `select 1 from api_key where name = 'typed before the end'`,
    });
    expect(rows).toHaveLength(1);
  });

  it('go to the sign-in together', async () => {
    const { page } = owner;
    const other = await openTab('/billing');
    await signOut(page);
    await other.waitForURL(/sign-in/);
    expect(await other.locator('.balance').count()).toBe(0);
    // And come back together.
    await enter(page, await links.next());
    await other.locator('.balance').waitFor();
  });

  it('show nothing of the previous user to the next one', async () => {
    const other = await openTab('/keys');
    await signInAs(owner.context, 'viewer');
    await other.evaluate(() => localStorage.setItem('console.session.change', 'by the test'));
    await owner.page.evaluate(() => localStorage.setItem('console.session.change', 'by the test again'));
    await other.getByText('Your role cannot open this page.').waitFor();
    expect(await other.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
  });

  it('forget what was typed into the playground when the user signs out, and when another one follows', async () => {
    const { page } = owner;
    const typed = async (text: string): Promise<void> => {
      await show('/playground?model=vendor-5');
      await page.getByLabel('Input').fill(text);
      await page.reload();
      await loaded(page);
      expect(await page.getByLabel('Input').inputValue()).toBe(text);
    };
    await typed('of the first one');
    await signOut(page);
    const kept = (): Promise<string> => page.evaluate(() => JSON.stringify(Object.entries(sessionStorage)));
    expect(await kept()).not.toContain('of the first one');
    await enter(page, await links.next());
    await typed('of the second one');
    await endSessions();
    await signInAs(owner.context, 'developer');
    await show('/playground?model=vendor-5');
    expect(await page.getByLabel('Input').inputValue()).toBe('');
    expect(await kept()).not.toContain('of the second one');
  });

  it('send only changed fields, so that none reverts the changes of another', async () => {
    const client = consoleClient(gateway);
    client.cookie = await cookieOf(owner.context);
    const { key } = (await client.call('POST /keys', { name: 'shared' })).body;
    const edit = async (page: Page, label: string, value: string): Promise<() => Promise<void>> => {
      await page.getByRole('button', { name: 'Edit' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('summary').click();
      await dialog.getByLabel(label, { exact: true }).fill(value);
      return async () => {
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.waitFor({ state: 'detached' });
      };
    };
    await show(`/keys/${key.id}`);
    const other = await openTab(`/keys/${key.id}`);
    const saveQuota = await edit(owner.page, 'Quota', '12');
    const saveTasks = await edit(other, 'Tasks at once', '3');
    await saveQuota();
    await saveTasks();
    const after = (await client.call('GET /keys/:key_id', {}, `/keys/${key.id}`)).body;
    expect([Number(after.quota), after.max_running_tasks]).toEqual([12, 3]);
  });

  it('focus the field that the server refused, also where it was collapsed', async () => {
    const { page } = owner;
    await show('/keys?create=true');
    const dialog = page.getByRole('dialog');
    await dialog.locator('input').first().fill('refused');
    await dialog.locator('summary').click();
    await dialog.getByLabel('Addresses').fill('not an address');
    await dialog.locator('summary').click();
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.locator('textarea[aria-invalid=true]').waitFor();
    expect(await eventually(() => page.evaluate(() => document.activeElement?.matches('textarea')))).toBe(true);
  });

  it('ask nothing while they are hidden, and continue when they are seen', async () => {
    const { page, requests, context } = owner;
    await page.clock.install();
    await context.addInitScript(() => {
      let state: DocumentVisibilityState = 'visible';
      Object.defineProperty(document, 'visibilityState', { get: () => state });
      Object.assign(globalThis, {
        turn: (next: DocumentVisibilityState) => {
          state = next;
          document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
        },
      });
    });
    await gateway.submit('/v1/images/generations', {
      model: 'eta-image-2.0',
      prompt: '[sandbox:hang] waits',
      size: '1:1',
      resolution: '1K',
    });
    const turn = (state: string) =>
      page.evaluate((next) => (globalThis as unknown as { turn: (state: string) => void }).turn(next), state);
    await show('/tasks');
    await page.clock.runFor(1_000);
    expect(await eventually(() => requests.some((each) => each.includes('/tasks/events')))).toBe(true);
    await turn('hidden');
    await page.clock.runFor(1_000);
    requests.length = 0;
    await page.clock.runFor(2 * MINUTE_MS);
    expect(requests).toEqual([]);
    await turn('visible');
    await page.clock.runFor(1_000);
    expect(await eventually(() => requests.filter((each) => each.includes('/tasks/events')).length === 1)).toBe(true);
    await page.clock.runFor(MINUTE_MS);
    await eventually(() => requests.includes('GET /billing'));
  });

  it('load a video of the gallery when it comes near, paint its first image, and download the bytes as stored', async () => {
    const { page } = owner;
    const ids = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(await gateway.submit('/v1/videos/generations', { ...VIDEO, prompt: `waves ${count}` }));
    }
    for (const id of ids) await gateway.waitForTask(id);
    await page.setViewportSize({ width: 390, height: 300 });
    await show('/tasks?type=video');
    const videos = page.locator('.gallery video');
    expect(await videos.count()).toBe(3);
    expect(await page.locator('.gallery video[src]').count()).toBeLessThan(3);
    const last = videos.last();
    await last.scrollIntoViewIfNeeded();
    expect(await eventually(() => last.evaluate((video: HTMLVideoElement) => video.readyState >= 2))).toBe(true);
    expect(await last.evaluate((video: HTMLVideoElement) => [video.paused, video.src.endsWith('#t=0.1')])).toEqual([
      true,
      true,
    ]);

    await show(`/tasks/${ids[0]}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download').click()]);
    const bytes = await readFile(await download.path());
    const { rows } = await gateway.database.query<{ sha256: string }>({
      text: 'select sha256 from task_file where task_id = $1',
      values: [ids[0]],
    });
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(rows[0]?.sha256);
  });

  it('are walked by the keyboard in the order in which they are read', async () => {
    const { page } = owner;
    await show('/keys');
    const menu = [
      'Overview',
      'Playground',
      'Tasks',
      'Models',
      'Usage',
      'Agent sessions',
      'Billing',
      'Keys',
      'Webhooks',
      'Prompt log',
      'Account',
    ];
    const operators = [
      'Health',
      'Accounts',
      'People',
      'Prices',
      'Upstreams',
      'Costs and margins',
      'All tasks',
      'Deliveries',
      'Workers',
      'All agent sessions',
      'Reconciliation',
    ];
    const stops = await tabStops(page, 32);
    expect(stops.map((stop) => stop.replace(/^\$\s*[\d.,]*\s*/, '$ '))).toEqual([
      'Skip to the content',
      'Generation gateway',
      ...menu,
      ...operators,
      'Audit',
      'Queues',
      'Search or paste an id/',
      '$ available',
      'You',
      'Create a key',
      'Keys',
      'Columns',
    ]);
    await signOut(page);
    await page.getByLabel('Password').waitFor();
    expect(await tabStops(page, 4)).toEqual(['E-mail', 'Password', 'With an API key', 'As an operator']);
  });

  /** Puts the cookie of a person with a role into the browser, as a sign-in in another tab does. */
  const signInAs = async (context: BrowserContext, role: 'viewer' | 'developer'): Promise<void> => {
    const operator = consoleClient(gateway);
    await operator.call('POST /sign-in/operator', { token: ADMIN_TOKEN });
    const { link } = (await operator.call('POST /admin/people/invitations', { account_id: gateway.accountId, role }))
      .body;
    const code = new URL(link).hash.replace('#invitation=', '');
    const person = consoleClient(gateway);
    const email = `${role}@example.com`;
    await person.call('POST /sign-in/invitation', { code, name: role, email, password: 'correct horse battery' });
    const [name = '', value = ''] = person.cookie.split('=');
    await context.clearCookies();
    await context.addCookies([{ name, value, domain: '127.0.0.1', path: '/console', httpOnly: true }]);
  };
});

const cookieOf = async (context: BrowserContext): Promise<string> =>
  (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');

/** What the keyboard stops at from the top of the page on, by its name. */
async function tabStops(page: Page, count: number): Promise<string[]> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const stops: string[] = [];
  for (let stop = 0; stop < count; stop += 1) {
    await page.keyboard.press('Tab');
    stops.push(
      await page.evaluate(() => {
        const at = document.activeElement;
        const label = at instanceof HTMLInputElement ? at.labels?.[0]?.textContent : at?.getAttribute('aria-label');
        return (label ?? at?.textContent ?? '').trim();
      }),
    );
  }
  return stops;
}
