import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { JsonValue, TaskView } from '#contracts';
import { FakeGateway, FakeVendor, FakeXaiImage } from '#vendor-fakes';
import { eventually } from '#testing';
import { type MediaHost, startMediaHost } from '../harness/media-host.js';
import { createGatewayPlace, type GatewayPlace, startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'iota-1.0-reseller', prompt: 'a lighthouse' };
/** An image of that model costs so much. */
const PRICE = '0.020000';

describe('A vendor that lies', () => {
  let host: MediaHost;
  let inner: Server;
  let innerAsked = 0;
  let xai: FakeVendor<FakeXaiImage>;
  let peer: FakeVendor<FakeGateway>;
  let place: GatewayPlace;
  let gateway: TestGateway;

  beforeAll(async () => {
    host = await startMediaHost();
    inner = createServer((_, response) => {
      innerAsked += 1;
      response.end('a secret of the network');
    }).listen(0, '127.0.0.1');
    await once(inner, 'listening');
    xai = await FakeVendor.start(new FakeXaiImage());
    peer = await FakeVendor.start(new FakeGateway());
    place = await createGatewayPlace();
    const file = join(place.dataDirectory, 'upstreams.yaml');
    const entries = [
      { id: 'xai', protocol: 'xai-image', base_url: xai.baseUrl, key: xai.protocol.key, models: 'all' },
      {
        id: 'peer',
        protocol: 'gateway',
        base_url: peer.baseUrl,
        key: peer.protocol.key,
        models: { 'eta-image-2.0': 'eta-image-2.0' },
      },
    ];
    await writeFile(file, JSON.stringify({ media_upstreams: entries }));
    gateway = await startTestGateway({ place, environment: { UPSTREAMS_FILE: file, MEDIA_FETCH_ALLOW: host.address } });
  });
  afterAll(async () => {
    await gateway.stop();
    await place.remove();
    await xai.close();
    await peer.close();
    inner.close();
    await host.stop();
  });
  beforeEach(() => {
    xai.reset();
    peer.reset();
  });

  const imageAt = (url: string): JsonValue => ({ url, mime_type: 'image/png', respect_moderation: true });

  /** What happens to an order; its tries follow each other without a pause. */
  async function outcomeOf(taskId: string): Promise<TaskView> {
    const hasten = setInterval(() => {
      void gateway.database.query({
        text: `update task set lease_until = now() where lease_owner is null and lease_until > now() and state = 'storing'`,
      });
    }, 50);
    return gateway.waitForTask(taskId).finally(() => clearInterval(hasten));
  }
  const chargedNothing = { status: 'failed', usage: { amount: '0.000000', final: true } };

  it.each([
    ['an address of this machine', () => `http://127.0.0.1:${(inner.address() as AddressInfo).port}/image.png`],
    ['the address of a cloud that tells its secrets', () => 'http://169.254.169.254/latest/meta-data'],
  ])('is not followed to %s, and the caller pays nothing', async (_, url) => {
    xai.protocol.data = [imageAt(url())];
    expect(await outcomeOf(await gateway.submit(IMAGES, IMAGE))).toMatchObject(chargedNothing);
    expect(innerAsked).toBe(0);
  });

  it.each(['/html/1', '/mp4/640x480x5'])('cannot deliver anything but images as an image: %s', async (path) => {
    xai.protocol.data = [imageAt(host.url(path))];
    expect(await outcomeOf(await gateway.submit(IMAGES, IMAGE))).toMatchObject(chargedNothing);
  });

  it('names a file of a batch that is not there, and the caller gets the others and pays for those', async () => {
    xai.protocol.data = ['/png/64x64', '/gone', '/png/32x32'].map((path) => imageAt(host.url(path)));
    const task = await outcomeOf(await gateway.submit(IMAGES, { ...IMAGE, n: 3 }));
    expect(task).toMatchObject({
      status: 'completed',
      usage: { amount: '0.040000', quantity: 2, final: true },
      notice: 'The vendor delivered 2 of 3 files; the missing ones are not charged.',
    });
    expect(task.result?.images?.map(({ width }) => width)).toEqual([64, 32]);
  });

  it('delivers no more files than were ordered, and charges for no more', async () => {
    xai.protocol.data = Array.from({ length: 40 }, () => imageAt(host.url('/png/64x64')));
    const task = await outcomeOf(await gateway.submit(IMAGES, IMAGE));
    expect(task).toMatchObject({ status: 'completed', usage: { amount: PRICE } });
    expect(task.result?.images).toHaveLength(1);
  });

  it('may charge nine hundred dollars for an image, which is recorded, while the caller pays the price', async () => {
    xai.protocol.data = [imageAt(host.url('/png/64x64'))];
    xai.protocol.ticks = 900 * 10_000_000_000;
    const taskId = await gateway.submit(IMAGES, IMAGE);
    expect(await outcomeOf(taskId)).toMatchObject({ status: 'completed', usage: { amount: PRICE } });
    const text = 'select cost_unit, amount_micros from usage_record where task_id = $1';
    const { rows } = await gateway.database.query({ text, values: [taskId] });
    expect(rows).toEqual([{ cost_unit: 'usd_ticks', amount_micros: 20_000n }]);
  });

  it('may revoke a finished state, and the caller pays once for what was delivered', async () => {
    const result = { images: [{ url: host.url('/png/64x64'), content_type: 'image/png' }] };
    peer.protocol.view = { result };
    const taskId = await gateway.submit(IMAGES, { model: 'eta-image-2.0', prompt: 'a lighthouse' });
    await eventually(async () => {
      const text = `select from task where id = $1 and state in ('storing', 'completed')`;
      return (await gateway.database.query({ text, values: [taskId] })).rows.length > 0;
    });
    peer.protocol.view = { status: 'failed', result: null, error: { code: 'content_policy', message: 'x' } };
    expect(await outcomeOf(taskId)).toMatchObject({ status: 'completed' });
    const text = `select kind from ledger_entry where task_id = $1 and kind = 'capture'`;
    expect((await gateway.database.query({ text, values: [taskId] })).rows).toHaveLength(1);
  });

  it('may echo the key in every reply, and no row of any table holds it', async () => {
    const { key } = xai.protocol;
    const saying = { code: key, error: key, message: key };
    xai.next({ status: 400, headers: { 'x-request-id': key }, body: saying });
    xai.protocol.data = [imageAt(host.url(`/png/64x64?${key}`))];
    for (let order = 0; order < 2; order += 1) await outcomeOf(await gateway.submit(IMAGES, IMAGE));
    const { rows: tables } = await gateway.database.query<{ name: string }>({
      text: `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    });
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      const text = `select count(*)::integer as holding from ${name} t where t::text like '%' || $1 || '%'`;
      const { rows } = await gateway.database.query<{ holding: number }>({ text, values: [key] });
      expect([name, rows[0]?.holding]).toEqual([name, 0]);
    }
  });
});
