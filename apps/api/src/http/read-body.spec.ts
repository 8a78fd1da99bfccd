import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { BodyBudget } from './body-budget.js';
import { BodyDecoder } from './decode-body.js';
import { readBody } from './read-body.js';
import { SendingRate } from './sending-rate.js';

const KIB = 1024;
const ACCOUNT = 'acct_1';

/** A request whose body the test writes, and its answer, which the test ends. */
function exchange(): { request: IncomingMessage; answer: ServerResponse } {
  const request = new IncomingMessage(new Socket());
  return { request, answer: new ServerResponse(request) };
}

const over = (answer: ServerResponse): void => void answer.emit('close');

describe('The body of a request', () => {
  /** Room for so many bytes of bodies, each of which counts twice. */
  const bounds = (totalBytes: number, bodyBytes = 300 * KIB) => ({
    maxBytes: bodyBytes,
    budget: new BodyBudget(2 * totalBytes, bodyBytes),
    rate: new SendingRate(),
    decoder: new BodyDecoder(),
  });
  const body = (kib: number): Buffer => Buffer.alloc(kib * KIB, ' ');

  async function read(
    within: ReturnType<typeof bounds>,
    accountId: string,
    ...pieces: Buffer[]
  ): Promise<{ bytes: number; answer: ServerResponse }> {
    const { request, answer } = exchange();
    for (const piece of [...pieces, null]) request.push(piece);
    const sender = { accountId, json: { maxValues: 100, maxKeys: 100 } };
    return { bytes: (await readBody(request, answer, within, sender)).bytes.length, answer };
  }

  it('holds its share of the budget until its response has ended', async () => {
    const within = bounds(600 * KIB);
    const first = await read(within, ACCOUNT, body(100), body(100));
    expect([first.bytes, within.budget.heldBytes]).toEqual([200 * KIB, 400 * KIB]);
    const others = [await read(within, 'acct_2', body(200)), await read(within, 'acct_3', body(200))];
    await expect(read(within, 'acct_4', body(100))).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 2_000 });
    expect(within.budget.heldBytes).toBe(1_200 * KIB);
    for (const { answer } of [first, ...others]) over(answer);
    expect(within.budget.heldBytes).toBe(0);
    expect((await read(within, ACCOUNT, body(300))).bytes).toBe(300 * KIB);
  });

  it('is limited per account to a quarter of the budget, or half of what others leave free', async () => {
    const within = bounds(2_000 * KIB, 100 * KIB);
    const held: ServerResponse[] = [];
    for (let sent = 0; sent < 10; sent += 1) held.push((await read(within, ACCOUNT, body(100))).answer);
    await expect(read(within, ACCOUNT, body(100))).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterMs: 2_000,
    });
    for (let sent = 0; sent < 5; sent += 1) held.push((await read(within, 'acct_2', body(100))).answer);
    over(held[0] as ServerResponse);
    await expect(read(within, ACCOUNT, body(100))).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    expect((await read(within, 'acct_3', body(100))).bytes).toBe(100 * KIB);
  });

  it('is not counted while it is small, so that small requests pass while there is no room for large ones', async () => {
    const within = bounds(400 * KIB, 200 * KIB);
    for (const account of ['acct_1', 'acct_2']) await read(within, account, body(200));
    expect((await read(within, ACCOUNT, body(64))).bytes).toBe(64 * KIB);
    expect(within.budget.heldBytes).toBe(800 * KIB);
  });

  it('releases its share at once when it is refused while being read', async () => {
    const within = bounds(1_200 * KIB);
    await expect(read(within, ACCOUNT, body(200), body(200))).rejects.toMatchObject({ code: 'request_too_large' });
    expect(within.budget.heldBytes).toBe(0);
    const values = Buffer.from(`[${'{},'.repeat(50_000)}{}]`);
    await expect(read(within, ACCOUNT, body(100), values)).rejects.toMatchObject({ code: 'invalid_json' });
    expect(within.budget.heldBytes).toBe(0);
  });

  it('releases its share when its client leaves', async () => {
    const within = bounds(600 * KIB);
    const { request, answer } = exchange();
    const sender = { accountId: ACCOUNT, json: { maxValues: 100, maxKeys: 100 } };
    const reading = readBody(request, answer, within, sender);
    request.push(body(200));
    await new Promise((resolve) => setImmediate(resolve));
    expect(within.budget.heldBytes).toBe(400 * KIB);
    request.destroy(new Error('aborted'));
    over(answer);
    await expect(reading).rejects.toMatchObject({ code: 'invalid_json' });
    expect(within.budget.heldBytes).toBe(0);
  });

  it('is read no further when it comes byte for byte, and its connection ends', async () => {
    const within = bounds(600 * KIB);
    const { request, answer } = exchange();
    const sender = { accountId: ACCOUNT, json: { maxValues: 100, maxKeys: 100 } };
    const reading = readBody(request, answer, within, sender);
    for (let sent = 0; sent < 5_000; sent += 1) request.push(' ');
    await expect(reading).rejects.toMatchObject({ code: 'request_too_large' });
    expect(answer.getHeader('connection')).toBe('close');
    expect([request.destroyed, request.listenerCount('data')]).toEqual([false, 0]);
    answer.emit('finish');
    expect(request.destroyed).toBe(true);
  });

  it('may come in small pieces', async () => {
    const pieces = Array.from({ length: 5_000 }, () => Buffer.alloc(16, ' '));
    expect((await read(bounds(600 * KIB), ACCOUNT, ...pieces)).bytes).toBe(80_000);
  });

  it('is assembled from pieces of any size without extra memory', async () => {
    const within = bounds(40_000 * KIB, 20_000 * KIB);
    const { request, answer } = exchange();
    const text = Buffer.from(JSON.stringify({ text: 'é"\\\u0000'.repeat(300_000) }));
    const sender = { accountId: ACCOUNT, json: { maxValues: 100, maxKeys: 100 } };
    const reading = readBody(request, answer, within, sender);
    for (let from = 0; from < text.length;) {
      const to = from + (from < 2_000 ? 1 : 70_001);
      request.push(text.subarray(from, to));
      from = to;
    }
    request.push(null);
    expect((await reading).bytes.equals(text)).toBe(true);
  });
});
