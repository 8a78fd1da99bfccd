import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '#contracts';
import { Client } from './client.js';
import { ROLES } from './installation.js';
import { adminOf, VIDEO, IMAGE, PRICES_FILE, type Step, type Story } from './story.js';

const TEXT_MODELS = ['vendor-5', 'vendor-haiku-4-5-20251001', 'vendor-2.5-flash'];

/** What the operator wants to sell, as the list of prices says it. */
const priceList = (amountOfImage: string): string => `
effective_from: 2026-01-01
prices:
  - { model: eta-image-2.0, unit: image, variant: default, amount: '${amountOfImage}' }
  - { model: beta-2.5-preview, unit: second, variant: 480p, amount: '0.05' }
${TEXT_MODELS.map(
  (model) => `
  - { model: ${model}, unit: input_token, amount: '1.25', per_quantity: 1000000 }
  - { model: ${model}, unit: cached_input_token, amount: '0.125', per_quantity: 1000000 }
  - { model: ${model}, unit: output_token, amount: '10', per_quantity: 1000000 }`,
).join('')}
`;

/** What is to come: another price next year. */
const NEXT_YEAR = `
effective_from: 2099-01-01
prices:
  - { model: eta-image-2.0, unit: image, variant: default, amount: '0.03' }
`;

/** From nothing to a key that can pay. */
export function startingSteps(step: Step, story: Story): void {
  step('writes a price list with a mistake: the error names file and line, and nothing starts', async () => {
    await writeFile(join(story.folder, PRICES_FILE), priceList('four cents'));
    story.place = await story.openPlace(story.receiver);
    await expect(story.place.installation.start('api')).rejects.toThrow(/prices\.yaml:4\b.*amount/);
    await writeFile(join(story.folder, PRICES_FILE), priceList('0.04'));
  });
  step('refuses to start on an empty database, and says what to run', async () => {
    await expect(story.place.installation.start('api')).rejects.toThrow(/npm run migrate/);
  });
  step('migrates the database', async () => {
    expect(await story.place.installation.run('migrate')).toMatch(/^Applied /);
  });
  step('migrates again without doing anything', async () => {
    expect(await story.place.installation.run('migrate')).toBe('The database is up to date.\n');
  });
  step('starts the API and every worker until each is ready', async () => {
    await Promise.all(ROLES.map((role) => story.place.installation.start(role)));
    story.admin = adminOf(story.place);
  });
  step('answers on /healthz and /readyz, part by part', async () => {
    const anonymous = new Client(story.place.operatorUrl, '');
    expect((await anonymous.send<JsonObject>('GET', '/healthz')).body).toMatchObject({ status: 'alive' });
    expect((await anonymous.send<JsonObject>('GET', '/readyz')).body).toMatchObject({
      parts: { database: { ok: true }, migrations: { ok: true } },
    });
  });
  step('opens the admin API to the token', async () => {
    const accounts = await story.admin.data<{ name: string }[]>('GET', '/admin/v1/accounts');
    expect(accounts.map(({ name }) => name)).toEqual(story.place.firstAccounts);
  });
  step('keeps it shut to a wrong token', async () => {
    const wrong = new Client(story.place.operatorUrl, 'not-the-admin-token');
    expect((await wrong.send('GET', '/admin/v1/accounts')).status).toBe(401);
  });
  priceSteps(step, story);
  accountSteps(step, story);
}

function priceSteps(step: Step, story: Story): void {
  step('sells at the prices of its list and at no others', async () => {
    const inForce = await story.admin.data<{ model: string; amount: string }[]>('GET', '/admin/v1/prices');
    expect([...new Set(inForce.map(({ model }) => model))].toSorted()).toEqual(
      [IMAGE.model, VIDEO.model, ...TEXT_MODELS].toSorted(),
    );
    expect(inForce.find(({ model }) => model === IMAGE.model)).toMatchObject({ amount: '0.040000' });
  });
  step('tells the models without a price at /readyz, and refuses them for good', async () => {
    const { body } = await story.admin.send<JsonObject>('GET', '/readyz');
    expect([body['status'], JSON.stringify(body['reasons'])]).toEqual([
      'degraded',
      expect.stringContaining('no price'),
    ]);
  });
  step('imports the price of a later day by the command, which shows first what it would do', async () => {
    await writeFile(join(story.folder, 'later.yaml'), NEXT_YEAR);
    const file = join(story.folderInside, 'later.yaml');
    expect(await story.place.installation.run('prices', 'import', file, '--dry-run')).toMatch(
      /^added:\n  - model: eta-image-2\.0/,
    );
    expect(await story.place.installation.run('prices', 'import', file)).toMatch(/^added:\n  - model: eta-image-2\.0/);
    expect(await story.place.installation.run('prices', 'export')).toContain('2099-01-01');
  });
}

function accountSteps(step: Step, story: Story): void {
  step('makes an account', async () => {
    story.accountId = (await story.admin.data<{ id: string }>('POST', '/admin/v1/accounts', { name: 'Studio' })).id;
  });
  step('tops it up, once for each reference', async () => {
    const topUp = { amount: '20.000000', reference: 'invoice-1', note: 'bank transfer' };
    for (const _time of ['first', 'again'])
      await story.admin.data('POST', `/admin/v1/accounts/${story.accountId}/top-ups`, topUp);
    const account = await story.admin.data('GET', `/admin/v1/accounts/${story.accountId}`);
    expect(account).toMatchObject({ available: '20.000000', held: '0.000000', used: '0.000000' });
  });
  step('makes a key and shows it this once', async () => {
    const keys = `/admin/v1/accounts/${story.accountId}/keys`;
    const made = await story.admin.data<{ id: string; key: string }>('POST', keys, { name: 'render farm' });
    story.keyId = made.id;
    story.customer = new Client(story.place.installation.url, made.key);
    expect(JSON.stringify(await story.admin.data('GET', keys))).not.toContain(made.key);
  });
  step('tells the holder the balance', async () => {
    const { body } = await story.customer.send<JsonObject>('GET', '/v1/user/balance');
    expect(body).toMatchObject({ success: true, remain_balance: 20, used_balance: 0 });
  });
  step('refuses a wrong key', async () => {
    const wrong = new Client(story.place.installation.url, 'sk-gw-of-no-account');
    expect((await wrong.send('GET', '/v1/user/balance')).status).toBe(401);
  });
  step('refuses an account without money', async () => {
    const { id } = await story.admin.data<{ id: string }>('POST', '/admin/v1/accounts', { name: 'Empty' });
    const { key } = await story.admin.data<{ key: string }>('POST', `/admin/v1/accounts/${id}/keys`, { name: 'poor' });
    const poor = new Client(story.place.installation.url, key);
    expect((await poor.send('POST', '/v1/images/generations', IMAGE)).status).toBe(402);
  });
  step('lists the models with the prices of today', async () => {
    const models = await story.customer.data<{ id: string }[]>('GET', '/v1/models');
    expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining([IMAGE.model, ...TEXT_MODELS]));
    const model = (await story.customer.send<JsonObject>('GET', `/v1/models/${IMAGE.model}`)).body;
    expect(JSON.stringify(model)).toContain('"0.040000"');
  });
  step('names the field that a request has wrong', async () => {
    const { status, body } = await story.customer.send('POST', '/v1/quote', { ...IMAGE, n: 99 });
    expect([status, body.error?.param]).toEqual([400, 'n']);
  });
  step('quotes a price and moves no money', async () => {
    story.quoted = (await story.customer.data<{ amount: string }>('POST', '/v1/quote', IMAGE)).amount;
    expect(story.quoted).toBe('0.040000');
  });
}
