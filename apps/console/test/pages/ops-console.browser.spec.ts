import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser } from '#testing';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const TOKENS = { admin: 'admin-token-for-tests', viewer: 'viewer-token-for-tests' } as const;
const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
/** What hostile customers and vendors would have said by a page that believes them. */
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>'&quot;\u202Egnp.exe`;
const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } } as const;

/** Text whose contrast with what is behind it is below 4.5, on the page as it is. Runs in the browser. */
const FAINT_TEXTS = `(() => {
  const channels = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = color.slice(0, 3).map((channel) => {
      const share = channel / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element) => {
    if (!element) return [255, 255, 255];
    const ground = channels(getComputedStyle(element).backgroundColor);
    return ground[3] === 0 ? groundOf(element.parentElement) : ground;
  };
  const holdsText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
  return [...document.querySelectorAll('body *')].flatMap((element) => {
    if (!holdsText(element) && element.tagName !== 'INPUT') return [];
    const text = luminance(channels(getComputedStyle(element).color));
    const ground = luminance(groundOf(element));
    const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    return contrast < 4.5 ? [element.tagName + ' ' + element.className + ': ' + contrast.toFixed(2)] : [];
  });
})()`;

describeWithBrowser('The console of operators in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let browser: Browser;
  let folder: string;
  let taskId: string;
  const complaints: string[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ops-screenshots-'));
    browser = await startBrowser();
    gateway = await startTestGateway({ environment: { ADMIN_TOKEN: TOKENS.admin, OPS_VIEWER_TOKEN: TOKENS.viewer } });
    taskId = await makeEverything();
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function signIn(
    role: keyof typeof TOKENS,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ viewport: SIZES.wide, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text());
    });
    page.on('dialog', (dialog) => {
      complaints.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${gateway.baseUrl}/ops/sign-in`);
    await page.fill('input[name=token]', TOKENS[role]);
    await Promise.all([page.waitForURL(/\/ops$/), page.click('main button')]);
    return { context, page };
  }

  async function makeTask(prompt = 'a lighthouse'): Promise<string> {
    const taskId = await gateway.submit(IMAGES, { ...IMAGE, prompt });
    await gateway.waitForTask(taskId);
    return taskId;
  }

  const run = (text: string, values: unknown[]) => gateway.database.query({ text, values });

  /** A task in each state, with whatever others may have put into it, and a delivery in each status. */
  async function makeEverything(): Promise<string> {
    const taskId = await makeTask();
    await run(
      `insert into task select (jsonb_populate_record(t, jsonb_build_object(
          'id', 'task_01ZZZZZZZZZZZZZZZZZZZZZZZ' || number, 'state', wanted, 'last_failure', $2::text, 'provider', $2::text,
          'model', $2::text, 'error_code', case when wanted = 'failed' then 'parked' end, 'error_message', $2::text,
          'operation', jsonb_build_object('id', $2::text), 'lease_owner', $2::text,
          'lease_until', case when wanted in ('queued', 'submitting', 'storing') then now() + interval '1 hour' end,
          'finished_at', case when wanted in ('completed', 'failed', 'cancelled') then now() end))).*
        from task t, unnest(array['queued', 'submitting', 'running', 'storing', 'completed', 'failed', 'cancelled'])
          with ordinality as states(wanted, number)
        where t.id = $1`,
      [taskId, HOSTILE],
    );
    await run(
      `insert into webhook_delivery (id, account_id, task_id, event_type, url, payload, state, finished_at, last_error)
        select 'msg_spec_' || state, $1, $2, 'task.' || state, 'https://hooks.example/' || state || $3, '{}', state, now(), $3
        from unnest(array['delivered', 'failed']) as state`,
      [gateway.accountId, taskId, HOSTILE],
    );
    await run(
      `insert into worker (id, role, version, host, pid, seen_at) values ($1, 'video-worker', '0.0.1', $1, 7, now() - interval '3 minutes')`,
      [HOSTILE],
    );
    return taskId;
  }

  it.each([
    ['wide', 'light'],
    ['wide', 'dark'],
    ['narrow', 'light'],
    ['narrow', 'dark'],
  ] as const)(
    'shows every page %s and %s: readable, as wide as the screen, and nothing in it runs',
    async (size, colorScheme) => {
      const paths = {
        overview: '/ops',
        tasks: '/ops/tasks',
        task: `/ops/tasks/${taskId}`,
        'hostile-task': '/ops/tasks/task_01ZZZZZZZZZZZZZZZZZZZZZZZ6',
        'no-such-task': '/ops/tasks/task_none',
        'wrong-filter': '/ops/tasks?task_id=%3Cscript%3E&state=none',
        deliveries: '/ops/deliveries',
        workers: '/ops/workers?all=true',
        'no-such-page': '/ops/nowhere',
        'sign-in': '/ops/sign-in',
      };
      const viewport = SIZES[size];
      const { context, page } = await signIn('admin', { colorScheme, viewport });
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(gateway.baseUrl + path);
        await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
        const image = join(folder, `${name}-${size}-${colorScheme}.png`);
        await page.screenshot({ path: image, fullPage: true });
        expect((await readFile(image)).byteLength).toBeGreaterThan(5_000);
        expect([name, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([
          name,
          viewport.width,
        ]);
        expect([name, await page.evaluate<string[]>(FAINT_TEXTS)]).toEqual([name, []]);
        expect(await page.locator('main script, main img').count()).toBe(0);
      }
      await context.close();
      expect(complaints).toEqual([]);
    },
  );

  it('gives each state a colour and a word of its own', async () => {
    const { context, page } = await signIn('viewer');
    await page.goto(`${gateway.baseUrl}/ops/tasks`);
    const marks = await page.evaluate<string[]>(
      `[...document.querySelectorAll('tbody .state')].map((one) => one.textContent + ' ' + getComputedStyle(one).backgroundColor)`,
    );
    const words = new Set(marks.map((mark) => mark.split(' ', 1)[0]));
    expect(words.size).toBe(7);
    expect(new Set(marks.map((mark) => mark.replace(/^\S+ /, ''))).size).toBe(7);
    await context.close();
  });

  it('shows where the keyboard is', async () => {
    const { context, page } = await signIn('viewer');
    await page.goto(`${gateway.baseUrl}/ops/tasks`);
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('Tab');
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect([step, outline]).not.toEqual([step, 'none']);
    }
    await context.close();
  });

  it('opens the queue board and returns, without errors of the board', async () => {
    const { context, page } = await signIn('admin');
    await page.goto(`${gateway.baseUrl}/ops`);
    await page.click('nav a[href="/ops/queues"]');
    await page.getByRole('link', { name: 'image' }).first().click();
    await page.getByText('Jobs that wake').first().waitFor();
    await page.screenshot({ path: join(folder, 'board.png') });
    await page.getByText('Operations overview').click();
    await page.waitForURL(`${gateway.baseUrl}/ops`);
    expect(await page.textContent('h1')).toBe('Overview');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('lets an admin refund, cancel, redrive and redeliver by its forms', async () => {
    const { context, page } = await signIn('admin');
    const open = async (path: string, form: string): Promise<void> => {
      await page.goto(gateway.baseUrl + path);
      await page.getByText(form, { exact: true }).first().click();
    };
    const done = await makeTask();
    await open(`/ops/tasks/${done}`, 'Refund');
    await page.fill('input[name=amount]', '0.01');
    await page.fill('input[name=reason]', `blurred ${HOSTILE}`);
    await page.fill('input[name=actor]', 'eve@example.com');
    await page.getByText('Give the money back').click();
    expect(await page.textContent('.notice')).toBe('The money was given back.');
    expect(await page.getByText('ledger.refund').count()).toBe(1);
    const { rows } = await gateway.database.query<{ actor: string; amount_micros: bigint }>({
      text: 'select actor, amount_micros from task_refund where task_id = $1',
      values: [done],
    });
    expect(rows).toEqual([{ actor: 'eve@example.com', amount_micros: 10_000n }]);

    await open(`/ops/tasks/${done}`, 'Refund');
    await page.fill('input[name=amount]', '5');
    await page.fill('input[name=reason]', 'too much');
    await page.getByText('Give the money back').click();
    expect(await page.textContent('.problem')).toContain('exceeds what remains to refund');

    const slow = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:delay=60000]' });
    await open(`/ops/tasks/${slow}`, 'Cancel');
    await page.getByText('Cancel the task').click();
    expect(await page.textContent('.notice')).toBe('Cancellation of the task was requested.');
    expect(await gateway.waitForTask(slow)).toMatchObject({ status: 'cancelled' });

    const failed = await makeTask('[sandbox:fail=upstream_error]');
    await open(`/ops/tasks/${failed}`, 'Send again');
    await page.getByRole('button', { name: 'Send again' }).click();
    expect(await page.textContent('.notice')).toBe('This task was made from the failed one.');
    expect(page.url()).not.toContain(failed);

    await page.goto(`${gateway.baseUrl}/ops/deliveries?status=failed`);
    await page.getByRole('button', { name: 'Send again' }).first().click();
    expect(await page.textContent('.notice')).toBe('The delivery will be sent again at once.');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows a viewer no actions and no links to files', async () => {
    const taskId = await makeTask();
    const { context, page } = await signIn('viewer');
    for (const path of ['/ops', `/ops/tasks/${taskId}`, '/ops/deliveries', '/ops/workers']) {
      await page.goto(gateway.baseUrl + path);
      expect(await page.locator('form[method=post]:not([action="/ops/sign-out"])').count()).toBe(0);
    }
    await page.goto(`${gateway.baseUrl}/ops/tasks/${taskId}`);
    expect(await page.getByText('Links to what was made are shown to admins only.').count()).toBe(1);
    await context.close();
  });
});
