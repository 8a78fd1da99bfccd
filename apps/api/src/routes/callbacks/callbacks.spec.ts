import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { eventually } from '#testing';
import { startTestGateway, type TestGateway } from '../../../../../tests/harness/test-gateway.js';

/** A vendor that accepts orders, never finishes them, and records its callback addresses. */
class Vendor {
  /** By its own name of the model. */
  readonly callbackUrls = new Map<string, string>();
  checks = 0;
  private readonly server: Server = createServer((request, response) => {
    const answer = (body: object): void => void response.end(JSON.stringify(body));
    if (request.method !== 'POST') {
      this.checks += 1;
      return answer({ id: 'cgt-1', status: 'running' });
    }
    void json(request).then((order) => {
      const { model, callback_url: url } = order as { model: string; callback_url: string };
      this.callbackUrls.set(model, url);
      answer({ id: 'cgt-1', task_id: '1', base_resp: { status_code: 0 } });
    });
  });

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('POST /callbacks/v1/{upstream}/{token}', () => {
  const vendor = new Vendor();
  let folder: string;
  let gateway: TestGateway;
  let taskId: string;
  let path: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'callbacks-'));
    const file = join(folder, 'upstreams.yaml');
    const entry = { id: 'ark', protocol: 'ark-video', base_url: await vendor.start(), key: 'ark-key', callbacks: true };
    const upstreams = [
      { ...entry, models: { 'alpha-2.0': 'seedance' } },
      { ...entry, id: 'minimax', protocol: 'minimax', models: { 'epsilon-2.3': 'hailuo' } },
      { ...entry, id: 'vidu', protocol: 'vidu', models: { 'zeta-q3-pro': 'viduq3' } },
    ];
    await writeFile(file, JSON.stringify({ media_upstreams: upstreams }));
    const environment = { UPSTREAMS_FILE: file, PUBLIC_BASE_URL: 'https://gateway.example.com/' };
    gateway = await startTestGateway({ environment });
    taskId = await gateway.submit('/v1/videos/generations', { model: 'alpha-2.0', prompt: 'A heron.' });
    path = await addressOf('seedance');
    await eventually(async () => (await turn()) === 'later');
  });
  afterAll(async () => {
    await gateway.stop();
    vendor.stop();
    await rm(folder, { recursive: true });
  });

  /** The callback address that the vendor got with an order of this model. */
  const addressOf = async (model: string): Promise<string> =>
    new URL(await eventually(() => vendor.callbackUrls.get(model))).pathname;

  /** When the vendor is to be asked about the task. */
  async function turn(): Promise<string | undefined> {
    const { rows } = await gateway.database.query<{ turn: string }>({
      text: `select case when polls > 0 or next_poll_at <= now() then 'now' else 'later' end as turn
        from task_poll where task_id = $1`,
      values: [taskId],
    });
    return rows[0]?.turn;
  }

  it('gives the vendor a callback address on the public URL that reveals nothing about the task', () => {
    expect(vendor.callbackUrls.get('seedance')).toMatch(
      /^https:\/\/gateway\.example\.com\/callbacks\/v1\/ark\/[\w-]{40,}$/,
    );
    expect(vendor.callbackUrls.get('seedance')).not.toContain(taskId);
  });

  it.each([
    ['a made-up address', () => '/callbacks/v1/ark/bm90aGluZw'],
    ['an address of another upstream', () => path.replace('/ark/', '/kling/')],
    ['an address in which a letter is another', () => path.slice(0, -2) + (path.endsWith('AA') ? 'BB' : 'AA')],
  ])('answers 404 at %s, and asks no vendor', async (_, forged) => {
    expect(await gateway.send('POST', forged(), { status: 'succeeded' })).toMatchObject({ status: 404 });
    expect([await turn(), vendor.checks]).toEqual(['later', 0]);
  });

  it('polls the vendor at once, and trusts nothing in the callback', async () => {
    const response = await gateway.send('POST', path, { id: 'cgt-1', status: 'failed' }, { authorization: '' });
    expect(response).toMatchObject({ status: 200, body: {} });
    expect(await turn()).toBe('now');
    await eventually(() => vendor.checks > 0);
    const { body } = await gateway.send<{ data: { status: string } }>('GET', `/v1/tasks/${taskId}`);
    expect(body.data.status).toBe('in_progress');
  });

  it('returns the challenge of a vendor, as often as it is asked', async () => {
    await gateway.submit('/v1/videos/generations', { model: 'epsilon-2.3', prompt: 'A heron.', duration: 6 });
    const address = await addressOf('hailuo');
    for (const challenge of ['word-1', 'word-2'])
      expect(await gateway.send('POST', address, { challenge }, { authorization: '' })).toMatchObject({
        status: 200,
        body: { challenge },
      });
    const long = await gateway.send('POST', address, { challenge: 'a'.repeat(100_000) }, { authorization: '' });
    expect(long).toMatchObject({ status: 200, body: {} });
  });

  it('accepts callbacks of a signing vendor only with its signature', async () => {
    await gateway.submit('/v1/videos/generations', { model: 'zeta-q3-pro', prompt: 'A heron.' });
    const address = await addressOf('viduq3');
    const unsigned = await gateway.send('POST', address, { state: 'success' }, { authorization: '' });
    expect(unsigned).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    const date = new Date().toUTCString();
    const signature = createHmac('sha256', 'ark-key').update(`POST\n${address}\n\nvidu\n${date}\nDate:${date}\n`);
    const headers = { 'x-hmac-signed-headers': 'Date', 'x-hmac-signature': signature.digest('base64'), date };
    expect(await gateway.send('POST', address, {}, { ...headers, authorization: '' })).toMatchObject({ status: 200 });
  });

  it('accepts repeated callbacks, in any form', async () => {
    const body = '<task status="failed"/>';
    const { status } = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/xml' },
    });
    expect(status).toBe(200);
  });
});
