import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PeriodicTask, timeOrderedId } from '#platform';
import { openPlatform, type Platform, readProcessConfig } from '#runtime';
import { createTestDatabase, eventually, uniqueRedisPrefix } from '#testing';
import { createWebhookSender, type WebhookSender } from './webhook-sender.js';

const ADD_DELIVERIES = `
insert into webhook_delivery (id, account_id, event_type, url, payload, next_attempt_at)
select id, 'acct_hooks', 'task.completed', $2, '{}', now() - interval '1 minute' from unnest($1::text[]) as id`;

/** Listens on a port of its own, which makes it a receiver of its own. */
async function receiver(listener: RequestListener): Promise<{ server: Server; url: string; port: number }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}/hook` };
}

describe('Sending webhooks to many receivers', () => {
  let platform: Platform;
  let sender: WebhookSender;
  let loop: PeriodicTask;
  const closing: (() => Promise<void> | void)[] = [];
  const silent = { calls: 0, mostAtOnce: 0, open: 0 };
  const prompt = { calls: 0 };
  let urls: { silent: string; prompt: string };

  beforeAll(async () => {
    const database = await createTestDatabase();
    const mute = await receiver((request) => {
      silent.calls += 1;
      silent.open += 1;
      silent.mostAtOnce = Math.max(silent.mostAtOnce, silent.open);
      request.socket.once('close', () => (silent.open -= 1));
    });
    const quick = await receiver((request, response) => {
      prompt.calls += 1;
      request.resume();
      response.writeHead(204).end();
    });
    urls = { silent: mute.url, prompt: quick.url };
    platform = await openPlatform(
      readProcessConfig({
        ...database.environment,
        KEY_PEPPER: 'a-pepper-for-tests-only',
        QUEUE_PREFIX: uniqueRedisPrefix(),
        MEDIA_FETCH_ALLOW: `127.0.0.1:${mute.port},127.0.0.1:${quick.port}`,
      }),
    );
    await platform.database.query({ text: `insert into account (id, name) values ('acct_hooks', 'hooks')` });
    sender = createWebhookSender(platform);
    loop = new PeriodicTask('webhooks', 250, () => sender.sendDue());
    loop.start();
    closing.push(
      () => {
        for (const { server } of [mute, quick]) {
          server.close();
          server.closeAllConnections();
        }
      },
      () => loop.stop(),
      () => sender.finished(),
      () => platform.close(1_000),
      () => database.remove(),
    );
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  async function add(count: number, url: string): Promise<void> {
    const ids = Array.from({ length: count }, () => timeOrderedId('msg'));
    await platform.database.query({ text: ADD_DELIVERIES, values: [ids, url] });
  }

  it('delivers to one while 500 deliveries wait for another that never responds', async () => {
    await add(500, urls.silent);
    await eventually(() => silent.calls >= 20);
    await add(1, urls.prompt);
    await eventually(() => prompt.calls === 1);
    expect(silent.calls).toBe(20);
  });

  it('never has more than 20 calls to one receiver at once', () => {
    expect(silent.mostAtOnce).toBe(20);
  });

  it('sends a whole backlog to a receiver that answers without waiting for the next turn of the loop', async () => {
    await loop.stop();
    const expected = prompt.calls + 300;
    await add(300, urls.prompt);
    loop = new PeriodicTask('webhooks', 3_600_000, () => sender.sendDue());
    loop.start();
    await eventually(() => prompt.calls >= expected);
    expect(prompt.calls).toBe(expected);
  });

  it('gives up a delivery whose task is gone, and says so in its log', async () => {
    await platform.database.query({
      text: 'alter table webhook_delivery drop constraint webhook_delivery_task_id_fkey',
    });
    const id = timeOrderedId('msg');
    await platform.database.query({
      text: `insert into webhook_delivery (id, account_id, task_id, event_type, url, payload, next_attempt_at)
        values ($1, 'acct_hooks', 'task_gone', 'task.completed', $2, '', now())`,
      values: [id, urls.prompt],
    });
    const read = async () =>
      (
        await platform.database.query<{ state: string; last_error: string }>({
          text: `select state, last_error from webhook_delivery where id = $1`,
          values: [id],
        })
      ).rows[0];
    expect(await eventually(async () => ((await read())?.state === 'failed' ? read() : null))).toMatchObject({
      last_error: expect.stringContaining('task'),
    });
  });
});
