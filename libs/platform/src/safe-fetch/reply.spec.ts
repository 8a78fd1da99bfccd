import { PassThrough } from 'node:stream';
import { setImmediate as untilIdle } from 'node:timers/promises';
import { boundedBody } from './reply.js';
import { FetchFailed } from './fetch-errors.js';

describe('A body that is bounded', () => {
  it('may break before it is read without harm, and fails its reader then', async () => {
    const sent = new PassThrough();
    const body = boundedBody(sent, 1_000);
    sent.destroy(new Error('cut'));
    await untilIdle();
    expect(sent.errored).toBeInstanceOf(Error);
    await expect(body.toArray()).rejects.toBeInstanceOf(FetchFailed);
  });

  it('ends the connection when its reader leaves', async () => {
    const sent = new PassThrough();
    boundedBody(sent, 1_000).destroy();
    await untilIdle();
    expect(sent.destroyed).toBe(true);
  });
});
