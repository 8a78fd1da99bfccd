import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#contracts';
import type { TestDatabase } from '#testing';
import { Client } from './testing/day-one/client.js';
import { createEmptyDatabase } from './testing/day-one/empty-database.js';
import { Installation, ROLES } from './testing/day-one/installation.js';
import { WebhookReceiver } from './testing/day-one/webhook-receiver.js';
import {
  FIRST_RELEASE_SETTINGS,
  type FirstRelease,
  firstReleaseImage,
  loadFirstRelease,
  type Seen,
} from './testing/first-release/first-release.js';

/** The responses that the holder of a key gets now from the routes recorded in the first release. */
async function seenBy(client: Client): Promise<Seen> {
  return {
    tasks: await client.data('GET', '/v1/tasks?limit=100'),
    balance: (await client.send<JsonObject>('GET', '/v1/user/balance')).body,
    usage: await client.data('GET', '/v1/usage?group_by=model'),
    records: await client.data('GET', '/v1/usage/records?limit=100'),
    endpoints: await client.data('GET', '/v1/webhooks/endpoints'),
  };
}

describe('The data of the first release under the current version', () => {
  let folder: string;
  let database: TestDatabase;
  let receiver: WebhookReceiver;
  let installation: Installation;
  let old: FirstRelease;
  let first: Client;
  let studio: Client;
  let admin: Client;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-upgrade-'));
    [database, receiver] = await Promise.all([createEmptyDatabase(), WebhookReceiver.start()]);
    old = await loadFirstRelease(database.url);
    // The customer's server moved to this test; nothing else is touched.
    const moved = { text: 'update webhook_endpoint set url = $1', values: [`http://${receiver.address}/hook`] };
    await database.database.query(moved);
    const image = join(folder, 'media/media', old.tasks.image, '0.png');
    await mkdir(join(image, '..'), { recursive: true });
    await writeFile(image, firstReleaseImage());
    installation = await Installation.with({
      ...FIRST_RELEASE_SETTINGS,
      ...database.environment,
      DATABASE_POOL_SIZE: '4',
      SANDBOX_SELLS: 'true',
      DATA_DIR: folder,
      MEDIA_FETCH_ALLOW: receiver.address,
      SANDBOX_VIDEO_MS: '100',
      LOG_LEVEL: 'warn',
    });
    first = new Client(installation.url, old.keys.first);
    studio = new Client(installation.url, old.keys.studio);
    admin = new Client(installation.url, FIRST_RELEASE_SETTINGS.ADMIN_TOKEN);
  });
  afterAll(async () => {
    installation.kill();
    await receiver.stop();
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('is not served before the migration, and the message says how to migrate', async () => {
    await expect(installation.start('api')).rejects.toThrow(/npm run migrate/);
    expect(await installation.run('migrate')).toMatch(/^Applied 2026112/);
    expect(await installation.run('migrate')).toBe('The database is up to date.\n');
  });

  it('shows tasks, files, usage, records, balances, keys and endpoints as the first release did', async () => {
    await installation.start('api');
    const moved = old.first.endpoints.map((endpoint) => ({ ...endpoint, url: `http://${receiver.address}/hook` }));
    expect(await seenBy(first)).toMatchObject({ ...old.first, endpoints: moved });
    expect(await seenBy(studio)).toMatchObject(old.studio);
    // The first release returned `created_at` twice, also as `time`.
    const accounts = old.accounts.map(({ time: _createdAt, ...account }) => account);
    expect(await admin.data('GET', '/admin/v1/accounts')).toMatchObject(accounts);
  });

  it('serves a link issued by the first release', async () => {
    const link = old.first.tasks.find(({ task_id }) => task_id === old.tasks.image)?.result?.images?.[0];
    const { pathname, search } = new URL(link?.url ?? '');
    const bytes = Buffer.from(await (await fetch(installation.url + pathname + search)).arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(link?.sha256);
  });

  it('replays a request made before the upgrade, and charges nothing', async () => {
    const { path, body, headers, answer } = old.idempotent;
    const again = await first.send('POST', path, body, headers);
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([answer, 'true']);
    expect((await first.send('POST', path, { ...body, n: 2 }, headers)).status).toBe(422);
    expect((await seenBy(first)).balance).toEqual(old.first.balance);
  });

  it('shows a stored response and continues from it', async () => {
    const id = old.stored.id;
    expect((await first.send<JsonObject>('GET', `/v1/responses/${id}`)).body).toMatchObject(old.stored);
    const next = { model: 'vendor-5', input: 'What is my name?', previous_response_id: id };
    expect((await first.send<JsonObject>('POST', '/v1/responses', next)).body).toMatchObject({
      status: 'completed',
      previous_response_id: id,
    });
  });

  it('finishes the running and the queued video, and signs new webhooks with the old secret', async () => {
    for (const role of ROLES.filter((name) => name !== 'api')) await installation.start(role);
    const [running, waiting] = [await studio.finished(old.tasks.running), await studio.finished(old.tasks.waiting)];
    expect([running.status, waiting.status]).toEqual(['completed', 'completed']);
    expect(await studio.data('GET', '/v1/usage?group_by=model')).toMatchObject([
      { model: 'beta-2.5-preview', requests: 2, failed_requests: 0, amount: '0.500000' },
    ]);
    expect((await studio.send<JsonObject>('GET', '/v1/user/balance')).body).toMatchObject({ remain_balance: 24.5 });

    const image = await first.submit('/v1/images/generations', {
      model: 'eta-image-2.0',
      prompt: 'after the upgrade',
    });
    const event = await receiver.verified(old.webhookSecret, ({ data }) => data.task_id === image);
    expect([event.type, event.data.status]).toEqual(['task.completed', 'completed']);
  });

  it('reconciles every entry of the ledger, from the first on', async () => {
    const { body } = await admin.send('POST', '/admin/v1/reconciliations?full=true');
    expect(body.data).toMatchObject({ balanced: true, findings: [] });
  });

  it('stops in good order', async () => {
    expect(await installation.stop()).toEqual(ROLES.map((role) => [role, 0]));
  });
});
