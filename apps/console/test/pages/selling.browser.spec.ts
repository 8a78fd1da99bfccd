import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, eventually } from '#testing';
import { type ConsoleLinks, consoleLinks } from '../../../../tests/harness/console-link.js';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { FakeTextVendor } from '../../../../tests/harness/text-vendor/fake-text-vendor.js';
import { enter, expectNoComplaint, loaded, openConsole, violations, type Watched } from '../open-console.js';

/** How long a new operator may take. */
const JOURNEY_MS = 180_000;
const LONG_MS = 240_000;
const MODEL = 'journey-model';

/** A public list in USD for one token. */
const LIST = {
  sample_spec: { input_cost_per_token: 1 },
  'gpt-of-the-journey': { litellm_provider: 'openai', input_cost_per_token: 2e-6, output_cost_per_token: 1e-5 },
  'openai/renamed-model': { litellm_provider: 'openai', input_cost_per_token: 1e-6, output_cost_per_token: 4e-6 },
};

describeWithBrowser('How an operator sells, in the console, in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let links: ConsoleLinks;
  let browser: Browser;
  let operator: Watched;
  let vendor: FakeTextVendor;
  let lists: Server;
  let listUrl: string;

  beforeAll(async () => {
    vendor = await FakeTextVendor.start();
    lists = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(LIST, null, 1));
    }).listen(0, '127.0.0.1');
    await once(lists, 'listening');
    const host = `127.0.0.1:${(lists.address() as AddressInfo).port}`;
    listUrl = `http://${host}/prices.json`;
    [browser, gateway] = await Promise.all([
      startBrowser(),
      startTestGateway({ environment: { ADMIN_TOKEN: 'admin-token-for-tests', MEDIA_FETCH_ALLOW: host } }),
    ]);
    links = await consoleLinks(gateway);
    operator = await openConsole(browser, gateway.baseUrl);
    await enter(operator.page, await links.next());
  });
  afterAll(async () => {
    await browser.close();
    await links.close();
    await gateway.stop();
    await vendor.stop();
    lists.close();
    lists.closeAllConnections();
  });
  afterEach(() => expectNoComplaint(operator));

  const show = async (path: string): Promise<void> => {
    await operator.page.goto(`${gateway.baseUrl}/console${path}`);
    await loaded(operator.page);
  };
  /** Presses a button of the window that is open, and waits until it is closed. */
  const confirm = async (page: Page, name: string): Promise<void> => {
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const ask = async (model: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
    const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Write to ada@example.com.' }] }),
    });
    await response.text();
    return response.status;
  };
  const query = <Row extends Record<string, unknown>>(text: string) =>
    gateway.database.query<Row>({ text, values: [] });

  it(
    'takes a new operator from a public list and one vendor key to a priced model that earns more than it costs, within three minutes',
    async () => {
      const { page } = operator;
      const beganMs = performance.now();
      await show('/admin/upstreams');
      await page.getByRole('button', { name: 'Add an upstream' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name', { exact: true }).fill('first-vendor');
      await form.getByLabel('Base address').fill(vendor.baseUrl);
      await form.getByLabel('Key', { exact: true }).fill('sk-of-the-vendor-0123456789');
      await form.getByLabel('Models').fill(`${MODEL} = gpt-of-the-journey`);
      expect(await violations(page)).toEqual([]);
      await form.getByRole('button', { name: 'Add an upstream' }).click();
      await page.waitForURL('**/admin/upstreams/first-vendor');
      await page.getByText('no price').waitFor();
      await page.getByRole('button', { name: 'Check the key' }).click();
      await page.getByText('The key works.').waitFor();

      await page.getByRole('link', { name: 'Propose prices' }).click();
      const read = page.getByRole('dialog');
      await read.getByLabel('Address of the list').fill(listUrl);
      await read.getByLabel('Factor').fill('1.5');
      expect(await violations(page)).toEqual([]);
      await read.getByRole('button', { name: 'Read the list' }).click();
      const items = page.getByRole('region', { name: 'Your models' });
      await items.getByText(MODEL).waitFor();
      expect(await items.getByRole('checkbox', { name: `Choose ${MODEL}` }).isChecked()).toBe(true);

      // What was said before must not change what the figures of the list mean.
      const costs = { unit: 'EUR', per_quantity: 1, factor: 0.5 };
      const changed = await fetch(`${gateway.baseUrl}/admin/v1/upstreams/first-vendor`, {
        method: 'PATCH',
        headers: { authorization: 'Bearer admin-token-for-tests', 'content-type': 'application/json' },
        body: JSON.stringify({ costs }),
      });
      expect(changed.status).toBe(200);
      await page.reload();
      await page.getByRole('button', { name: 'Take as costs' }).click();
      await page.getByText('this upstream serves 1').waitFor();
      await page.getByLabel('Part that you pay').fill('1');
      await confirm(page, 'Take as costs');
      await page.getByText('The list was read again, with margins.').waitFor();
      await items.getByText('33.3%').first().waitFor();

      await page.getByRole('button', { name: 'Apply', exact: true }).click();
      await confirm(page, 'Apply');
      await page.getByText('Done: 2 prices were added').waitFor();

      await show(`/playground?model=${MODEL}`);
      await page.locator('.segments label', { hasText: 'Chat' }).click();
      await page.getByLabel('Input').fill('Say hello.');
      await page.locator('button.run').click();
      await page.locator('[data-testid=answer]').filter({ hasText: /\w/ }).waitFor();
      const row = page.getByRole('region', { name: 'Totals' }).locator('tr', { hasText: MODEL });
      await eventually(async () => {
        await show('/admin/margins');
        return (await row.count()) > 0;
      });
      expect(await row.locator('td').last().textContent()).toMatch(/^\$\u00a00\.0000[1-9]/);
      expect(performance.now() - beganMs).toBeLessThan(JOURNEY_MS);
    },
    LONG_MS,
  );

  it('takes a proposal back in one step, and says of each of its prices that it was withdrawn', async () => {
    const { page } = operator;
    await show('/admin/prices/proposals');
    await page.getByRole('row').filter({ hasText: 'applied' }).getByRole('link').click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await confirm(page, 'Undo');
    await page.getByText('Taken back: 2 prices withdrawn').waitFor();
    await show(`/admin/prices/models/${MODEL}`);
    await page.getByText('This model has no price').waitFor();
    expect(await page.locator('[data-status=withdrawn]').count()).toBe(2);
    await show(`/admin/prices?model=${MODEL}&history=true`);
    expect(await page.locator('.status[data-status=active]').count()).toBe(0);
  });

  it('takes a name that was corrected into account when the list is read again', async () => {
    const { page } = operator;
    await show('/admin/prices/proposals?read=true');
    await page.getByLabel('Address of the list').fill(listUrl);
    await page.getByRole('button', { name: 'Read the list' }).click();
    const others = page.getByRole('region', { name: 'Entries that are none of your models' });
    await others.getByRole('button', { name: 'Which model is it? openai/renamed-model' }).click();
    await page.getByRole('combobox', { name: 'Your model' }).fill('renamed');
    await confirm(page, 'Save');
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByRole('region', { name: 'Your models' }).getByText('renamed', { exact: true }).waitFor();
    const { rows } = await query(`select list_id, model from price_name`);
    expect(rows).toEqual([{ list_id: 'openai/renamed-model', model: 'renamed' }]);
  });

  it('sets the prices of a model with a band, once nothing of it is missing', async () => {
    const { page } = operator;
    await show(`/admin/prices/models/${MODEL}`);
    await page.getByRole('button', { name: 'Change prices' }).click();
    const type = (label: string, amount: string) => page.getByLabel(label, { exact: true }).fill(amount);
    await type('input tokens, standard', '3');
    await type('output tokens, standard', '15');
    await page.getByLabel('Band from so many input tokens').fill('200001');
    await page.getByRole('button', { name: 'Add a band' }).click();
    await type('input tokens, from 200,001 tokens', '6');
    await page.getByText('Missing: output tokens, from 200,001 tokens').waitFor();
    expect(await page.getByRole('button', { name: 'See what changes' }).isDisabled()).toBe(true);
    await type('output tokens, from 200,001 tokens', '22.5');
    await page.getByRole('button', { name: 'See what changes' }).click();
    await page.getByText('4 prices change.').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Set the prices' }).click();
    await page.getByText('The prices are set.').waitFor();
    await page.getByRole('region', { name: 'In force' }).getByText('22.50').waitFor();
    const { rows } = await query<{ variant: string; amount_micros: bigint }>(
      `select variant, amount_micros from price where model = '${MODEL}' and withdrawn_at is null order by variant, unit`,
    );
    expect(rows.map(({ variant, amount_micros: amount }) => [variant, amount])).toEqual([
      ['default', 3_000_000n],
      ['default', 15_000_000n],
      ['default@200001', 6_000_000n],
      ['default@200001', 22_500_000n],
    ]);
  });

  it('gives a customer a price list, shows who has it, and simulates it', async () => {
    const { page } = operator;
    await show('/admin/prices/lists?add=true');
    await page.getByLabel('Name', { exact: true }).fill('Gold customers');
    await page.getByLabel('Factor of everything').fill('0.8');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/admin/prices/lists/gold-customers');
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByRole('dialog').getByText('Own amount').click();
    await page.getByLabel('Model').selectOption(MODEL);
    await page.getByLabel('Unit').selectOption('input_token');
    await page.getByLabel('Amount per million').fill('1');
    await page.getByRole('dialog').getByRole('button', { name: 'Add a rule', exact: true }).click();
    // The vendor takes more than that.
    await page.getByRole('dialog').getByText('at first-vendor').first().waitFor();
    await confirm(page, 'Close');
    await page.getByRole('region', { name: 'Rules' }).getByText('$\u00a01.00').waitFor();
    await show(`/admin/accounts/${gateway.accountId}`);
    await page.getByRole('button', { name: 'Change: Price list' }).click();
    await page.getByRole('dialog').getByLabel('Price list').selectOption('gold-customers');
    await confirm(page, 'Give to an account');
    await page.getByRole('link', { name: 'Gold customers' }).click();
    await page.getByText('1 customer has it').waitFor();
    await page.getByRole('link', { name: 'Simulate the last 30 days' }).click();
    await page.getByRole('button', { name: 'Simulate', exact: true }).click();
    await page.getByRole('region', { name: 'By model' }).getByText(MODEL).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('logs prompts once they are asked for, without what is to be taken out, and puts each reading on record', async () => {
    const { page } = operator;
    const path = `/admin/accounts/${gateway.accountId}/prompt-log`;
    await show(path);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Log prompts and answers').check();
    await page.getByLabel('e-mail addresses').check();
    await confirm(page, 'Save');
    const entry = page.getByRole('link', { name: 'Read' }).first();
    await eventually(async () => {
      expect(await ask(MODEL)).toBe(200);
      await show(path);
      return (await entry.count()) > 0;
    });
    await entry.click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('Write to [redacted].').first().waitFor();
    expect(await violations(page)).toEqual([]);
    const { rows } = await query(`select 1 as one from audit_record where action = 'account.prompt_read'`);
    expect(rows).toHaveLength(1);
    await drawer.getByRole('button', { name: 'Delete this entry' }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Remove' }).click();
    await drawer.first().waitFor({ state: 'detached' });
  });

  it('sets the time zone of an account, and says why one that does not exist is refused', async () => {
    const { page } = operator;
    await show(`/admin/accounts/${gateway.accountId}`);
    const enter = async (zone: string): Promise<void> => {
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByRole('dialog').getByLabel('Time zone').fill(zone);
    };
    await enter('Mars/Olympus');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByText('time_zone').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    for (const [zone, shown] of [
      ['Asia/Shanghai', 'Asia/Shanghai'],
      ['', 'UTC'],
    ] as const) {
      await enter(zone);
      await confirm(page, 'Save');
      await page.getByText(shown, { exact: true }).first().waitFor();
    }
  });

  it('limits a tag, groups usage by tags, and finds the session of an agent by its name', async () => {
    const { page } = operator;
    await show(`/admin/accounts/${gateway.accountId}`);
    await page.getByRole('button', { name: 'Change limits' }).click();
    await page.getByRole('dialog').getByLabel('Tag').first().fill('nightly');
    await page.getByRole('dialog').getByLabel('Daily limit').first().fill('2.5');
    await confirm(page, 'Save');
    await page.getByRole('region', { name: 'Limits by tag' }).getByText('2.50').waitFor();
    expect(await ask(MODEL, { 'x-tags': 'nightly', 'x-session-id': 'refactor-of-the-parser' })).toBe(200);
    const totals = page.getByRole('region', { name: 'Totals' });
    await eventually(async () => {
      await show('/usage?by=tag');
      return (await totals.getByText('nightly').count()) > 0;
    });
    await show('/usage?tag=nightly');
    await totals.getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('checkbox', { name: 'Model' }).isDisabled()).toBe(true);
    await page.keyboard.press('/');
    await page.getByRole('dialog').getByRole('textbox').fill('of-the-parser');
    await page.getByRole('button', { name: 'Agent sessions with “of-the-parser”' }).click();
    await page.getByRole('link', { name: /refactor/ }).waitFor();
  });

  it('shows whether conversations stay, and how much of their input was cached', async () => {
    await show('/admin/upstreams');
    const report = operator.page.getByRole('region', { name: 'Conversations that stay' });
    const shares = report.getByRole('row').filter({ hasText: '27.3%' });
    await shares.first().waitFor();
    // Of this upstream alone: conversations are counted in the process, which earlier suites may have used.
    expect(await shares.count()).toBe(1);
  });
});
