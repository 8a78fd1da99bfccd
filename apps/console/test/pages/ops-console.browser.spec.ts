import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser } from '#testing';
import { consoleClient } from '../../../../tests/harness/console-client.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { loaded } from '../open-console.js';

const TOKENS = { admin: 'admin-token-for-tests', viewer: 'viewer-token-for-tests' } as const;
const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
/** What hostile customers and vendors would have said by a page that believes them. */
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>'&quot;\u202Egnp.exe`;
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

describeWithBrowser('The pages of operators in the console, in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let browser: Browser;
  let taskId: string;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await startBrowser();
    gateway = await startTestGateway({ environment: { ADMIN_TOKEN: TOKENS.admin, OPS_VIEWER_TOKEN: TOKENS.viewer } });
    taskId = await makeEverything();
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  async function signIn(
    role: keyof typeof TOKENS,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ viewport: WIDE, ...options });
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text());
    });
    page.on('dialog', (dialog) => {
      complaints.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const client = consoleClient(gateway);
    await client.call('POST /sign-in/operator', { token: TOKENS[role] });
    const [name = '', value = ''] = client.cookie.split('=');
    const cookie = { name, value, domain: '127.0.0.1', httpOnly: true, sameSite: 'Lax' } as const;
    await context.addCookies(['/console', '/ops'].map((path) => ({ ...cookie, path })));
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

  const at = (path: string): string => `${gateway.baseUrl}/console${path}`;

  it('shows what customers, vendors and hosts said as text: nothing in it runs, and no page is wider for it', async () => {
    const { context, page } = await signIn('admin', { viewport: NARROW });
    for (const path of [
      '/admin/health',
      '/admin/tasks',
      '/admin/tasks/task_01ZZZZZZZZZZZZZZZZZZZZZZZ6',
      `/admin/tasks/${taskId}`,
      '/admin/deliveries',
      '/admin/workers?all=true',
    ]) {
      await page.goto(at(path));
      await loaded(page);
      expect([path, await page.locator('main').textContent()]).toEqual([path, expect.stringContaining('onerror')]);
      expect([path, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([path, NARROW.width]);
      expect([path, await page.locator('main script, main img[onerror]').count()]).toEqual([path, 0]);
    }
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('names first what needs attention, and leads to where more is told', async () => {
    const { context, page } = await signIn('viewer');
    await page.goto(at('/admin/health'));
    await page.getByText('Workers that fell silent in the last 24 hours: 1.').click();
    await page.waitForURL('**/admin/workers?all=true');
    await page.locator('[data-status=silent]').first().waitFor();
    await page.goto(at('/admin/health'));
    await page.getByText('Webhook deliveries given up in the last 24 hours: 1.').click();
    await page.waitForURL('**/admin/deliveries?status=failed');
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('finds a task by each filter, and says what is wrong with one', async () => {
    const { context, page } = await signIn('viewer');
    const { rows } = await gateway.database.query<{ request_id: string }>({
      text: 'select request_id from task where id = $1',
      values: [taskId],
    });
    await page.goto(at('/admin/tasks'));
    await page.getByLabel('Request id', { exact: true }).fill(rows[0]?.request_id ?? '');
    await page.waitForURL(/request_id=/);
    await page.locator(`a[href$="/admin/tasks/${taskId}"]`).first().waitFor();
    await page.goto(at('/admin/tasks?created_to=2020-01-01T00:00Z'));
    await page.getByText('No matching tasks.').waitFor();
    await page.goto(at('/admin/tasks?task_id=%3Cscript%3E'));
    await page.getByText('task_id must be an id').first().waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('opens the queue board and returns, without errors of the board', async () => {
    const { context, page } = await signIn('admin');
    await page.goto(at('/admin/health'));
    await page.locator('main a[href="/ops/queues/queue/image"]').click();
    await page.getByText('Jobs that wake').first().waitFor();
    await page.getByText('← Console').click();
    await page.waitForURL(at('/admin/health'));
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('lets an operator refund, cancel, start again and send again', async () => {
    const { context, page } = await signIn('admin');
    const open = async (id: string, action: string): Promise<void> => {
      await page.goto(at(`/admin/tasks/${id}`));
      await loaded(page);
      await page.getByRole('button', { name: action, exact: true }).click();
    };
    const submit = (action: string) => page.getByRole('dialog').getByRole('button', { name: action }).click();
    const done = await makeTask();
    await open(done, 'Refund');
    await page.getByLabel('Amount').fill('0.01');
    await page.getByLabel('Reference').fill('case-1');
    await page.getByLabel('Reason').fill(`blurred ${HOSTILE}`);
    await submit('Refund');
    await page.getByText('ledger.refund').waitFor();
    const { rows } = await gateway.database.query<{ actor: string; amount_micros: bigint }>({
      text: 'select actor, amount_micros from task_refund where task_id = $1',
      values: [done],
    });
    expect(rows).toEqual([{ actor: 'console:operator', amount_micros: 10_000n }]);

    await open(done, 'Refund');
    await page.getByLabel('Amount').fill('5');
    await page.getByLabel('Reference').fill('case-2');
    await page.getByLabel('Reason').fill('too much');
    await submit('Refund');
    await page.getByText('exceeds what remains to refund').first().waitFor();

    const slow = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:delay=600000]' });
    await open(slow, 'Cancel the task');
    await submit('Cancel the task');
    expect(await gateway.waitForTask(slow)).toMatchObject({ status: 'cancelled' });

    const failed = await makeTask('[sandbox:fail=upstream_error]');
    await open(failed, 'Start again');
    await submit('Start again');
    await page.getByText('Started again as').waitFor();

    await page.goto(at('/admin/deliveries?status=failed'));
    await page.getByRole('button', { name: 'Send again' }).first().click();
    await page.getByText('It is on its way again.').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows an operator what was made, and a viewer no actions and no links to files', async () => {
    const made = await makeTask();
    const operator = await signIn('admin');
    await operator.page.goto(at(`/admin/tasks/${made}`));
    await operator.page.getByText('File 1').waitFor();
    await operator.context.close();
    const { context, page } = await signIn('viewer');
    for (const path of ['/admin/health', `/admin/tasks/${made}`, '/admin/deliveries', '/admin/workers']) {
      await page.goto(at(path));
      await loaded(page);
      for (const name of ['Refund', 'Cancel the task', 'Start again', 'Send again'])
        expect([path, await page.getByRole('button', { name }).count()]).toEqual([path, 0]);
      expect(await page.getByText('File 1').count()).toBe(0);
    }
    await context.close();
    expect(complaints).toEqual([]);
  });
});
