import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import express, { type Response } from 'express';
import { eventually } from '#testing';
import { EventStream } from './event-stream.js';

const PIECE = `data: ${'x'.repeat(1_000_000)}\n\n`;

describe('A stream of events', () => {
  it('cuts off a client that reads nothing, so that the writer can continue', async () => {
    const begun: Response[] = [];
    const server = express()
      .get('/', (_request, response) => void begun.push(response))
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.on('error', () => {});
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const response = await eventually(() => begun[0]);
    const events = new EventStream(response, 100);
    // More than the buffers between both sides take.
    for (let piece = 0; piece < 50 && !response.destroyed; piece += 1) await events.send(PIECE);
    expect(response.destroyed).toBe(true);
    await events.send(PIECE);
    events.end();
    client.destroy();
    server.close();
  });
});
