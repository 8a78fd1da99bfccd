import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { describeWithBrowser, eventually } from '#testing';
import { consoleClient } from '../../../tests/harness/console-client.js';
import { type ConsoleLinks, consoleLinks } from '../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../tests/harness/test-gateway.js';
import { enter, expectNoComplaint, loaded, openConsole, violations, type Watched } from './open-console.js';

const ADMIN_TOKEN = 'admin-token-for-tests';
const VIEWER_TOKEN = 'viewer-token-for-tests';
/** Of a test of many steps. */
const LONG_MS = 180_000;
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

/** What a receiver of webhooks was sent. */
interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

describeWithBrowser('The main journeys through the console, in Chromium', (startBrowser) => {
  let gateway: TestGateway;
  let links: ConsoleLinks;
  let browser: Browser;
  let owner: Watched;
  let receiver: Server;
  let hook: string;
  const received: Received[] = [];
  /** What the receiver answers now; the gateway tries again by itself, so it does not say how often. */
  let answer = 204;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
        response.writeHead(answer).end('<b>not</b> taken');
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    hook = `http://${address}/hook`;
    [browser, gateway] = await Promise.all([
      startBrowser(),
      startTestGateway({
        environment: { ADMIN_TOKEN, OPS_VIEWER_TOKEN: VIEWER_TOKEN, MEDIA_FETCH_ALLOW: address },
      }),
    ]);
    links = await consoleLinks(gateway);
    owner = await openConsole(browser, gateway.baseUrl);
    await enter(owner.page, await links.next());
  });
  afterAll(async () => {
    await browser.close();
    await links.close();
    await gateway.stop();
    receiver.close();
    receiver.closeAllConnections();
  });
  afterEach(() => expectNoComplaint(owner));

  const show = async (path: string, page: Page = owner.page): Promise<void> => {
    await page.goto(`${gateway.baseUrl}/console${path}`);
    await loaded(page);
  };
  const query = <Row extends Record<string, unknown> = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    gateway.database.query<Row>({ text, values });

  it(
    'shows a failed webhook and sends it again, signed with the secret shown once',
    async () => {
      const { page } = owner;
      await show('/webhooks');
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Address').fill(hook);
      await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
      const secret = (await page.locator('[data-testid=secret]').textContent()) ?? '';
      await page.locator('dialog input[type=checkbox]').check();
      await page.locator('dialog .button.primary').click();
      await page.locator('dialog').waitFor({ state: 'detached' });

      answer = 500;
      await gateway.waitForTask(await gateway.submit('/v1/images/generations', IMAGE));
      await eventually(() => received.length > 0);
      await show('/webhooks');
      const row = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr');
      await eventually(async () => {
        await show('/webhooks');
        return (await row.getByText('500').count()) > 0;
      });
      await row.first().getByRole('link').first().click();
      await page.getByRole('region', { name: 'Attempts' }).getByText('500').first().waitFor();
      const before = received.length;
      answer = 204;
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('It is on its way again.').waitFor();
      await eventually(() => received.length > before);
      const [first, second] = [received[0], received.at(-1)];
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(new Webhook(secret).verify(second?.body ?? '', second?.headers ?? {})).toMatchObject({
        type: 'task.completed',
      });
      await eventually(async () => {
        await page.reload();
        await loaded(page);
        return (await page.getByRole('region', { name: 'Attempts' }).getByText('204').count()) > 0;
      });

      await show('/webhooks');
      await page.getByRole('button', { name: `Actions: ${hook}` }).click();
      await page.getByRole('menuitem', { name: 'Send a test' }).click();
      await page.getByText('A test is on its way').waitFor();
      await eventually(() => received.some(({ body }) => body.includes('webhook.test')));
      expect(await violations(page)).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'rotates a key with an overlap, and a revoked one stops working',
    async () => {
      const { page } = owner;
      const client = consoleClient(gateway);
      client.cookie = (await owner.context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
      const made = (await client.call('POST /keys', { name: 'nightly' })).body;
      const opens = async (key: string) =>
        (await gateway.send('GET', '/v1/models', undefined, { authorization: `Bearer ${key}` })).status;
      await show(`/keys/${made.key.id}`);
      await page.getByRole('button', { name: 'Rotate' }).click();
      await page.getByRole('dialog').getByRole('combobox').selectOption({ label: 'an hour' });
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      const rotated = (await page.locator('[data-testid=secret]').textContent()) ?? '';
      await page.locator('dialog input[type=checkbox]').check();
      await page.locator('dialog .button.primary').click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect([await opens(made.secret), await opens(rotated)]).toEqual([200, 200]);
      await page.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('nightly');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      await page.getByText('revoked').first().waitFor();
      expect(await eventually(async () => (await opens(rotated)) === 401)).toBe(true);
      expect(await opens(made.secret)).toBe(401);
    },
    LONG_MS,
  );

  it.each(['Responses', 'Chat', 'Messages'])(
    'writes a text in the style %s as it comes, and shows the call of a tool',
    async (style) => {
      const { page } = owner;
      await show('/playground?model=vendor-5');
      await page.locator('.segments label', { hasText: style }).click();
      await page.getByLabel('Input').fill('Say hello.');
      await page.locator('button.run').click();
      const answer = page.locator('[data-testid=answer]');
      await answer.filter({ hasText: /\w/ }).waitFor();
      await page.locator('button.run', { hasText: 'Run' }).waitFor();
      await page
        .getByText(/tokens in/)
        .first()
        .waitFor();
      expect(await page.locator('.notice.bad').count()).toBe(0);
    },
  );

  it(
    'offers every model with a price that is the one the server quotes',
    async () => {
      const { page } = owner;
      const client = consoleClient(gateway);
      client.cookie = (await owner.context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
      const { items } = (await client.call('GET /models')).body;
      const media = items.filter(({ kind }) => kind === 'video' || kind === 'image');
      expect(media.length).toBeGreaterThan(20);
      const wrong: string[] = [];
      for (const { id } of media) {
        const quoted = page.waitForResponse(
          (response) =>
            response.url().endsWith('/console/api/quote') &&
            response.request().postData()?.includes(`"${id}"`) === true,
        );
        await page.goto(`${gateway.baseUrl}/console/playground?model=${id}`);
        const { quote, problems } = (await (await quoted).json()) as {
          quote: { amount: string } | null;
          problems: { field: string | null }[];
        };
        await loaded(page);
        if (quote) {
          const price = page.locator('button.run:not([aria-disabled=true]) .money');
          await price.waitFor();
          const shown = Number(((await price.textContent()) ?? '').replace(/[^\d.]/g, ''));
          if (shown !== Number(quote.amount)) wrong.push(`${id}: ${shown} is not ${quote.amount}`);
        } else {
          await page.locator('.field-error').first().waitFor();
          if (!problems.some(({ field }) => /image|video|media|frame|url/.test(field ?? '')))
            wrong.push(`${id}: refused as the form stands: ${JSON.stringify(problems)}`);
        }
      }
      expect(wrong).toEqual([]);
    },
    LONG_MS,
  );

  it('tops up an account once for a reference, and names the actor', async () => {
    const { page } = owner;
    const book = async (): Promise<string> => {
      await show(`/admin/accounts/${gateway.accountId}`);
      await page.getByRole('button', { name: 'Top up' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Amount').fill('12.5');
      await dialog.getByLabel('Reference').fill('invoice-1');
      await dialog.getByRole('button', { name: 'Top up' }).click();
      const said = dialog.locator('.notice');
      await said.waitFor();
      return (await said.textContent()) ?? '';
    };
    expect(await book()).toMatch(/Booked/);
    expect(await book()).toMatch(/nothing changed/);
    const { rows } = await query(`select 1 from ledger_entry where kind = 'top_up' and amount_micros = 12500000`);
    expect(rows).toHaveLength(1);
  });

  it('sets a price for later, after it has shown which accounts would pay more, and records before and after', async () => {
    const { page } = owner;
    await show('/admin/prices');
    await page.getByRole('button', { name: 'Set a price' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('option', { hasText: /^eta-image-2\.0$/ }).waitFor({ state: 'attached' });
    await dialog.getByLabel('Model').selectOption('eta-image-2.0');
    await dialog.getByLabel('Variant').selectOption({ index: 1 });
    await dialog.getByLabel('Amount').fill('0.07');
    await dialog.getByLabel('In force from').fill('2099-01-01T00:00');
    await dialog.getByRole('button', { name: 'See who would pay more' }).click();
    await dialog
      .getByText('Would be charged')
      .or(dialog.getByText('This was not used in these days'))
      .first()
      .waitFor();
    await dialog.getByRole('button', { name: 'Set the price' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { rows } = await query<{ after: { amount_micros: string } }>(
      `select after from audit_record where action = 'price.added'`,
    );
    expect(rows[0]?.after).toMatchObject({ amount_micros: '70000', model: 'eta-image-2.0' });
    await show('/admin/audit');
    await page.getByText('price.added').first().waitFor();
  });

  it('turns an upstream off and on, and never shows its key again', async () => {
    const { page } = owner;
    await show('/admin/upstreams');
    await page.getByRole('button', { name: 'Add an upstream' }).click();
    const settings = {
      kind: 'text',
      id: 'studio-vendor',
      protocol: 'chat',
      base_url: 'https://vendor.example/v1',
      key: 'sk-of-the-vendor-0123456789',
      models: { 'studio-model': 'their-model' },
    };
    await page.getByRole('dialog').getByText('As JSON').click();
    await page.getByRole('dialog').getByRole('textbox').fill(JSON.stringify(settings));
    await page.getByRole('dialog').locator('.button.primary').click();
    await page.waitForURL('**/admin/upstreams/studio-vendor');
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    expect(await page.content()).not.toContain(settings.key);
    const { rows } = await query<{ action: string }>(
      `select action from audit_record where subject_id = 'studio-vendor' order by created_at`,
    );
    expect(rows.map(({ action }) => action)).toEqual(['upstream.created', 'upstream.updated', 'upstream.updated']);
  });

  it('shows a finding when a ledger row was corrupted', async () => {
    const { page } = owner;
    await query('update account set available_micros = available_micros + 1 where id = $1', [gateway.accountId]);
    await show('/admin/reconciliation');
    await page.getByRole('button', { name: 'Check every entry' }).click();
    await page.getByText(/check (it|them) now/).waitFor();
    await page.getByRole('region', { name: 'Findings' }).getByText(gateway.accountId).first().waitFor();
    await query('update account set available_micros = available_micros - 1 where id = $1', [gateway.accountId]);
    await page.getByRole('button', { name: 'Check every entry' }).click();
    await page.getByText(/books balance/).waitFor();
    expect(await page.getByRole('region', { name: 'Findings' }).count()).toBe(0);
  });

  it('gives an observer no button that changes anything', async () => {
    const observer = await openConsole(browser, gateway.baseUrl);
    await observer.context.request.post(`${gateway.baseUrl}/console/api/sign-in/operator`, {
      data: { token: VIEWER_TOKEN },
      headers: { 'x-console': '1', 'sec-fetch-site': 'same-origin' },
    });
    for (const path of ['/admin/accounts', '/admin/prices', '/admin/upstreams', '/admin/reconciliation']) {
      await show(path, observer.page);
      expect([path, await observer.page.locator('main .page-head button').count()]).toEqual([path, 0]);
    }
    await observer.context.close();
  });

  it('shows the end of a hanging task, once it is cancelled, and that expired files are gone', async () => {
    const { page } = owner;
    const id = await gateway.submit('/v1/images/generations', { ...IMAGE, prompt: '[sandbox:hang] waits' });
    await show(`/tasks/${id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').locator('.button.danger').click();
    await page.locator('.page-head .status', { hasText: 'cancelled' }).waitFor();
    const done = await gateway.submit('/v1/images/generations', IMAGE);
    await gateway.waitForTask(done);
    await query(`update task set files_expire_at = now() - interval '1 second' where id = $1`, [done]);
    await query(`update task_file set expires_at = now() - interval '1 second' where task_id = $1`, [done]);
    await show(`/tasks/${done}`);
    await page.locator('.media-gone').waitFor();
    expect(await page.locator('.result-media img').count()).toBe(0);
  });
});
