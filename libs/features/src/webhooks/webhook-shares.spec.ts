import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRateCounter, PeriodicTask, timeOrderedId } from '#platform';
import { openPlatform, type Platform, readProcessConfig } from '#runtime';
import { createTestDatabase, eventually, uniqueRedisPrefix } from '#testing';
import { AccountRate } from '../limits/account-rate.js';
import { createWebhookSender, type WebhookSender } from './webhook-sender.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';

const ADD_DELIVERIES = `
insert into webhook_delivery (id, account_id, event_type, url, payload, next_attempt_at)
select id, $2, 'task.completed', url, '{}', now() - interval '1 minute' from unnest($1::text[], $3::text[]) as u(id, url)`;

const TARPITS = 110;

async function listen(host: string, listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener).listen(0, host);
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

describe('The share of webhooks that each account has', () => {
  let platform: Platform;
  let sender: WebhookSender;
  const closing: (() => Promise<void> | void)[] = [];
  let tarpits: string[];
  let dead: { url: string; calls: number; isBack: boolean };
  let prompt: { url: string; calls: number };
  let dripping: { url: string; calls: number };

  beforeAll(async () => {
    const database = await createTestDatabase();
    const tarpit = await listen('0.0.0.0', () => undefined);
    tarpits = Array.from({ length: TARPITS }, (_, index) => `http://127.0.1.${index + 1}:${tarpit.port}/hook`);
    const quick = await listen('127.0.0.1', (request, response) => {
      prompt.calls += 1;
      request.resume();
      response.writeHead(204).end();
    });
    const gone = await listen('127.0.0.1', (request, response) => {
      dead.calls += 1;
      request.resume();
      if (dead.isBack) response.writeHead(204).end();
      else request.socket.destroy();
    });
    const drip = await listen('127.0.0.1', (_, response) => {
      dripping.calls += 1;
      const timer = setInterval(() => response.write('a'), 50);
      response.on('close', () => clearInterval(timer));
    });
    const urlOf = (port: number): string => `http://127.0.0.1:${port}/hook`;
    prompt = { url: urlOf(quick.port), calls: 0 };
    dead = { url: urlOf(gone.port), calls: 0, isBack: false };
    dripping = { url: urlOf(drip.port), calls: 0 };
    const allowed = [...tarpits, prompt.url, dead.url, dripping.url].map((url) => new URL(url).host);
    platform = await openPlatform(
      readProcessConfig({
        ...database.environment,
        KEY_PEPPER: 'a-pepper-for-tests-only',
        QUEUE_PREFIX: uniqueRedisPrefix(),
        MEDIA_FETCH_ALLOW: allowed.join(','),
      }),
    );
    await platform.database.query({
      text: `insert into account (id, name) select name, name from unnest($1::text[]) as name`,
      values: [['hostile', 'victim', 'unlucky', 'slow']],
    });
    sender = createWebhookSender(platform);
    const loop = new PeriodicTask('webhooks', 250, () => sender.sendDue());
    loop.start();
    closing.push(
      () => {
        for (const { server } of [tarpit, quick, gone, drip]) {
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

  async function add(account: string, urls: readonly string[]): Promise<string[]> {
    const ids = urls.map(() => timeOrderedId('msg'));
    await platform.database.query({ text: ADD_DELIVERIES, values: [ids, account, urls] });
    return ids;
  }

  const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

  const states = async (ids: readonly string[]): Promise<string[]> => {
    const text = 'select state from webhook_delivery where id = any($1)';
    return (await platform.database.query<{ state: string }>({ text, values: [ids] })).rows.map(({ state }) => state);
  };

  it('accepts a response by its status, however slow its body', async () => {
    const ids = await add('slow', [dripping.url]);
    // A call that continues until its time is up counts as unanswered.
    await eventually(async () => (await states(ids))[0] !== 'pending');
    expect(await states(ids)).toEqual(['delivered']);
  });

  it('cools down a receiver that does not respond, instead of calling it for every delivery', async () => {
    const ids = await add('unlucky', times(300, dead.url));
    const coolingUntil = async (): Promise<Date | undefined> => {
      const text = `select cooling_until from webhook_receiver where account_id = 'unlucky' and cooling_until > now()`;
      return (await platform.database.query<{ cooling_until: Date }>({ text })).rows[0]?.cooling_until;
    };
    await eventually(async () => (await coolingUntil()) !== undefined);
    await eventually(async () => {
      const text = `select 1 from webhook_delivery where account_id = 'unlucky' and ready`;
      return (await platform.database.query({ text })).rows.length === 0;
    });
    // What was claimed before the rest began arrives a little later.
    await eventually(async () => {
      const text = `select sum(attempts)::integer as calls from webhook_delivery where account_id = 'unlucky'`;
      return (await platform.database.query<{ calls: number }>({ text })).rows[0]?.calls === dead.calls;
    });
    // The calls that were under way before the third of them failed, and not one for each of 300.
    expect(dead.calls).toBeLessThanOrEqual(40);
    const before = dead.calls;
    await eventually(() => dead.calls > before);
    expect(dead.calls).toBe(before + 1);
    expect(await states(ids)).toEqual(times(300, 'pending'));
  });

  it('resends at once on request of the owner, and then the rest, when the receiver is back', async () => {
    dead.isBack = true;
    const text = `select id from webhook_delivery where account_id = 'unlucky' order by id limit 1`;
    const { rows } = await platform.database.query<{ id: string }>({ text });
    const rate = new AccountRate(createRateCounter(platform.config.queue, platform.database, true));
    await new WebhookDeliveriesService(platform.database, rate).resend('unlucky', rows[0]?.id ?? '');
    await eventually(async () => (await states([rows[0]?.id ?? '']))[0] === 'delivered');
    await platform.database.query({
      text: `update webhook_delivery set next_attempt_at = now() where account_id = 'unlucky' and state = 'pending'`,
    });
    const open = `select 1 from webhook_delivery where account_id = 'unlucky' and state = 'pending'`;
    await eventually(async () => (await platform.database.query({ text: open })).rows.length === 0);
    expect(
      (await platform.database.query({ text: `select 1 from webhook_receiver where account_id = 'unlucky'` })).rows,
    ).toEqual([]);
  });

  it('delivers to one account without delay while another has 440 deliveries for 110 silent receivers', async () => {
    await add('hostile', times(4, tarpits).flat());
    const open = `select 1 from webhook_delivery where account_id = 'hostile' and attempts > 0`;
    await eventually(async () => (await platform.database.query({ text: open })).rows.length >= 40);
    const expected = prompt.calls + 1;
    await add('victim', [prompt.url]);
    await eventually(() => prompt.calls === expected);
    // Its share and not one place more, and none of these calls had been given up.
    expect((await platform.database.query({ text: open })).rows).toHaveLength(40);
  });
});
