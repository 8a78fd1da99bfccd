import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { TaskView } from '#contracts';
import { eventually } from '#testing';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };
const IMAGES = '/v1/images/generations';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

interface DeliveryLog {
  readonly id: string;
  readonly status: string;
  readonly event_type: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly log: { readonly attempt: number; readonly status: number | null }[];
}

const event = ({ body }: Received) => JSON.parse(body) as { type: string; timestamp: string; data: TaskView };

/** Headers as the verifying library wants them. */
const signed = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

describe('Webhooks', () => {
  let receiver: Server;
  let address: string;
  let gateway: TestGateway;
  const received: Received[] = [];
  /** What the receiver answers on a path, in order; then 204. */
  const answers = new Map<string, number[]>();

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const path = request.url ?? '';
        received.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString(), atMs: Date.now() });
        response.writeHead(answers.get(path)?.shift() ?? 204).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    address = `http://127.0.0.1:${port}`;
    gateway = await startTestGateway({ environment: { MEDIA_FETCH_ALLOW: `127.0.0.1:${port}` } });
  });
  afterAll(async () => {
    await gateway.stop();
    receiver.close();
    receiver.closeAllConnections();
  });

  /** The `count`th call on a path. */
  const call = (path: string, count = 1): Promise<Received> =>
    eventually(() => received.filter((candidate) => candidate.path === path)[count - 1]);

  async function delivery(path: string): Promise<DeliveryLog> {
    const { body } = await gateway.send<{ data: { id: string; url: string }[] }>('GET', '/v1/webhooks/deliveries');
    const id = body.data.find(({ url }) => url === address + path)?.id ?? '';
    return (await gateway.send<{ data: DeliveryLog }>('GET', `/v1/webhooks/deliveries/${id}`)).body.data;
  }

  /** Waits until the log has an attempt. */
  const recorded = (path: string, attempt: number): Promise<boolean> =>
    eventually(async () => ((await delivery(path)).log ?? []).some((logged) => logged.attempt === attempt));

  /** Makes the attempt after a logged one due now. */
  async function hasten(path: string, attempt: number): Promise<void> {
    await recorded(path, attempt);
    await gateway.database.query({
      text: 'update webhook_delivery set next_attempt_at = now() where url = $1 and attempts = $2',
      values: [address + path, attempt],
    });
  }

  const secretOf = async (): Promise<string> =>
    (await gateway.send<{ data: { secret: string } }>('GET', '/v1/webhooks/signing-secret')).body.data.secret;

  it.each([
    ['the body', '/in-body', (url: string) => gateway.send('POST', IMAGES, { ...IMAGE, webhook_url: url })],
    [
      'the header',
      '/in-header',
      (url: string) =>
        gateway.send('POST', IMAGES, IMAGE, { 'x-api-key': 'sk-test-0123456789abcdef', 'x-webhook-url': url }),
    ],
  ])('calls the address named in %s, signed, when the money is final', async (_place, path, submit) => {
    expect((await submit(address + path)).status).toBe(200);
    const sent = await call(path);
    const { type, data } = event(sent);
    expect(type).toBe('task.completed');
    expect(data).toMatchObject({ status: 'completed', usage: { final: true, amount: '0.035000' } });
    expect((await fetch(data.result?.images?.[0]?.url ?? '')).status).toBe(200);
    expect(() =>
      new Webhook('whsec_c29tZWJvZHkgZWxzZSBzaWduZWQgdGhpcyBvbmU=').verify(sent.body, signed(sent)),
    ).toThrow();
    expect(new Webhook(await secretOf()).verify(sent.body, signed(sent))).toEqual(event(sent));
  });

  it.each([
    ['path', `http://receiver.example/${'\u6f22'.repeat(2_000)}`],
    ['host', `https://${'\u6f22\u5b57'.repeat(950)}.com/`],
  ])('measures an address as it is called, wherever it is named: one whose %s grows is refused', async (_part, url) => {
    const order = { model: 'kappa-a-4-0', prompt: 'a lighthouse' };
    const video = { model: 'alpha-a-4-0', prompt: 'a lighthouse' };
    const answers = [
      await gateway.send('POST', IMAGES, { ...order, webhook_url: url }),
      await gateway.send('POST', '/v1/videos/generations', { ...video, webhook_url: url }),
      await gateway.send('POST', '/v1/webhooks/endpoints', { url }),
    ];
    for (const { status, body } of answers) {
      expect(body).toMatchObject({
        error: {
          code: 'invalid_parameter',
          param: expect.stringMatching(/^(webhook_)?url$/),
          message: expect.stringContaining('characters'),
        },
      });
      expect(status).toBe(400);
    }
  });

  it('sends endpoints only the events they subscribed to, each signed with its own secret', async () => {
    const { body } = await gateway.send<{ data: { id: string; secret: string } }>('POST', '/v1/webhooks/endpoints', {
      url: `${address}/failures`,
      event_types: ['task.failed'],
    });
    const { id, secret } = body.data;
    const completed = await gateway.submit(IMAGES, IMAGE);
    await gateway.waitForTask(completed);
    const failed = await gateway.submit(IMAGES, { ...IMAGE, prompt: '[sandbox:fail=content_policy]' });
    const sent = await call('/failures');
    expect(new Webhook(secret).verify(sent.body, signed(sent))).toMatchObject({
      type: 'task.failed',
      data: { task_id: failed },
    });
    expect(received.filter(({ path }) => path === '/failures')).toHaveLength(1);
    const listed = await gateway.send<{ data: { id: string; secret?: string }[] }>('GET', '/v1/webhooks/endpoints');
    expect(listed.body.data).toEqual([expect.not.objectContaining({ secret: expect.anything() })]);
    expect((await gateway.send('DELETE', `/v1/webhooks/endpoints/${id}`)).status).toBe(200);
  });

  it('retries with the same id and bytes until the receiver accepts, and logs every attempt', async () => {
    answers.set('/flaky', [500, 307]);
    await gateway.submit(IMAGES, { ...IMAGE, webhook_url: `${address}/flaky` });
    const first = await call('/flaky');
    await hasten('/flaky', 1);
    const second = await call('/flaky', 2);
    expect([second.headers['webhook-id'], second.body]).toEqual([first.headers['webhook-id'], first.body]);
    await hasten('/flaky', 2);
    const third = await call('/flaky', 3);
    expect(third.headers['webhook-id']).toBe(first.headers['webhook-id']);
    await recorded('/flaky', 3);
    expect(await delivery('/flaky')).toMatchObject({
      status: 'delivered',
      attempts: 3,
      log: [{ status: 500 }, { status: 307 }, { status: 204 }],
    });
  });

  it('signs with the old and the new secret for a while after a rotation', async () => {
    const before = await secretOf();
    const { body } = await gateway.send<{ data: { secret: string } }>('POST', '/v1/webhooks/signing-secret/rotate');
    expect(body.data.secret).not.toBe(before);
    await gateway.submit(IMAGES, { ...IMAGE, webhook_url: `${address}/rotated` });
    const sent = await call('/rotated');
    for (const secret of [before, body.data.secret]) {
      expect(new Webhook(secret).verify(sent.body, signed(sent))).toEqual(event(sent));
    }
  });

  it('makes test calls, and sends any delivery again', async () => {
    const { body } = await gateway.send<{ data: { id: string } }>('POST', '/v1/webhooks/endpoints', {
      url: `${address}/tests`,
    });
    await gateway.send('POST', `/v1/webhooks/endpoints/${body.data.id}/test`);
    const first = await call('/tests');
    expect(event(first).type).toBe('webhook.test');
    expect(
      (await gateway.send('POST', `/v1/webhooks/deliveries/${first.headers['webhook-id'] as string}/resend`)).status,
    ).toBe(200);
    const again = await call('/tests', 2);
    expect([again.headers['webhook-id'], again.body]).toEqual([first.headers['webhook-id'], first.body]);
    await gateway.send('DELETE', `/v1/webhooks/endpoints/${body.data.id}`);
  });

  it('limits the test calls and endpoints of an account, also under concurrent requests', async () => {
    const added = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        gateway.send<{ data: { id: string } }>('POST', '/v1/webhooks/endpoints', { url: `${address}/many-${index}` }),
      ),
    );
    const ids = added.flatMap(({ status, body }) => (status === 200 ? [body.data.id] : []));
    expect(ids.length).toBeLessThanOrEqual(20);
    const test = () => gateway.send('POST', `/v1/webhooks/endpoints/${ids[0]}/test`);
    const tests = await Promise.all(Array.from({ length: 30 }, test));
    expect(tests.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(10);
    expect(tests.at(-1)).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    await gateway.database.query({ text: `delete from rate_count where key like '%webhook-tests%'` });
    await Promise.all(ids.map((id) => gateway.send('DELETE', `/v1/webhooks/endpoints/${id}`)));
  });

  it('stops calling an endpoint that responds with 410', async () => {
    answers.set('/gone', [410]);
    const { body } = await gateway.send<{ data: { id: string } }>('POST', '/v1/webhooks/endpoints', {
      url: `${address}/gone`,
    });
    await gateway.send('POST', `/v1/webhooks/endpoints/${body.data.id}/test`);
    await recorded('/gone', 1);
    expect(await delivery('/gone')).toMatchObject({ status: 'failed', last_status: 410 });
    const listed = async () =>
      (await gateway.send<{ data: { id: string }[] }>('GET', '/v1/webhooks/endpoints')).body.data.map(({ id }) => id);
    await eventually(async () => !(await listed()).includes(body.data.id));
    expect(await listed()).not.toContain(body.data.id);
  });

  it.each([
    ['webhook_url', 'http://169.254.169.254/latest'],
    ['webhook_url', 'http://127.0.0.1:1/'],
    ['webhook_url', 'file:///etc/passwd'],
    ['webhook_url', 'http://user:secret@example.com/'],
    ['webhook_url', 5],
    ['webhook_url', ''],
  ])('refuses %s %s before anything is charged', async (param, url) => {
    const { status, body } = await gateway.send('POST', IMAGES, { ...IMAGE, webhook_url: url });
    expect([status, body['error']]).toEqual([400, expect.objectContaining({ param })]);
  });

  it('checks the address again at every call, so that a name cannot be rebound to a private network', async () => {
    await gateway.database.query({
      text: `insert into webhook_delivery (id, account_id, event_type, url, payload, next_attempt_at)
        values ('msg_inward', $1, 'webhook.test', 'http://10.0.0.1/inward', '', now())`,
      values: [gateway.accountId],
    });
    let log: DeliveryLog | undefined;
    while (!log?.last_error) {
      log = (await gateway.send<{ data: DeliveryLog }>('GET', '/v1/webhooks/deliveries/msg_inward')).body.data;
    }
    expect(log).toMatchObject({
      status: 'pending',
      last_status: null,
      last_error: expect.stringMatching(/public address/),
    });
  });

  it.each([
    ['an unknown event', { url: 'https://example.com/', event_types: ['task.started'] }, 'event_types'],
    ['an unknown field', { url: 'https://example.com/', events: [] }, 'events'],
    ['no address', {}, 'url'],
    ['a private address', { url: 'http://[::1]/' }, 'url'],
  ])('refuses an endpoint with %s', async (_case, body, param) => {
    const answer = await gateway.send('POST', '/v1/webhooks/endpoints', body);
    expect([answer.status, answer.body['error']]).toEqual([400, expect.objectContaining({ param })]);
  });

  it('answers 404 for endpoints and deliveries that are unknown or of another account', async () => {
    const answers = await Promise.all([
      gateway.send('DELETE', '/v1/webhooks/endpoints/whe_none'),
      gateway.send('POST', '/v1/webhooks/endpoints/whe_none/rotate-secret'),
      gateway.send('GET', '/v1/webhooks/deliveries/msg_none'),
      gateway.send('POST', '/v1/webhooks/deliveries/msg_none/resend'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });
});
