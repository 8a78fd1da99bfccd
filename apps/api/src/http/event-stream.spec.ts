import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import express, { type Response } from 'express';
import { answerUnread } from '#testing';
import { EventStream, writeEvents } from './event-stream.js';

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

const LONG = 'é'.repeat(1_000_000);

describe('Events that are ready at once', () => {
  const writes: { readonly response: Response; readonly written: Promise<void> }[] = [];
  const server = express()
    .get(['/', '/impatient'], (request, response) => {
      const events = Array.from({ length: 40 }, (_, index) => ({ name: 'a.piece', data: { index, text: LONG } }));
      // A client that reads must never meet the limit, however busy the machine is.
      const stallMs = request.path === '/impatient' ? 300 : undefined;
      const written = writeEvents(response, events, stallMs).finally(() => response.end());
      writes.push({ response, written });
    })
    .listen(0, '127.0.0.1');
  beforeAll(() => server.listening || once(server, 'listening'));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function asked(): Socket {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => {});
    client.write('GET /impatient HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    return client;
  }

  it('reach a reading client, each whole', async () => {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = (await answer.text()).split('\n\n');
    expect(events.pop()).toBe('');
    expect(events).toHaveLength(40);
    expect(events.map((event) => event.split('\n')[0])).toEqual(events.map(() => 'event: a.piece'));
    expect(JSON.parse(events[39]?.split('data: ')[1] ?? '')).toEqual({ index: 39, text: LONG });
  });

  it('wait for a slow client with bounded memory, and are dropped when it reads nothing', async () => {
    const client = asked().pause();
    await once(server, 'request');
    const { response, written } = writes.at(-1) ?? { response: undefined, written: undefined };
    const waiting: number[] = [];
    const watch = setInterval(() => waiting.push(response?.writableLength ?? 0), 5);
    await written;
    clearInterval(watch);
    expect(response?.destroyed).toBe(true);
    expect(Math.max(...waiting)).toBeLessThan(2_000_000);
    client.destroy();
  });

  it('are cleaned up when the client leaves', async () => {
    const client = asked();
    await once(client, 'data');
    client.destroy();
    await writes.at(-1)?.written;
    expect(writes.at(-1)?.response.destroyed).toBe(true);
  });
});
