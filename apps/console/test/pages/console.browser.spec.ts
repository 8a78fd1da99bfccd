import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, eventually } from '#testing';
import { type ConsoleLinks, consoleLinks } from '../../../../tests/harness/console-link.js';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { refusal, enter, loaded, openConsole, playedWidth, tabTo, violations, type Watched } from '../open-console.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
/** What hostile people would write if a page believed them. */
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>'&quot;`;

describeWithBrowser('The console in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let links: ConsoleLinks;
  let browser: Browser;
  let owner: Watched;
  let taskId: string;
  let failedTaskId: string;

  beforeAll(async () => {
    [browser, gateway] = await Promise.all([
      startBrowser(),
      startTestGateway({ environment: { ADMIN_TOKEN: 'admin-token-for-tests' } }),
    ]);
    links = await consoleLinks(gateway);
    owner = await openConsole(browser, gateway.baseUrl);
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
  const countTasks = async (): Promise<number> => {
    const { rows } = await gateway.database.query<{ count: string }>({ text: 'select count(*) from task', values: [] });
    return Number(rows[0]?.count);
  };

  it('can be used by the keyboard alone from the printed link to a video, its price, a key and a working example', async () => {
    const { page } = owner;
    await enter(page, await links.next());
    await tabTo(page, 'a[href="/console/playground"]');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/playground/);
    await tabTo(page, 'textarea');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('waves against a lighthouse');
    const button = page.locator('button.run:not([aria-disabled=true])');
    await button.filter({ hasText: /\$/ }).waitFor();
    const price = (await button.locator('.money').textContent()) ?? '';
    await tabTo(page, 'button.run');
    await page.keyboard.press('Enter');
    const video = page.locator('video');
    await video.waitFor();
    expect(await page.locator('[data-testid=charge] .money').textContent()).toBe(price);
    expect(await playedWidth(video)).toBeGreaterThan(0);

    await tabTo(page, 'a[href="/console/keys"]', 200);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create a key' }).waitFor();
    await tabTo(page, 'main .page-head button');
    await page.keyboard.press('Enter');
    await page.locator('dialog input:focus').first().waitFor();
    await page.keyboard.type('by keyboard');
    await page.keyboard.press('Enter');
    const secret = page.locator('[data-testid=secret]');
    await secret.waitFor();
    const key = (await secret.textContent()) ?? '';
    const line = (await page.locator('dialog pre').textContent()) ?? '';
    const [, url = ''] = /(http\S+)/.exec(line) ?? [];
    expect((await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    await tabTo(page, 'dialog input[type=checkbox]');
    await page.keyboard.press('Space');
    await tabTo(page, 'dialog .button.primary');
    await page.keyboard.press('Enter');
    await secret.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'by keyboard' }).waitFor();

    const kept = await page.evaluate(() =>
      JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        history.state,
        document.documentElement.outerHTML,
      ]),
    );
    expect(kept).not.toContain(key);
  });

  it('gives a window the focus also where the browser refuses that before it is painted', async () => {
    const page = await owner.context.newPage();
    // As a busy Chromium does, here for more than a second.
    await page.addInitScript(() => {
      const paint = (left: number): void => {
        isPainted = left === 0;
        if (!isPainted) requestAnimationFrame(() => paint(left - 1));
      };
      const showModal = Reflect.get(HTMLDialogElement.prototype, 'showModal');
      const focus = Reflect.get(HTMLElement.prototype, 'focus');
      let isPainted = true;
      HTMLDialogElement.prototype.showModal = function () {
        showModal.call(this);
        (document.activeElement as HTMLElement).blur();
        paint(80);
      };
      HTMLElement.prototype.focus = function (options) {
        if (isPainted) focus.call(this, options);
      };
    });
    await show('/keys?create=true', page);
    const focused = page.locator('dialog input:focus');
    await focused.waitFor();
    expect(await focused.getAttribute('maxlength')).toBe('100');
    await page.close();
  });

  it('accepts a link once, and says so the second time', async () => {
    const link = await links.next();
    const first = await openConsole(browser, gateway.baseUrl);
    await enter(first.page, link);
    expect(first.page.url()).not.toContain('code=');
    const second = await openConsole(browser, gateway.baseUrl);
    await second.page.goto(link);
    await second.page.getByText('This link no longer works.').waitFor();
    await Promise.all([first.context.close(), second.context.close()]);
  });

  it('gives the session of a key what the key may do, and returns to the page that was requested', async () => {
    const holder = await openConsole(browser, gateway.baseUrl);
    await holder.page.goto(`${gateway.baseUrl}/console/usage?by=model`);
    await holder.page.waitForURL(/sign-in\?to=/);
    const field = holder.page.getByLabel('API key', { exact: true });
    await field.or(holder.page.getByText('With an API key')).first().waitFor();
    if (!(await field.isVisible())) await holder.page.getByText('With an API key').click();
    await field.fill(TEST_KEY);
    await holder.page.keyboard.press('Enter');
    await holder.page.waitForURL(/\/usage\?by=model/);
    await loaded(holder.page);
    expect(await holder.page.getByRole('link', { name: 'Keys', exact: true }).count()).toBe(0);
    await holder.context.close();
  });

  it('sends one request for a click, a double click and a click after a reload', async () => {
    const { page } = owner;
    await show('/playground?model=eta-image-2.0');
    await page.getByLabel('Prompt').first().fill('once only');
    const button = page.locator('button.run:not([aria-disabled=true])').filter({ hasText: /\$/ });
    await button.waitFor();
    const before = await countTasks();
    // The answer is lost on its way: the server has the task, and the page does not know.
    await page.route('**/console/api/runs', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button.click();
    await page.getByText('Check your tasks before you try again').waitFor();
    await page.unroute('**/console/api/runs');
    await page.reload();
    await button.waitFor();
    await button.dblclick();
    await page.locator('.result-media img').waitFor();
    expect(await countTasks()).toBe(before + 1);
  });

  it('charges a text once whose answer was lost, however often its reader clicks before it is answered', async () => {
    const { page } = owner;
    await show('/playground?model=vendor-5');
    await page.getByLabel('Input').fill('lost on its way');
    const charged = async (): Promise<number> =>
      (await gateway.database.query({ text: `select 1 from usage_record where model = 'vendor-5'` })).rows.length;
    const before = await charged();
    await page.route('**/console/api/text/responses', async (route) => {
      await route.fetch();
      await route.abort();
    });
    const run = page.locator('button.run:not([aria-disabled=true])');
    await run.click();
    await page.getByText('Check your tasks before you try again').waitFor();
    await eventually(async () => (await charged()) === before + 1);
    await page.unroute('**/console/api/text/responses');
    await page.reload();
    await run.click();
    await page.locator('main [role=alert]').waitFor();
    expect(await charged()).toBe(before + 1);
    // That was its answer: the next click is another run.
    await run.click();
    await eventually(async () => (await charged()) === before + 2);
  });

  it('shows what an upstream reports in the middle of a text, and keeps what was typed over a reload', async () => {
    const { page } = owner;
    await show('/playground?model=vendor-5');
    await page.getByLabel('Input').fill('stays as it is');
    const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded in the middle' } };
    const body = `event: error\ndata: ${JSON.stringify(event)}\n\n`;
    await page.route('**/console/api/text/responses', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body }),
    );
    await page.locator('button.run:not([aria-disabled=true])').click();
    await page.locator('main [role=alert]').getByText('Overloaded in the middle').waitFor();
    await page.unroute('**/console/api/text/responses');
    await page.reload();
    await loaded(page);
    expect(await page.getByLabel('Input').inputValue()).toBe('stays as it is');
  });

  it('shows the error of a combination at its field, until it is fixed', async () => {
    const { page } = owner;
    await show('/playground?model=epsilon-2.3&resolution=1080p&duration=10');
    await page.locator('.field-error').first().waitFor();
    expect(await page.locator('button.run').getAttribute('aria-disabled')).toBe('true');
    await page.locator('label', { hasText: /^6$/ }).click();
    await page.locator('button.run:not([aria-disabled=true])').waitFor();
    expect(await page.locator('.field-error').count()).toBe(0);
  });

  it('keeps a number as it is typed, and names the range while it is outside', async () => {
    const { page } = owner;
    await show('/playground?model=alpha-2.0');
    const seconds = page.getByLabel(/^Duration/);
    await seconds.fill('');
    await seconds.pressSequentially('1');
    expect(await seconds.inputValue()).toBe('1');
    await page.locator('.field-error', { hasText: '4 to 15' }).waitFor();
    expect(await page.locator('button.run').getAttribute('aria-disabled')).toBe('true');
    await seconds.pressSequentially('2');
    expect(await seconds.inputValue()).toBe('12');
  });

  it('sends an image of this machine in the request, and at a link where a model takes links alone', async () => {
    const { page } = owner;
    await show('/playground?model=beta-2.5-preview');
    const image = { name: 'frame.png', mimeType: 'image/png', buffer: await page.screenshot() };
    await page.locator('input[type=file][accept*=image]').setInputFiles(image);
    await page.locator('.inline-file img').waitFor();
    const asked = page.waitForRequest((request) => request.url().endsWith('/console/api/runs'));
    await page.locator('button.run:not([aria-disabled=true])').click();
    const inline = `data:image/png;base64,${image.buffer.toString('base64')}`;
    expect((await asked).postDataJSON()).toMatchObject({ image_urls: [inline] });
    await page.locator('video').waitFor();
    await page.locator('.inline-file button').click();
    expect(await page.locator('.inline-file').count()).toBe(0);
    await show('/playground?model=alpha-2.0');
    await page.locator('input[type=file]').first().setInputFiles(image);
    const link = page.locator('.field:has(input[type=file])').first().locator('textarea, input[type=text]');
    await eventually(async () => (await link.inputValue()).startsWith(`${gateway.baseUrl}/files/`));
  });

  it('keeps filters, drawer and view over reload and back, and reports unknown values', async () => {
    const { page } = owner;
    taskId = await gateway.submit(IMAGES, { ...IMAGE, prompt: HOSTILE });
    failedTaskId = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:fail=content_policy] no' });
    await Promise.all([gateway.waitForTask(taskId), gateway.waitForTask(failedTaskId)]);
    await show('/tasks?view=table&status=failed&colour=blue');
    await page.getByText('This page does not know colour=blue').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.locator('tbody tr').click();
    await page.locator('dialog[open]').waitFor();
    await page.reload();
    await page.locator('dialog[open]').getByText('The vendor refused the content').first().waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('status')).toBe('failed');
  });

  it('shows hostile text as text', async () => {
    const { page } = owner;
    await show(`/tasks/${taskId}`);
    expect(await page.locator('.task-prompt').textContent()).toBe(HOSTILE);
    await show('/tasks');
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(owner.complaints).toEqual([]);
  });

  it('says what failed, keeps the rest of the page, and tries again', async () => {
    const { page } = owner;
    await page.route('**/console/api/billing', (route) =>
      route.fulfill(refusal(500, 'internal_error', 'req_of_the_test')),
    );
    await page.goto(`${gateway.baseUrl}/console/billing`);
    await page.getByText('req_of_the_test').waitFor();
    await page.getByRole('region', { name: 'Ledger' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.unroute('**/console/api/billing');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Spent so far').waitFor();
  });

  it('shows what an empty account can do, and an error when the gateway is unavailable', async () => {
    const { page } = owner;
    await page.route('**/console/api/tasks?*', (route) => route.fulfill({ json: { items: [], next_cursor: null } }));
    await show('/tasks');
    await page.getByRole('link', { name: 'Make one' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.unroute('**/console/api/tasks?*');
    await page.route('**/console/api/keys', (route) => route.abort());
    await page.goto(`${gateway.baseUrl}/console/keys`);
    await page.getByText('The gateway could not be reached').waitFor();
    await page.unroute('**/console/api/keys');
  });

  it('asks for a reload when the gateway is newer, and keeps what was typed', async () => {
    const { page } = owner;
    await show('/playground?model=eta-image-2.0');
    await page.getByLabel('Prompt').first().fill('half-written');
    await page.route('**/console/api/quote', (route) => route.fulfill(refusal(409, 'reload_required', 'req_1')));
    await page.getByLabel('Prompt').first().fill('half-written words');
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await page.unroute('**/console/api/quote');
    await page.getByRole('button', { name: 'Reload' }).click();
    const prompt = page.getByLabel('Prompt').first();
    expect(await eventually(async () => (await prompt.inputValue()) === 'half-written words')).toBe(true);
  });

  it('reads a page of a list with one request, and holds no stream while nothing is open', async () => {
    const { page, requests } = owner;
    await show('/');
    requests.length = 0;
    const listed = page.waitForResponse((response) => response.url().includes('/webhooks/deliveries'));
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await listed;
    await loaded(page);
    expect(requests.filter((request) => request.startsWith('GET /webhooks/deliveries'))).toHaveLength(1);
    expect(requests.filter((request) => request.includes('/tasks/events'))).toEqual([]);
  });

  it('ends the session on the server at sign-out', async () => {
    const { page, context } = owner;
    await show('/');
    await page.getByRole('button', { name: 'You' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/sign-in/);
    const answer = await context.request.get(`${gateway.baseUrl}/console/api/session`);
    expect(answer.status()).toBe(401);
  });
});
