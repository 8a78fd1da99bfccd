import type { Browser, BrowserContext, Route } from 'playwright-core';
import { describeWithBrowser, eventually, quickestOf } from '#testing';
import { consoleClient } from '../../../../tests/harness/console-client.js';
import { type ConsoleLinks, consoleLinks } from '../../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { heapAfterPages, keyToPaintMs, largestPaintMs, walk } from './bars.js';
import { hostile } from './hostile-answers.js';
import {
  answerLastFirst,
  bareSentences,
  detailPages,
  dress,
  englishSentences,
  enter,
  expectNoComplaint,
  loaded,
  openConsole,
  overhang,
  pagesOf,
  prefer,
  refusal,
  settled,
  shiftOf,
  watchShifts,
  type Watched,
  WIDTHS,
  wrongLooks,
} from '../open-console.js';
import { partsOf, readOn, stateOf } from './page-state.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
/** The most that a page may move after it was painted, as browsers count it. */
const MOST_SHIFT = 0.02;
/** After this time what a page shows is said to be old. */
const STALE_MS = 90_000;
/** Of a test that opens every page: some twenty seconds where nothing else runs, and as a slow machine takes many times longer. */
const LONG_MS = 900_000;

describeWithBrowser('Every page of the console, in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let links: ConsoleLinks;
  let browser: Browser;
  /** The cookies of an owner who is signed in. */
  let signedIn: Awaited<ReturnType<BrowserContext['storageState']>>;
  /** The owner in a browser of each test's own: a test that is late or fails disturbs no other. */
  let owner: Watched;
  let pages: string[];
  /** Of single things; looked at, and not walked through. */
  let details: string[];

  beforeAll(async () => {
    [browser, gateway] = await Promise.all([
      startBrowser(),
      startTestGateway({ environment: { ADMIN_TOKEN: 'admin-token-for-tests' } }),
    ]);
    links = await consoleLinks(gateway);
    const first = await openConsole(browser, gateway.baseUrl);
    const submit = (prompt: string) => gateway.submit('/v1/images/generations', { ...IMAGE, prompt });
    const [made, failed] = await Promise.all([submit('a lighthouse'), submit('[sandbox:fail=content_policy] no')]);
    await Promise.all([gateway.waitForTask(made), gateway.waitForTask(failed)]);
    await enter(first.page, await links.next());
    signedIn = await first.context.storageState();
    await first.context.close();
    pages = pagesOf(gateway.accountId, made, failed);
    const client = consoleClient(gateway);
    client.cookie = signedIn.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    details = await detailPages(client);
  });
  afterAll(async () => {
    await browser.close();
    await links.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    owner = await openConsole(browser, gateway.baseUrl, { storageState: signedIn });
    await show('/');
  });
  afterEach(async () => {
    // What a page still asks for is nobody's any more.
    await owner.page.unrouteAll({ behavior: 'ignoreErrors' });
    await owner.context.close();
    expectNoComplaint(owner);
  });

  const show = async (path: string): Promise<void> => {
    await owner.page.goto(`${gateway.baseUrl}/console${path}`);
    await loaded(owner.page);
  };
  /** Answers every request of a page except for the session. */
  const answering = (answer: (route: Route) => Promise<void>) =>
    owner.page.route('**/console/api/**', (route) =>
      route.request().url().endsWith('/api/session') ? route.fallback() : answer(route),
    );

  // Between them every page is looked at in every theme and width, and in both languages.
  it.each([
    ['en', ['dark narrow', 'light wide']],
    ['zh', ['dark wide', 'light narrow']],
  ] as const)(
    'is accessible, as wide as the screen and at rest while it loads, in %s: %j',
    async (language, [...looks]) => {
      const { page } = owner;
      await prefer(page, { language });
      await watchShifts(page);
      await answerLastFirst(page);
      const wrong: string[] = [];
      for (const path of [...pages, ...details, '/sign-in', '/nowhere']) {
        // In the look that the page before was left in, which is looked at first.
        await show(path);
        looks.reverse();
        const shift = await shiftOf(page);
        if (shift > MOST_SHIFT) wrong.push(`${path} moves by ${shift.toFixed(3)} in ${language}`);
        if (language === 'zh')
          wrong.push(...(await englishSentences(page)).map((text) => `${path} says in English: ${text}`));
        const found = await wrongLooks(page, looks, { isWhole: (look) => look === 'light wide' });
        wrong.push(...found.map((each) => `${path} ${each}`));
      }
      expect(wrong).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'shows an error in place of the missing part, and keeps its heading and its menu',
    async () => {
      const { page } = owner;
      await dress(page, 'dark', WIDTHS.narrow);
      await answering((route) => route.fulfill(refusal(500, 'internal_error', 'req_of_the_test')));
      const wrong: string[] = [];
      for (const path of [...pages, ...details]) {
        await page.goto(`${gateway.baseUrl}/console${path}`);
        await page.locator('main [role=alert]').first().waitFor();
        if ((await page.locator('nav a').count()) === 0) wrong.push(`${path} has no menu`);
        if ((await page.locator('main h1').count()) !== 1) wrong.push(`${path} has no heading`);
        if ((await overhang(page)) > 0) wrong.push(`${path} reaches beyond the screen`);
      }
      expect(wrong).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'explains an empty list',
    async () => {
      const { page } = owner;
      await answering(async (route) => {
        const answer = await route.fetch();
        const body = (await answer.json()) as { items?: unknown };
        if (!Array.isArray(body.items)) return route.fulfill({ response: answer });
        return route.fulfill({ json: { ...body, items: [], next_cursor: null } });
      });
      const lists = pages.filter((path) => !/\/(task_|acct_|beta)|^\/$|\/account$/.test(path));
      const bare: string[] = [];
      for (const path of lists) {
        await show(path);
        if ((await page.locator('main .empty, main .notice').count()) === 0) bare.push(path);
      }
      expect(bare).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'stays as wide as the screen, and runs nothing, whatever names, prompts, ids and messages hold',
    async () => {
      const { page } = owner;
      await dress(page, 'light', WIDTHS.narrow);
      await answering(async (route) => {
        const answer = await route.fetch();
        return route.fulfill({ response: answer, json: hostile(await answer.json()) });
      });
      const wrong: string[] = [];
      // Tables scroll in themselves; these show such texts outside of them too.
      const exposed = pages.filter((each) => /\/(task_|acct_|beta)|^\/(playground|tasks|account|keys)?$/.test(each));
      for (const path of [...exposed, ...details]) {
        await show(path);
        if ((await overhang(page)) > 0) wrong.push(`${path} reaches beyond the screen`);
        if ((await page.locator('img[src=x]').count()) > 0) wrong.push(`${path} takes text for a page`);
      }
      expect(wrong).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'keeps what was read, and says how old it is, when it cannot be read again',
    async () => {
      const { page } = owner;
      await dress(page, 'dark', WIDTHS.narrow);
      await page.clock.install();
      const wrong: string[] = [];
      for (const path of [...pages, ...details]) {
        await show(path);
        const before = await partsOf(page);
        await page.route('**/console/api/**', (route) =>
          route.fulfill(refusal(500, 'internal_error', 'req_of_the_test')),
        );
        await page.clock.fastForward(STALE_MS);
        await page.locator('main .stale').first().waitFor();
        if ((await partsOf(page)) !== before) wrong.push(`${path} shows ${await partsOf(page)}, not ${before}`);
        if ((await overhang(page)) > 0) wrong.push(`${path} reaches beyond the screen`);
        await page.unroute('**/console/api/**');
      }
      // What says so is the same on every page.
      wrong.push(...(await wrongLooks(page, ['dark narrow', 'light wide'], { isWhole: () => true })));
      expect(wrong).toEqual([]);
    },
    LONG_MS,
  );

  it('takes every sentence from the messages', async () => {
    const { page } = owner;
    await prefer(page, { pseudo: 'true' });
    for (const path of [
      '/',
      '/playground',
      '/usage',
      '/billing',
      '/keys',
      '/webhooks',
      '/account',
      '/admin/margins',
      '/admin/prices/lists',
      '/admin/prices/simulation',
      '/prompt-log',
    ]) {
      await show(path);
      expect([path, await bareSentences(page)]).toEqual([path, []]);
    }
  });

  it(
    'keeps what was there when its reader goes back, goes forward and loads it again',
    async () => {
      const { page } = owner;
      await gateway.database.query({
        text: `insert into audit_record (id, actor, action, subject_type, subject_id, request_id, created_at)
          select 'aud_' || n, 'test', 'key.created', 'api_key', 'key_' || n, 'req_' || n, now() - n * interval '1 minute'
          from generate_series(1, 130) n`,
      });
      const chosen: Readonly<Record<string, string>> = {
        '/tasks': '?status=completed&type=image&view=table&text=light',
        '/usage': '?by=model&from=2026-01-01&records=true',
        '/models': '?kind=image&name=eta',
        '/keys': '?create=true',
        '/playground': '?model=eta-image-2.0&prompt=typed+before&size=1%3A1',
        '/admin/accounts': '?name=First',
        '/admin/prices': '?model=eta&history=true',
        '/admin/tasks': '?status=failed&model=eta-image-2.0',
        '/admin/margins': '?by=model&from=2026-01-01',
        '/admin/audit': '',
      };
      const wrong: string[] = [];
      for (const path of pages.filter((each) => !each.includes('?'))) {
        await show(`${path}${chosen[path] ?? ''}`);
        await settled(owner);
        if (path === '/admin/audit') await readOn(page);
        // By hand, as a reader does: the page may still be on its way to where it was.
        await page.evaluate(() => {
          dispatchEvent(new WheelEvent('wheel'));
          scrollTo(0, 240);
        });
        const before = await stateOf(page);
        const expectKept = async (after: string): Promise<void> => {
          await settled(owner);
          let found = await stateOf(page);
          // What has to be read first takes its place again when it is there.
          await eventually(async () => (found = await stateOf(page)) === before, { limitMs: 60_000 }).catch(
            () => false,
          );
          if (found !== before) wrong.push(`${path} after ${after}: ${found}, not ${before}`);
        };
        const elsewhere = path === '/webhooks' ? '/billing' : '/webhooks';
        await page.evaluate(
          (to) => document.querySelector<HTMLElement>(`nav a[href="/console${to}"]`)?.click(),
          elsewhere,
        );
        await page.waitForURL((url) => url.pathname === `/console${elsewhere}`);
        await loaded(page);
        await page.goBack();
        await page.waitForURL((url) => url.pathname === `/console${path}`);
        await expectKept('going back');
        await page.reload();
        await expectKept('loading it again');
        await page.goForward();
        await page.waitForURL((url) => url.pathname === `/console${elsewhere}`);
        await page.goBack();
        await page.waitForURL((url) => url.pathname === `/console${path}`);
        await expectKept('going forward and back');
      }
      expect(wrong).toEqual([]);
    },
    LONG_MS,
  );

  it('shows its largest part within 2.5 s over a slow connection', async () => {
    expect(await quickestOf(2_500, () => largestPaintMs(owner, `${gateway.baseUrl}/console/`))).toBeLessThan(2_500);
  });

  it('paints a pressed key within 100 ms', async () => {
    await show('/playground?model=eta-image-2.0');
    const prompt = owner.page.getByLabel('Prompt').first();
    expect(await quickestOf(100, () => keyToPaintMs(owner.page, prompt))).toBeLessThanOrEqual(100);
  });

  it('paints a pressed key within 100 ms over a table of 500 rows', async () => {
    let row: object | undefined;
    await answering(async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { items?: object[] };
      if (!route.request().url().includes('/api/tasks?') || !body.items) return route.fulfill({ response: answer });
      // What is asked for once the key is in the field finds nothing.
      row ??= body.items[0];
      const items = Array.from({ length: 500 }, (_, index) => ({ ...row, task_id: `task_${index}` }));
      return route.fulfill({ json: { ...body, items } });
    });
    await show('/tasks?view=table');
    const { page } = owner;
    expect(await page.locator('main tbody tr').count()).toBe(500);
    const field = page.getByLabel('Prompt contains');
    expect(await quickestOf(100, () => keyToPaintMs(page, field))).toBeLessThanOrEqual(100);
  });

  it(
    'uses after 200 pages at most a third more memory than after the first 20',
    async () => {
      await show('/');
      // The first round of the menu loads the code of the pages, which stays.
      await walk(owner.page, 20);
      const [early, late] = await heapAfterPages(owner, 20, 200);
      expect(late / early).toBeLessThan(1.3);
    },
    LONG_MS,
  );
});
