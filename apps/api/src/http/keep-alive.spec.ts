import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { STYLES, type Style, textRequest } from '../../../../tests/harness/text-vendor/text-requests.js';
import { eventually } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';

const TEXT = { model: 'vendor-5', input: '[sandbox:delay=2500] lighthouses' };

/** How long the proxy waits for a byte, in milliseconds: less than the reply takes. */
const PROXY_MS = 2_000;

/** Ends a request of which nothing came, also not in the turns of the event loop in which what a busy machine held up comes. */
async function endUnlessHeard(asked: ClientRequest): Promise<void> {
  const heardBytes = asked.socket?.bytesRead;
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  if (asked.socket?.bytesRead === heardBytes) asked.destroy(new Error('too slow'));
}

/** A proxy that answers 504 where nothing comes for so long, as those in front of gateways do. */
async function impatientProxy(baseUrl: string): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const asked = send(baseUrl + url!, { method, headers, timeout: PROXY_MS }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    asked.on('timeout', () => void endUnlessHeard(asked));
    asked.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(504).end()));
    incoming.pipe(asked);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

describe('A whole reply that takes long', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      workers: false,
      environment: { WHOLE_REPLY_KEEPALIVE_SECONDS: '1', TEXT_RETRY_SECONDS: '0' },
    });
  });
  afterAll(() => gateway.stop());

  const ask = async (body: object, headers = {}) => {
    const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };

  it('is begun with blanks, which no parser of JSON sees', async () => {
    const { status, text } = await ask(TEXT);
    expect([status, text.startsWith(' {')]).toEqual([200, true]);
    expect(JSON.parse(text)).toMatchObject({ object: 'response', status: 'completed' });
  });

  it('reaches its client through a proxy that waits for no byte as long as it takes', async () => {
    const proxy = await impatientProxy(gateway.baseUrl);
    const { port } = proxy.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(TEXT),
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'completed' }]);
    proxy.closeAllConnections();
    proxy.close();
  });

  it('that fails before its first blank has the status of its failure', async () => {
    const { status, text } = await ask({ ...TEXT, model: 'no-such-model' });
    expect([status, JSON.parse(text)]).toMatchObject([404, { error: { code: 'model_not_found' } }]);
  });

  it('that comes in time is sent as ever', async () => {
    const { text, headers } = await ask({ ...TEXT, input: 'lighthouses' });
    expect([text.startsWith('{'), headers.get('content-length')]).toEqual([true, String(Buffer.byteLength(text))]);
  });

  it('that fails after its blanks holds the error of its style, and leaves its key free', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const input = '[sandbox:delay=2500] [sandbox:fail=upstream_error] lighthouses';
    const { status, text } = await ask({ ...TEXT, input }, headers);
    expect([status, JSON.parse(text)]).toMatchObject([200, { error: { code: 'upstream_error' } }]);
    const { rows } = await gateway.database.query({ text: 'select 1 from idempotency_record' });
    expect(rows).toEqual([]);
  });

  /** What a whole reply of each style has, and an error of it. */
  const SHAPES: Readonly<Record<Style, readonly [reply: object, error: object]>> = {
    responses: [{ object: 'response', status: 'completed' }, { error: { code: 'upstream_error' } }],
    chat: [{ object: 'chat.completion' }, { error: { code: 'upstream_error' } }],
    messages: [
      { type: 'message', role: 'assistant' },
      { type: 'error', error: { type: 'api_error' } },
    ],
    gemini: [{ candidates: [{ finishReason: 'STOP' }] }, { error: { code: 502, status: expect.any(String) } }],
  };

  it('is begun with blanks in every style, and charged once, whatever comes of it', async () => {
    await Promise.all(STYLES.map(expectBlanks));
  });

  async function expectBlanks(style: Style): Promise<void> {
    const asked = async (text: string) => {
      const { path, headers, body } = textRequest(style, { key: TEST_KEY, model: 'vendor-5', stream: false, text });
      const answer = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { answer, text: await answer.text() };
    };
    const [reply, error] = SHAPES[style];
    const whole = await asked('[sandbox:delay=2500] lighthouses');
    expect([whole.answer.status, /^ +\{/.test(whole.text)]).toEqual([200, true]);
    expect(JSON.parse(whole.text)).toMatchObject(reply);
    const failed = await asked('[sandbox:delay=2500] [sandbox:fail=upstream_error] lighthouses');
    expect([failed.answer.status, /^ +\{/.test(failed.text)]).toEqual([200, true]);
    expect(JSON.parse(failed.text)).toMatchObject(error);
    const charged = async (id: string | null) => {
      const text = 'select status from usage_record where request_id = $1';
      return (await gateway.database.query({ text, values: [id] })).rows;
    };
    await eventually(async () => (await charged(whole.answer.headers.get('x-request-id'))).length === 1);
    const open = { text: 'select 1 from account where held_micros <> 0' };
    await eventually(async () => (await gateway.database.query(open)).rows.length === 0);
  }

  it('is begun with blanks for a repeat that waits for the first request too', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = ask(TEXT, headers);
    const second = await ask(TEXT, headers);
    expect(JSON.parse(second.text)).toEqual(JSON.parse((await first).text));
  });
});
