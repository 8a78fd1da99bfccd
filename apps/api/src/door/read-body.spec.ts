import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { BodyBudget } from './body-budget.js';
import { readBody } from './read-body.js';

const KIB = 1024;

/** A request whose body the test writes, and its answer, which the test ends. */
function exchange(): { request: IncomingMessage; answer: ServerResponse } {
  const request = new IncomingMessage(new Socket());
  return { request, answer: new ServerResponse(request) };
}

const over = (answer: ServerResponse): void => void answer.emit('close');

describe('The body of a request', () => {
  const bounds = (totalBytes: number) => ({ maxBytes: 300 * KIB, budget: new BodyBudget(totalBytes) });
  const body = (kib: number): Buffer => Buffer.alloc(kib * KIB, 'x');

  async function read(
    within: ReturnType<typeof bounds>,
    ...pieces: Buffer[]
  ): Promise<{ bytes: number; answer: ServerResponse }> {
    const { request, answer } = exchange();
    for (const piece of [...pieces, null]) request.push(piece);
    return { bytes: (await readBody(request, answer, within)).length, answer };
  }

  it('holds its share of the budget until its answer is over', async () => {
    const within = bounds(400 * KIB);
    const first = await read(within, body(100), body(100));
    expect([first.bytes, within.budget.heldBytes]).toEqual([200 * KIB, 200 * KIB]);
    const second = await read(within, body(200));
    await expect(read(within, body(100))).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 2_000 });
    expect(within.budget.heldBytes).toBe(400 * KIB);
    over(first.answer);
    over(second.answer);
    expect(within.budget.heldBytes).toBe(0);
    expect((await read(within, body(300))).bytes).toBe(300 * KIB);
  });

  it('is not counted while it is small, so that small requests pass when there is no room for large ones', async () => {
    const within = bounds(200 * KIB);
    await read(within, body(200));
    expect((await read(within, body(64))).bytes).toBe(64 * KIB);
    expect(within.budget.heldBytes).toBe(200 * KIB);
  });

  it('gives back at once what it held when it grows too large or finds no room on the way', async () => {
    const within = bounds(600 * KIB);
    await expect(read(within, body(200), body(200))).rejects.toMatchObject({ code: 'request_too_large' });
    expect(within.budget.heldBytes).toBe(0);
    const tight = bounds(250 * KIB);
    await expect(read(tight, body(200), body(80))).rejects.toMatchObject({ code: 'overloaded' });
    expect(tight.budget.heldBytes).toBe(0);
  });

  it('gives back what it held when its client leaves', async () => {
    const within = bounds(400 * KIB);
    const { request, answer } = exchange();
    const reading = readBody(request, answer, within);
    request.push(body(200));
    await new Promise((resolve) => setImmediate(resolve));
    expect(within.budget.heldBytes).toBe(200 * KIB);
    request.destroy(new Error('aborted'));
    over(answer);
    await expect(reading).rejects.toMatchObject({ code: 'invalid_json' });
    expect(within.budget.heldBytes).toBe(0);
  });
});
