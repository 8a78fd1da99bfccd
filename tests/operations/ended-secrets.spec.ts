import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '#testing';
import { consoleClient } from '../harness/console-client.js';
import { startTestGateway, type TestGateway } from '../harness/test-gateway.js';
import type { GateMoment } from '../harness/text-vendor/fake-text-vendor.js';
import { MODEL_OVER, startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';
import { STYLES, textRequest, type Style } from '../harness/text-vendor/text-requests.js';

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K' };

interface Made {
  readonly id: string;
  readonly key: string;
}

interface Question {
  readonly style: Style;
  readonly model: string;
  readonly stream: boolean;
  /** Further headers. */
  readonly more?: Record<string, string>;
}

/** A gate that replies of the vendor wait at; `reached` when so many do. */
function closedGate(at: GateMoment, replies = 1) {
  let [open, reachedByAll, left] = [(): void => {}, (): void => {}, replies];
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (reachedByAll = resolve));
  const onReached = (): void => {
    left -= 1;
    if (left === 0) reachedByAll();
  };
  return { at, opened, open, reached, onReached };
}

describe('What a secret of a key has opened', () => {
  let gateway: TestGateway;
  let accountId: string;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false, environment: { ADMIN_TOKEN } });
    accountId = (await admin<{ id: string }>('/accounts', { name: 'rotating' })).id;
    await admin(`/accounts/${accountId}/top-ups`, { amount: '10', reason: 'test' });
    await gateway.database.query({
      text: 'update account set unlimited = true where id = $1',
      values: [accountId],
    });
  });
  afterAll(() => gateway.stop());

  async function admin<Data>(path: string, body: object, method = 'POST'): Promise<Data> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    return (await gateway.send<{ data: Data }>(method, `/admin/v1${path}`, body, headers)).body.data;
  }
  const newKey = (): Promise<Made> => admin<Made>(`/accounts/${accountId}/keys`, { name: 'key' });
  const rotate = ({ id }: Made, seconds: number): Promise<Made> =>
    admin<Made>(`/keys/${id}/rotate`, { overlap_seconds: seconds });

  async function signIn(key: string): Promise<() => Promise<number>> {
    const page = consoleClient(gateway);
    expect((await page.call('POST /sign-in/key', { key })).status).toBe(200);
    return async () => (await page.call('GET /session')).status;
  }

  it('in the console ends at once with a rotation without overlap', async () => {
    const made = await newKey();
    const session = await signIn(made.key);
    expect(await session()).toBe(200);
    const next = await rotate(made, 0);
    expect(await session()).toBe(401);
    expect(await (await signIn(next.key))()).toBe(200);
  });

  it('in the console ends with the overlap, and with the second rotation', async () => {
    const made = await newKey();
    const first = await signIn(made.key);
    const second = await rotate(made, 3_600);
    const session = await signIn(second.key);
    expect([await first(), await session()]).toEqual([200, 200]);
    await gateway.database.query({
      text: `update api_key set previous_valid_until = now() where id = $1`,
      values: [made.id],
    });
    expect([await first(), await session()]).toEqual([401, 200]);
    await rotate(made, 3_600);
    expect([await first(), await session()]).toEqual([401, 200]);
    await rotate(made, 3_600);
    expect(await session()).toBe(401);
  });

  it('in the console ends with the account', async () => {
    const made = await newKey();
    const session = await signIn(made.key);
    const disable = (disabled: boolean) =>
      gateway.database.query({
        text: `update account set disabled_at = case when $2 then now() end where id = $1`,
        values: [accountId, disabled],
      });
    await disable(true);
    expect(await session()).toBe(401);
    await disable(false);
  });

  /** Ends or narrows the key, and waits until that has reached everybody. */
  async function ended(change: () => Promise<unknown>, key: string, path = '/v1/files'): Promise<void> {
    await change();
    const headers = { authorization: `Bearer ${key}` };
    await eventually(async () => (await gateway.send('GET', path, undefined, headers)).status !== 200);
  }

  /** The same while the answer waits; then the task changes. */
  async function meanwhile(taskId: string, change: () => Promise<unknown>, key: string): Promise<void> {
    await ended(change, key, `/v1/tasks/${taskId}`);
    await gateway.database.query({
      text: `update task set deadline_at = now() where id = $1`,
      values: [taskId],
    });
  }

  it.each<[string, (made: Made) => Promise<unknown>, number, string]>([
    ['rotated without overlap', (made) => rotate(made, 0), 401, 'invalid_api_key'],
    [
      'narrowed to other scopes',
      (made) => admin(`/keys/${made.id}`, { scopes: ['usage'] }, 'PATCH'),
      403,
      'permission_denied',
    ],
  ])('tells a wait and a stream nothing more of a task when the key is %s', async (_how, change, status, code) => {
    const made = await newKey();
    const headers = { authorization: `Bearer ${made.key}` };
    const { body } = await gateway.send<{ data: [{ task_id: string }] }>(
      'POST',
      '/v1/images/generations',
      IMAGE,
      headers,
    );
    const taskId = body.data[0].task_id;
    const events = fetch(`${gateway.baseUrl}/v1/tasks/${taskId}/events`, { headers }).then((answer) => answer.text());
    const wait = gateway.send('GET', `/v1/tasks/${taskId}?wait=30`, undefined, headers);
    await meanwhile(taskId, () => change(made), made.key);
    const cancelled = await admin<object>(`/tasks/${taskId}/cancel`, { reason: 'test' });
    expect(cancelled).toBeDefined();
    expect(await wait).toMatchObject({ status, body: { error: { code } } });
    const told = await events;
    expect(told).toContain(code);
    expect(told).not.toContain('task.cancelled');
  });

  it('does not begin with a request whose body comes after the key has ended', async () => {
    const made = await newKey();
    const body = JSON.stringify(IMAGE);
    const { hostname, port } = new URL(gateway.baseUrl);
    const socket = connect(Number(port), hostname);
    const head = ['POST /v1/images/generations HTTP/1.1', `Host: ${hostname}`, `Authorization: Bearer ${made.key}`];
    const fields = [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
    socket.write(`${fields.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`);
    await ended(() => rotate(made, 0), made.key);
    let answer = '';
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString('utf8')));
    socket.write(body.slice(10));
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 401 .*invalid_api_key/s);
  });

  it('breaks off the download of a file soon after the key has ended', async () => {
    const made = await newKey();
    const headers = { authorization: `Bearer ${made.key}` };
    const form = new FormData();
    form.append('purpose', 'user_data');
    form.append('file', new Blob([Buffer.alloc(48 * 1024 * 1024, 'a')]), 'long.txt');
    const uploaded = await fetch(`${gateway.baseUrl}/v1/files`, { method: 'POST', headers, body: form });
    const { id } = (await uploaded.json()) as { id: string };
    const download = await fetch(`${gateway.baseUrl}/v1/files/${id}/content`, { headers });
    expect(download.status).toBe(200);
    await ended(() => rotate(made, 0), made.key);
    const reader = download.body!.getReader();
    const readToTheEnd = eventually(async () => (await reader.read()).done, { pauseMs: 10 });
    await expect(readToTheEnd).rejects.toThrow('terminated');
  });

  it('gives a repeat that waited for the first request no answer once the key has ended', async () => {
    const made = await newKey();
    const fingerprint = createHash('sha256').update('/v1/images/generations\n').update(JSON.stringify(IMAGE)).digest();
    await gateway.database.query({
      text: `insert into idempotency_record (account_id, key, fingerprint, request_id, locked_until, expires_at)
        values ($1, 'repeated', $2, 'req_first', now() + interval '1 hour', now() + interval '1 hour')`,
      values: [accountId, fingerprint],
    });
    const headers = { authorization: `Bearer ${made.key}`, 'idempotency-key': 'repeated' };
    const repeat = gateway.send('POST', '/v1/images/generations', IMAGE, headers);
    await ended(() => rotate(made, 0), made.key);
    await gateway.database.query({
      text: `update idempotency_record set state = 'done', response_status = 200, response_body = '{"of":"the first"}',
        response_content_type = 'application/json' where account_id = $1 and key = 'repeated'`,
      values: [accountId],
    });
    expect(await repeat).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
  });

  describe('as text', () => {
    let text: TextGateway;
    beforeAll(async () => {
      text = await startTextGateway({ ADMIN_TOKEN });
      text.vendor.script = () => ({ reasoning: undefined, text: 'alpha sigma omega', call: undefined });
    });
    afterEach(async () => {
      text.vendor.gate = undefined;
      await disable(false);
    });
    afterAll(() => text.stop());

    const operate = async <Data>(method: string, path: string, body: object): Promise<Data> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      return (await text.send<{ data: Data }>(method, `/admin/v1${path}`, body, headers)).body.data;
    };
    const disable = (disabled: boolean): Promise<unknown> =>
      operate('PATCH', `/accounts/${text.accountId}`, { disabled });

    const key = (): Promise<Made> => operate<Made>('POST', `/accounts/${text.accountId}/keys`, { name: 'key' });
    const revoke = ({ id }: Made): Promise<unknown> => operate('POST', `/keys/${id}/revoke`, {});

    /** Asks, and answers what comes. */
    async function ask(made: Made, { style, model, stream, more }: Question) {
      const { path, headers, body } = textRequest(style, { key: made.key, model, stream });
      const answer = await fetch(text.baseUrl + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', ...more },
        body: JSON.stringify(body),
      });
      return { status: answer.status, text: await answer.text() };
    }

    const STREAMS: readonly Question[] = STYLES.flatMap((style) =>
      (['chat', 'messages'] as const).map((upstream) => ({ style, model: MODEL_OVER[upstream], stream: true })),
    );

    it.each<[string, (made: Made) => Promise<unknown>]>([
      ['their key', revoke],
      ['their account', () => disable(true)],
    ])('ends streams of every style with %s, which cost what was delivered', async (_with, change) => {
      const made = await key();
      const gate = closedGate({ behind: 'sigma' }, STREAMS.length);
      text.vendor.gate = gate;
      const asking = Promise.all(STREAMS.map((question) => ask(made, question)));
      await gate.reached;
      await change(made);
      for (const told of await asking) {
        expect(told.text).toMatch(/sigma.*unknown, or was revoked/s);
        expect(told.text).not.toContain('omega');
      }
      await text.settled();
      const { rows } = await text.database.query<{ status: string; output: bigint }>({
        text: `select status, output_tokens as output from usage_record where api_key_id = $1`,
        values: [made.id],
      });
      expect(rows).toHaveLength(STREAMS.length);
      for (const { status, output } of rows) expect([status, output > 0n]).toEqual(['cancelled', true]);
    });

    it('makes a whole reply that was ordered, and tells it to another key of the account alone', async () => {
      const asked = {
        style: 'chat',
        model: MODEL_OVER.chat,
        stream: false,
        more: { 'idempotency-key': 'whole' },
      } as const;
      const made = await key();
      const gate = closedGate('start');
      text.vendor.gate = gate;
      const asking = ask(made, asked);
      await gate.reached;
      await revoke(made);
      const refused = async (): Promise<boolean> =>
        (await text.send('GET', '/v1/balance', undefined, { authorization: `Bearer ${made.key}` })).status === 401;
      await eventually(refused);
      gate.open();
      const answer = await asking;
      expect(answer.status).toBe(401);
      expect(answer.text).not.toContain('alpha');
      expect(await ask(await key(), asked)).toMatchObject({
        status: 200,
        text: expect.stringContaining('alpha sigma omega'),
      });
      expect(text.vendor.seen.filter(({ text: sent }) => !sent.includes('"stream":true'))).toHaveLength(1);
    });
  });
});
