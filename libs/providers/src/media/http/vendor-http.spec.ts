import { createServer, type Server, type Socket } from 'node:net';
import { getEventListeners, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parseExactly } from './exact-json.js';
import { NoReply, VendorHttp } from './vendor-http.js';

const LIMITS = { signal: new AbortController().signal, timeoutMs: 5_000, fresh: true };

/** What a line does to the request that comes over it. */
async function lineThat(does: (socket: Socket) => void): Promise<{ url: string; server: Server }> {
  const server = createServer(does).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe('VendorHttp', () => {
  it('13: knows that nothing was taken when the line is cut within a long order', async () => {
    const { url, server } = await lineThat((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.destroy());
    });
    const http = new VendorHttp(url);
    const body = { image: 'x'.repeat(64 * 1024 * 1024) };
    const failure: unknown = await http.exchange({ method: 'POST', path: '/orders', body }, {}, LIMITS).catch((e) => e);
    expect(failure).toBeInstanceOf(NoReply);
    expect(failure).toMatchObject({ sent: false });
    await http.close();
    server.close();
  });

  it('ends an exchange in its time, and leaves nothing behind on the signal of its caller', async () => {
    const { url, server } = await lineThat((socket) => socket.on('error', () => undefined));
    const http = new VendorHttp(url);
    const { signal } = new AbortController();
    const exchange = http.exchange({ method: 'GET', path: '/orders/1' }, {}, { signal, timeoutMs: 50, fresh: true });
    const failure: unknown = await exchange.catch((error: unknown) => error);
    expect(failure).toMatchObject({ sent: true, cause: { name: 'TimeoutError' } });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await http.close();
    server.close();
  });

  it('tells the status of a reply that is too long to be read', async () => {
    const { url, server } = await lineThat((socket) => {
      socket.on('error', () => undefined);
      const bytes = 5 * 1024 * 1024;
      socket.write(`HTTP/1.1 404 Not Found\r\ncontent-length: ${bytes}\r\n\r\n`);
      socket.write(Buffer.alloc(bytes, ' '));
    });
    const http = new VendorHttp(url);
    const reply = await http.exchange({ method: 'GET', path: '/orders/1' }, {}, LIMITS);
    expect(reply).toMatchObject({ status: 404, body: undefined });
    await http.close();
    server.close();
  });

  it('goes to no other origin, whatever address a vendor names', async () => {
    const http = new VendorHttp('http://127.0.0.1:9/v1');
    const elsewhere = { method: 'GET', path: 'http://elsewhere.example.com/tasks/1' } as const;
    await expect(http.exchange(elsewhere, { authorization: 'key' }, LIMITS)).rejects.toThrow(/another origin/);
    await http.close();
  });
});

describe('parseExactly', () => {
  it('44: keeps every digit of long integers, and leaves all else as it is', () => {
    const json = String.raw`{"id":123456789012345678,"text":"a \"987654321098765432\" b","n":-9007199254740993,"f":0.1234567890123456789,"e":1e21,"s":42,"list":[1234567890123456789]}`;
    expect(parseExactly(json)).toEqual({
      id: '123456789012345678',
      text: 'a "987654321098765432" b',
      n: '-9007199254740993',
      f: Number('0.1234567890123456789'),
      e: 1e21,
      s: 42,
      list: ['1234567890123456789'],
    });
  });

  it('reads a text of many megabytes in the time of one pass', () => {
    const text = 'A'.repeat(8 * 1024 * 1024);
    expect(parseExactly(JSON.stringify({ id: '1234567890123456789', text }))).toEqual({
      id: '1234567890123456789',
      text,
    });
  });
});
