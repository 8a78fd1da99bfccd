import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { abortAfter } from '#platform';
import { eventually } from '#testing';
import { startTextGateway, type TextGateway } from '../harness/text-vendor/text-gateway.js';

const LONG = 'word '.repeat(90_000);
/** The share of an account holds two of these bodies. */
const MEMORY = { BODY_LIMIT_MB: '1', BODY_MEMORY_MB: '4' };
const SHARE = 2;

/** Requests that are finished though their client has left. */
const FINISHED = {
  embeddings: { path: '/v1/embeddings', body: { model: 'text-embedding', input: LONG }, isRepeatable: false },
  'a request that may be repeated': {
    path: '/v1/responses',
    body: { model: 'vendor-5', max_output_tokens: 16, store: false, input: LONG },
    isRepeatable: true,
  },
};

describe('The memory of a body whose client has left', () => {
  let gateway: TextGateway;
  let open = (): void => {};
  beforeAll(async () => {
    gateway = await startTextGateway(MEMORY);
    await gateway.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_e', 'text-embedding', 'input_token', 2000000, 1, '2026-01-01', 'test')`,
    });
    await gateway.spareMoney();
  });
  beforeEach(() => {
    gateway.vendor.seen.length = 0;
    gateway.vendor.gate = { at: 'start', opened: new Promise((resolve) => (open = resolve)) };
  });
  afterEach(() => {
    open();
    gateway.vendor.gate = undefined;
    return gateway.settled();
  });
  afterAll(() => gateway.stop());

  it.each(Object.entries(FINISHED))(
    'is its account’s until the work is done: %s',
    async (_what, { path, body, isRepeatable }) => {
      let sent = 0;
      const ask = (signal: AbortSignal): Promise<Response> =>
        fetch(gateway.baseUrl + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${gateway.key}`,
            'content-type': 'application/json',
            ...(isRepeatable && { 'idempotency-key': `${path}-${(sent += 1)}` }),
          },
          body: JSON.stringify(body),
          signal,
        });
      for (let place = 1; place <= SHARE; place += 1) {
        const leaving = new AbortController();
        const left = ask(leaving.signal).catch(() => 'left');
        await eventually(() => gateway.vendor.seen.length === place);
        leaving.abort();
        expect(await left).toBe('left');
      }
      // The first may come before the gateway knows that the others have left.
      const others: unknown[] = [];
      for (let place = 0; place < 10; place += 1)
        others.push(
          await ask(abortAfter(2_000)).then(
            ({ status }) => status,
            () => 'no room was asked for',
          ),
        );
      expect([...new Set(others), gateway.vendor.seen.length]).toEqual([429, SHARE]);
      open();
      await eventually(async () => (await ask(abortAfter(5_000))).status === 200);
    },
  );
});

describe('A client that leaves as soon as it has sent a large body', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway({ BODY_LIMIT_MB: '8' });
    await gateway.spareMoney();
  });
  afterAll(() => gateway.stop());

  it.each([false, true])('has left before its body is read, and no upstream is asked (stream: %s)', async (stream) => {
    gateway.vendor.seen.length = 0;
    const input = 'word '.repeat(1_400_000);
    const body = JSON.stringify({ model: 'vendor-5', max_output_tokens: 16, store: false, input, stream });
    const headers = {
      authorization: `Bearer ${gateway.key}`,
      'content-type': 'application/json',
      'content-length': String(body.length),
    };
    const left = httpRequest(`${gateway.baseUrl}/v1/responses`, { method: 'POST', agent: false, headers });
    left.on('error', () => undefined).end(body);
    await once(left, 'finish');
    left.destroy();
    const answer = await fetch(`${gateway.baseUrl}/v1/responses`, { method: 'POST', headers, body });
    await answer.text();
    expect([answer.status, gateway.vendor.seen.length]).toEqual([200, 1]);
  });
});
