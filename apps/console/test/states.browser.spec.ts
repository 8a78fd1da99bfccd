import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser } from '#testing';
import { consoleLinks } from '../../gateway/src/testing/console-link.js';
import { startTestGateway, type TestGateway } from '../../gateway/src/testing/test-gateway.js';
import {
  dress,
  enter,
  expectNoComplaint,
  openConsole,
  overhang,
  refusal,
  violations,
  type Watched,
} from './open-console.js';

/** Every page of a list, and the route that it reads the list from. */
const LISTS: readonly (readonly [path: string, route: string])[] = [
  ['/tasks', '/tasks'],
  ['/tasks?view=table', '/tasks'],
  ['/usage', '/usage'],
  ['/billing', '/billing/entries'],
  ['/keys', '/keys'],
  ['/webhooks', '/webhooks/deliveries'],
  ['/models', '/models'],
  ['/admin/accounts', '/admin/accounts'],
  ['/admin/people', '/admin/people'],
  ['/admin/prices', '/admin/prices'],
  ['/admin/upstreams', '/admin/upstreams'],
  ['/admin/tasks', '/admin/tasks'],
  ['/admin/reconciliation', '/admin/reconciliations'],
  ['/admin/audit', '/admin/audit'],
];
/** What a list answers that has nothing; the sums of usage stand beside it. */
const NOTHING = {
  items: [],
  next_cursor: null,
  key_names: {},
  from: '2026-10-25',
  to: '2026-11-23',
  owed: '0.000000',
  total: { requests: 0, failed_requests: 0, amount: '0.000000', quantity: 0, input_tokens: 0, output_tokens: 0 },
};

describeWithBrowser('The states of every page of the console, in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let browser: Browser;
  let owner: Watched;
  beforeAll(async () => {
    [browser, gateway] = await Promise.all([startBrowser(), startTestGateway({ workers: false })]);
    const links = await consoleLinks(gateway);
    owner = await openConsole(browser, gateway.baseUrl);
    await enter(owner.page, await links.next());
    await links.close();
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });
  afterEach(async () => {
    await owner.page.unrouteAll({ behavior: 'ignoreErrors' });
    expectNoComplaint(owner);
  });

  const open = (path: string) => owner.page.goto(`${gateway.baseUrl}/console${path}`);
  const isRead = (route: string) => (url: URL) => url.pathname === `/console/api${route}`;
  /** What is wrong with how the page looks, on a wide bright screen and a narrow dark one. */
  const faults = async (page: Page): Promise<string[]> => {
    const found = await violations(page);
    await dress(page, 'dark', 390);
    found.push(...(await violations(page, { looksOnly: true })));
    if ((await overhang(page)) > 0) found.push('it reaches beyond a narrow screen');
    await dress(page, 'light', 1280);
    return found;
  };

  it.each(LISTS)('%s asks for its list once, and for nothing that it does not show', async (path, route) => {
    const { page, requests } = owner;
    await open('/account');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    requests.length = 0;
    await open(path);
    await page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.skeleton, .dimmed'));
    expect(requests.filter((request) => request === `GET ${route}`)).toHaveLength(1);
    expect(new Set(requests).size).toBe(requests.length);
    expect(requests.length).toBeLessThanOrEqual(4);
  });

  it.each(LISTS)('%s says what failed and by which id, and comes back when it is tried again', async (path, route) => {
    const { page } = owner;
    await page.route(isRead(route), (each) => each.fulfill(refusal(500, 'internal_error', 'req_of_the_test')));
    await open(path);
    await page.getByText('req_of_the_test').first().waitFor();
    expect(await faults(page)).toEqual([]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('req_of_the_test').waitFor({ state: 'detached' });
  });

  it.each(LISTS)(
    '%s keeps the place of what is still coming, and says what would be there when it is empty',
    async (path, route) => {
      const { page } = owner;
      let answer: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => (answer = resolve));
      await page.route(isRead(route), async (each) => {
        await asked;
        await each.fulfill({ json: NOTHING });
      });
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'attached' });
      answer();
      await page.locator('.empty').first().waitFor();
      expect((await page.locator('.empty').first().innerText()).length).toBeGreaterThan(10);
      expect(await faults(page)).toEqual([]);
    },
  );

  it('says that the gateway is away', async () => {
    const { page } = owner;
    await open('/keys');
    await page.getByRole('region', { name: 'Keys' }).waitFor();
    await page.route(isRead('/keys'), (each) => each.abort());
    await page.reload();
    await page.getByText('The gateway could not be reached').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1);
  });
});
