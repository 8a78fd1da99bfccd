import { answerUnread } from '#testing';
import { EventStream } from './event-stream.js';

const PIECE = `data: ${'x'.repeat(1_000_000)}\n\n`;

describe('A stream of events', () => {
  it('cuts off a client that reads nothing, so that the writer can continue', async () => {
    await answerUnread(async (_request, response) => {
      const events = new EventStream(response, 100);
      // More than the buffers between both sides take.
      for (let piece = 0; piece < 50 && !response.destroyed; piece += 1) await events.send(PIECE);
      expect(response.destroyed).toBe(true);
      await events.send(PIECE);
      events.end();
    });
  });
});
