import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, eventually } from '#testing';
import { startTestGateway, type TestGateway } from '../../../../../tests/harness/test-gateway.js';

const ADMIN = 'admin-token-for-tests';
/** Many times what a step of the browser takes. */
const STEP_MS = 60_000;
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };

/** Wake-ups in every state: one fails, one is answered, one is being answered, one waits. */
async function notifyInEveryState(gateway: TestGateway): Promise<Record<string, string>> {
  const { notifier } = gateway.platform;
  const states = { failed: '', completed: '', active: '', waiting: '' };
  for (const state of Object.keys(states) as (keyof typeof states)[]) {
    states[state] = await gateway.submit('/v1/images/generations', IMAGE);
  }
  notifier.listen('image', { concurrency: 3 }, async (taskId, signal) => {
    if (taskId === states.failed) throw new Error('the vendor was away');
    if (taskId === states.completed) return;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  });
  const image = notifier.queues().find(({ name }) => name === 'image');
  // Two of the four hold a place each and the third place is free again: fill it, so that the next wake-up waits.
  await eventually(async () => (await image?.getJobCountByTypes('completed', 'failed')) === 2);
  states.active = await gateway.submit('/v1/images/generations', IMAGE);
  await eventually(async () => (await image?.getJobCountByTypes('active')) === 3);
  states.waiting = await gateway.submit('/v1/images/generations', IMAGE);
  await eventually(async () => (await image?.getJobCountByTypes('waiting')) === 1);
  return states;
}

/** A task row in each of its states, made from one that was submitted. */
async function makeTaskInEveryState(gateway: TestGateway): Promise<void> {
  const taskId = await gateway.submit('/v1/images/generations', IMAGE);
  await gateway.database.query({
    text: `insert into task select (jsonb_populate_record(t, jsonb_build_object(
        'id', 'task_01ZZZZZZZZZZZZZZZZZZZZZZZ' || number, 'state', wanted,
        'lease_until', case when wanted in ('queued', 'submitting', 'storing') then now() + interval '1 hour' end,
        'finished_at', case when wanted in ('completed', 'failed', 'cancelled') then now() end))).*
      from task t, unnest(array['queued', 'submitting', 'running', 'storing', 'completed', 'failed', 'cancelled'])
        with ordinality as states(wanted, number)
      where t.id = $1`,
    values: [taskId],
  });
}

describeWithBrowser('The pages of operators in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let browser: Browser;
  let page: Page;
  let folder: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ops-screenshots-'));
    browser = await startBrowser();
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN: ADMIN } });
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(STEP_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** An image of the page as it is now, big enough to show more than an empty one. */
  async function screenshot(name: string): Promise<void> {
    const path = join(folder, `${name}.png`);
    await page.screenshot({ path, fullPage: true });
    expect((await readFile(path)).byteLength).toBeGreaterThan(15_000);
  }

  it('shows only the sign-in without a session', async () => {
    await page.goto(`${gateway.baseUrl}/ops/queues`);
    expect(page.url()).toBe(`${gateway.baseUrl}/ops/sign-in`);
    await page.fill('input[name=token]', 'wrong-token');
    await page.click('button');
    expect(await page.textContent('.problem')).toContain('That is neither the admin token nor the viewer token.');
  });

  it('shows a wake-up in each state to a signed-in admin, and opens the task behind it', async () => {
    const wakeups = await notifyInEveryState(gateway);
    await page.goto(`${gateway.baseUrl}/ops/sign-in`);
    await page.fill('input[name=token]', ADMIN);
    await page.click('button');
    await page.waitForURL('**/ops');
    for (const [state, taskId] of Object.entries(wakeups)) {
      await page.goto(`${gateway.baseUrl}/ops/queues/queue/image?status=${state}`);
      await page.getByText(`image ${taskId}`).first().waitFor();
      await screenshot(`wakeup-${state}`);
    }
    await page.goto(`${gateway.baseUrl}/ops/queues/queue/image?status=failed`);
    await page.getByText('the vendor was away').first().waitFor();
    // The queue's pages decide whether the link opens here or in a new tab.
    const opened = Promise.any([
      page.context().waitForEvent('page'),
      page.waitForURL('**/ops/tasks/*').then(() => page),
    ]);
    await page.locator(`a[href$="/ops/tasks/${wakeups['failed']}"]`).first().click();
    const task = await opened;
    await task.getByText('eta-image-2.0').first().waitFor();
    expect(task.url()).toBe(`${gateway.baseUrl}/ops/tasks/${wakeups['failed']}`);
  });

  it('shows a task in each of its states', async () => {
    await makeTaskInEveryState(gateway);
    await page.goto(`${gateway.baseUrl}/ops/tasks`);
    for (const state of ['queued', 'submitting', 'running', 'storing', 'completed', 'failed', 'cancelled']) {
      expect(await page.locator(`tbody .state.${state}`).count()).toBeGreaterThan(0);
    }
    await screenshot('tasks');
  });

  it('shows nothing after signing out, and no page had an error', async () => {
    await page.goto(`${gateway.baseUrl}/ops/tasks`);
    await page.click('nav button');
    await page.waitForURL('**/ops/sign-in');
    await page.goto(`${gateway.baseUrl}/ops/tasks`);
    expect(page.url()).toBe(`${gateway.baseUrl}/ops/sign-in`);
    expect(complaints).toEqual([]);
  });
});
