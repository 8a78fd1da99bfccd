import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#contracts';
import { Client } from './client.js';
import { ROLES } from './installation.js';
import { adminOf, openPlace, PICTURE, type Step, type Story } from './story.js';

const TEXT_MODELS = ['vendor-5', 'vendor-haiku-4-5-20251001', 'vendor-2.5-flash'];

/** What the operator wants to sell. */
const PRICES = [
  { model: 'eta-image-2.0', unit: 'image', variant: 'default', amount: '0.04' },
  { model: 'beta-2.5-preview', unit: 'second', variant: '480p', amount: '0.05' },
  ...TEXT_MODELS.flatMap((model) => [
    { model, unit: 'input_token', amount: '1.25', per_quantity: 1_000_000 },
    { model, unit: 'cached_input_token', amount: '0.125', per_quantity: 1_000_000 },
    { model, unit: 'output_token', amount: '10', per_quantity: 1_000_000 },
  ]),
];

/** From nothing to a key that can pay. */
export function startingSteps(step: Step, story: Story): void {
  step('refuses to start on an empty database, and says what to run', async () => {
    story.place = await openPlace(story);
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
    const nobody = new Client(story.place.installation.url, '');
    expect((await nobody.send<JsonObject>('GET', '/healthz')).body).toMatchObject({ status: 'alive' });
    expect((await nobody.send<JsonObject>('GET', '/readyz')).body).toMatchObject({
      parts: { database: { ok: true }, migrations: { ok: true } },
    });
  });
  step('opens the admin API to the token', async () => {
    expect(await story.admin.data('GET', '/admin/v1/accounts')).toEqual([]);
  });
  step('keeps it shut to a wrong token', async () => {
    const wrong = new Client(story.place.installation.url, 'not-the-admin-token');
    expect((await wrong.send('GET', '/admin/v1/accounts')).status).toBe(401);
  });
  step('puts prices into force', () => setPrices(story));
  accountSteps(step, story);
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
    const wrong = new Client(story.place.installation.url, 'sk-gw-of-nobody-at-all');
    expect((await wrong.send('GET', '/v1/user/balance')).status).toBe(401);
  });
  step('refuses an account without money', async () => {
    const { id } = await story.admin.data<{ id: string }>('POST', '/admin/v1/accounts', { name: 'Empty' });
    const { key } = await story.admin.data<{ key: string }>('POST', `/admin/v1/accounts/${id}/keys`, { name: 'poor' });
    const poor = new Client(story.place.installation.url, key);
    expect((await poor.send('POST', '/v1/images/generations', PICTURE)).status).toBe(402);
  });
  step('lists the models with the prices of today', async () => {
    const models = await story.customer.data<{ id: string }[]>('GET', '/v1/models');
    expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining([PICTURE.model, ...TEXT_MODELS]));
    const model = (await story.customer.send<JsonObject>('GET', `/v1/models/${PICTURE.model}`)).body;
    expect(JSON.stringify(model)).toContain('"0.040000"');
  });
  step('names the field that a request has wrong', async () => {
    const { status, body } = await story.customer.send('POST', '/v1/quote', { ...PICTURE, n: 99 });
    expect([status, body.error?.param]).toEqual([400, 'n']);
  });
  step('quotes a price and moves no money', async () => {
    story.quoted = await quoteInForce(story);
    expect(story.quoted).toBe('0.040000');
  });
}

/** A later price replaces the example's at every process within five seconds. */
async function quoteInForce({ customer }: Story): Promise<string> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const { amount } = await customer.data<{ amount: string }>('POST', '/v1/quote', PICTURE);
    if (amount === '0.040000' || Date.now() > deadline) return amount;
    await sleep(200);
  }
}

/** By the admin API, one by one; a price file would do the same here. */
async function setPrices({ admin }: Story): Promise<void> {
  for (const price of PRICES) await admin.data('POST', '/admin/v1/prices', price);
  const inForce = await admin.data<JsonObject[]>('GET', '/admin/v1/prices?model=eta-image-2.0');
  expect(inForce).toMatchObject([{ unit: 'image', variant: 'default', amount: '0.040000' }]);
}
