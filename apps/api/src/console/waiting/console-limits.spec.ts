import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseMicros } from '#contracts';
import { LowBalanceNotices, MaintenanceService, SpendLimits } from '#features';
import { eventually, freePort, pngSample } from '#testing';
import { type ConsoleClient, consoleClient } from '../../../../../tests/harness/console-client.js';
import { consoleLinks } from '../../../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../../../tests/harness/test-gateway.js';

const IMAGES = '/v1/images/generations';
/** 0.035 each. */
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const ADMIN_TOKEN = 'an-admin-token-for-tests';

describe('Limits, notices and inputs in the console', () => {
  let gateway: TestGateway;
  let owner: ConsoleClient;
  let receiver: Server;
  let hook: string;
  const received: { type: string; data: Record<string, unknown> }[] = [];

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof received)[number]);
        response.writeHead(204).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    hook = `http://${address}/hook`;
    const port = await freePort();
    const MEDIA_FETCH_ALLOW = `${address},127.0.0.1:${port}`;
    gateway = await startTestGateway({ environment: { ADMIN_TOKEN, MEDIA_FETCH_ALLOW, PORT: String(port) } });
    const links = await consoleLinks(gateway);
    owner = consoleClient(gateway);
    await owner.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
    await links.close();
  });
  afterAll(async () => {
    await gateway.stop();
    receiver.close();
    receiver.closeAllConnections();
  });

  const query = (text: string, values: unknown[] = []) => gateway.database.query({ text, values });
  /** A key with settings, and what it sends. */
  async function keyWith(settings: object): Promise<{ id: string; bearer: Record<string, string> }> {
    const { body } = await owner.call('POST /keys', { name: 'limited', ...settings });
    return { id: body.key.id, bearer: { authorization: `Bearer ${body.secret}` } };
  }
  const submit = (bearer: Record<string, string>) =>
    gateway.send<{ data: { task_id: string }[]; error?: { code: string; message: string } }>(
      'POST',
      IMAGES,
      IMAGE,
      bearer,
    );
  /** Again while the database is too slow to take it, as a client does. */
  const submitUntilTaken = async (bearer: Record<string, string>) => {
    for (;;) {
      const answer = await submit(bearer);
      if (answer.status !== 503) return answer;
    }
  };
  const limitsOf = async (id: string) => (await owner.call('GET /keys/:key_id', {}, `/keys/${id}`)).body.limits;

  it('cap the daily spending of a key, report when it resets, and then reset', async () => {
    const { id, bearer } = await keyWith({ daily_limit: '0.08', monthly_limit: '5' });
    const tasks = [];
    for (let count = 0; count < 2; count += 1) tasks.push((await submit(bearer)).body.data[0]?.task_id ?? '');
    const refused = await submit(bearer);
    expect([refused.status, refused.body.error?.code]).toEqual([402, 'spend_limit_reached']);
    const midnight = new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();
    expect(refused.body.error?.message).toMatch(/daily limit of this API key.*0\.080000/);
    expect(refused.body.error?.message).toContain(midnight);
    await Promise.all(tasks.map((task) => gateway.waitForTask(task)));
    const [day, month] = await limitsOf(id);
    expect(day).toEqual({ period: 'day', limit: '0.080000', spent: '0.070000', held: '0.000000', resets_at: midnight });
    expect(month).toMatchObject({ period: 'month', limit: '5.000000', spent: '0.070000' });
    expect((await submit(bearer)).status).toBe(402);

    // As at midnight: what was spent belongs to yesterday.
    await query(`update usage_daily set day = day - 1 where api_key_id = $1`, [id]);
    await query(`delete from spend_mark where subject_id = $1`, [id]);
    expect((await limitsOf(id))[0]).toMatchObject({ period: 'day', spent: '0.000000' });
    expect((await submit(bearer)).status).toBe(200);
  });

  it('hold under concurrent requests, and for text requests too', async () => {
    const { id, bearer } = await keyWith({ daily_limit: '0.35' });
    const answers = await Promise.all(Array.from({ length: 30 }, () => submitUntilTaken(bearer)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(
      answers.flatMap(({ status, body }) => (status === 200 || status === 402 ? [] : [JSON.stringify(body)])),
    ).toEqual([]);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(20);
    await Promise.all(
      answers.flatMap(({ body }) => body.data?.map(({ task_id: task }) => gateway.waitForTask(task)) ?? []),
    );
    expect((await limitsOf(id))[0]).toMatchObject({ spent: '0.350000', held: '0.000000' });
    const text = { model: 'vendor-5', input: 'Say hello.', max_output_tokens: 50 };
    const refused = await gateway.send<{ error: { code: string } }>('POST', '/v1/responses', text, bearer);
    expect([refused.status, refused.body.error.code]).toEqual([402, 'spend_limit_reached']);
    await owner.call('POST /keys/:key_id', { daily_limit: null }, `/keys/${id}`);
    expect((await gateway.send('POST', '/v1/responses', text, bearer)).status).toBe(200);
  });

  it('apply to the whole account, and are shown beside the balance', async () => {
    const { bearer } = await keyWith({});
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const set = (monthly: string | null) =>
      gateway.send('PATCH', `/admin/v1/accounts/${gateway.accountId}`, { monthly_limit: monthly }, admin);
    expect((await set('0.01')).status).toBe(200);
    const refused = await submit(bearer);
    expect(refused.body.error?.message).toMatch(/monthly limit of the account.*begins again at \d{4}-\d\d-01T00:00/);
    expect((await owner.call('GET /billing')).body.limits).toMatchObject([{ period: 'month', limit: '0.010000' }]);
    await set(null);
    expect((await submit(bearer)).status).toBe(200);
    expect((await owner.call('GET /billing')).body.limits).toEqual([]);
  });

  it('start each period with the amounts of the daily sums', async () => {
    const { id, bearer } = await keyWith({ daily_limit: '1' });
    await gateway.waitForTask((await submit(bearer)).body.data[0]?.task_id ?? '');
    const limits = new SpendLimits(gateway.database);
    await limits.mark();
    expect((await limitsOf(id))[0]).toMatchObject({ spent: '0.035000' });
    await gateway.waitForTask((await submit(bearer)).body.data[0]?.task_id ?? '');
    expect((await limitsOf(id))[0]).toMatchObject({ spent: '0.070000' });
    await query('update spend_mark set started_on = started_on - 40 where subject_id = $1', [id]);
    await limits.mark();
    expect((await limitsOf(id))[0]).toMatchObject({ spent: '0.070000' });
  });

  it('notify the endpoints of an account once when the balance is low, and again after a recovery', async () => {
    await owner.call('POST /webhooks/endpoints', { url: hook, event_types: ['balance.low'] });
    const { available } = (await owner.call('GET /billing')).body;
    const above = (parseMicros(available) / 1_000_000n + 1n).toString();
    const notices = () => received.filter(({ type }) => type === 'balance.low');
    expect((await owner.call('POST /billing/notice', { low_balance: above })).body.low_balance).toBe(`${above}.000000`);
    await eventually(() => notices().length === 1);
    expect(notices()[0]?.data).toMatchObject({
      account_id: gateway.accountId,
      low_balance: `${above}.000000`,
      recipients: [],
    });
    expect(String(notices()[0]?.data['text'])).toContain('left to spend');
    const noticed = async () =>
      (await query('select low_balance_noticed_at from account where id = $1', [gateway.accountId])).rows[0]?.[
        'low_balance_noticed_at'
      ];
    await query('update account set available_micros = available_micros + 2000000 where id = $1', [gateway.accountId]);
    await eventually(async () => (await noticed()) === null);
    await query('update account set available_micros = available_micros - 2000000 where id = $1', [gateway.accountId]);
    await eventually(() => notices().length === 2);
    expect((await owner.call('POST /billing/notice', { low_balance: null })).body.low_balance).toBeNull();
  });

  it('notify nobody for what open work holds and may give back, nor at the threshold itself, but from a micro below it on', async () => {
    const { rows } = await query(
      `insert into account (id, name, available_micros, low_balance_micros) values ('acct_held', 'held', 5000000, 5000000)
        returning id`,
    );
    const isNoticedAfter = async (change: string): Promise<boolean> => {
      await query(`update account set ${change} where id = $1`, [rows[0]?.['id']]);
      await new LowBalanceNotices(gateway.database, 'USD').send();
      const now = await query('select low_balance_noticed_at as at from account where id = $1', [rows[0]?.['id']]);
      return now.rows[0]?.['at'] !== null;
    };
    const held = 'available_micros = available_micros - 3000000, held_micros = held_micros + 3000000';
    expect(await isNoticedAfter(held)).toBe(false);
    expect(await isNoticedAfter('available_micros = 5000000, held_micros = 0')).toBe(false);
    expect(await isNoticedAfter('available_micros = 4999999')).toBe(true);
    expect(await isNoticedAfter(held)).toBe(true);
    expect(await isNoticedAfter('available_micros = 5000000, held_micros = 0')).toBe(false);
    await query(`update account set low_balance_micros = null where id = $1`, [rows[0]?.['id']]);
  });

  it.each([
    ['notice', 'acct_000_stuck', '0', 'null'],
    ['recovery', 'acct_001_stuck', '2000000', 'now()'],
  ])('notify an account whatever keeps the %s of another from being written', async (_what, stuck, left, noticed) => {
    await query(
      `insert into account (id, name, available_micros, low_balance_micros, low_balance_noticed_at)
        values ('${stuck}', 'stuck', ${left}, 1000000, ${noticed})`,
    );
    await query(`create function refuse_mark() returns trigger language plpgsql as $$ begin raise 'no notice'; end $$`);
    await query(`create trigger no_mark before update of low_balance_noticed_at on account for each row
      when (new.id = '${stuck}') execute function refuse_mark()`);
    const before = received.filter(({ type }) => type === 'balance.low').length;
    const { available } = (await owner.call('GET /billing')).body;
    const above = (parseMicros(available) / 1_000_000n + 1n).toString();
    await owner.call('POST /billing/notice', { low_balance: above });
    await eventually(() => received.filter(({ type }) => type === 'balance.low').length > before);
    const paused = async () => (await query('select job, subject_id, reason from paused_work')).rows;
    await eventually(async () => (await paused()).length > 0);
    expect(await paused()).toEqual([{ job: 'low-balance', subject_id: stuck, reason: 'no notice' }]);
    await owner.call('POST /billing/notice', { low_balance: null });
    await query(`drop function refuse_mark cascade`);
    await query(`update account set low_balance_micros = null where id = '${stuck}'`);
    await query('delete from paused_work');
  });

  it('keep an image for a day at a link that a run can use, and refuse other files and large ones', async () => {
    const png = pngSample({ width: 400, height: 400 });
    const upload = (bytes: Buffer) =>
      owner.call('POST /uploads', { content_type: 'image/gif', data: bytes.toString('base64') });
    const { status, body } = await upload(png);
    expect([status, body.content_type, body.bytes]).toEqual([200, 'image/png', png.length]);
    const fetched = await fetch(body.url);
    expect([fetched.headers.get('content-type'), (await fetched.arrayBuffer()).byteLength]).toEqual([
      'image/png',
      png.length,
    ]);
    const run = { model: 'zeta-q3', prompt: 'the same at night', image_urls: [body.url] };
    const task = await owner.call('POST /runs', run);
    expect([task.status, task.body.error?.message]).toEqual([200, undefined]);
    expect((await gateway.waitForTask(task.body.task_id)).status).toBe('completed');

    expect((await upload(Buffer.from('<script>alert(1)</script>'))).body.error?.code).toBe('invalid_media');
    expect(
      (await owner.call('POST /uploads', { content_type: 'image/png', data: 'no base64!' })).body.error?.field,
    ).toBe('data');
    const large = Buffer.concat([png, Buffer.alloc(31 * 1024 * 1024)]);
    expect((await upload(large)).body.error?.code).toBe('request_too_large');

    await query(`update uploaded_file set expires_at = now() where purpose = 'vision'`);
    await new MaintenanceService(gateway.database, gateway.platform.store, gateway.platform.config.retention).run();
    expect((await fetch(body.url)).status).toBe(404);
  });
});
