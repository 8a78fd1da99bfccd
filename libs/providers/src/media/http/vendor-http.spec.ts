import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { atBest } from '#testing';
import type { InlineFiles } from './inline-files.js';
import { NoReply, parseExactly, VendorHttp } from './vendor-http.js';

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

  it('tells the status of a reply that comes in very many very short pieces, and ends its line', async () => {
    let ended: Promise<unknown> | undefined;
    const { url, server } = await lineThat((socket) => {
      socket.on('error', () => undefined);
      ended = once(socket.resume(), 'close');
      socket.write('HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write('1\r\n \r\n'.repeat(10_000));
    });
    const http = new VendorHttp(url);
    const reply = await http.exchange({ method: 'GET', path: '/orders/1' }, {}, LIMITS);
    expect(reply).toMatchObject({ status: 404, body: undefined });
    await ended;
    await http.close();
    server.close();
  });

  describe('reads a reply', () => {
    const BODY = JSON.stringify({ id: 'cgt-1', words: 'größer' });
    /** What a server writes, and how it ends. */
    async function replyTo(head: string, body: string | Buffer, files?: InlineFiles) {
      const { url, server } = await lineThat((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write(`${head}\r\n\r\n`);
          socket.end(body);
        });
      });
      const http = new VendorHttp(url);
      const limits = { ...LIMITS, ...(files && { files }) };
      const reply = await http.exchange({ method: 'POST', path: '/orders', body: {} }, {}, limits);
      await http.close();
      server.close();
      return reply;
    }
    const ok = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}`;

    it.each([
      ['compressed by gzip', ok('content-encoding: gzip'), gzipSync(BODY)],
      ['compressed by deflate', ok('content-encoding: deflate'), deflateSync(BODY)],
      ['compressed by brotli', ok('content-encoding: BR'), brotliCompressSync(BODY)],
      ['compressed twice', ok('content-encoding: br, gzip'), gzipSync(brotliCompressSync(BODY))],
      ['compressed by nothing', ok('content-encoding: identity'), BODY],
      ['compressed by nothing, said twice', ok('content-encoding: identity\r\ncontent-encoding:'), BODY],
      [
        'compressed twice, each in a header of its own',
        ok('content-encoding: br\r\ncontent-encoding: gzip'),
        gzipSync(brotliCompressSync(BODY)),
      ],
      ['behind a byte order mark', ok('content-type: application/json'), `\ufeff${BODY}`],
      [
        'in UTF-16',
        ok('content-type: application/json; charset=utf-16le'),
        Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(BODY, 'utf16le')]),
      ],
      ['in an unknown charset', ok('content-type: application/json; charset=klingon'), BODY],
      ['of HTTP/1.0, which ends with the line', 'HTTP/1.0 200 OK', BODY],
    ])('%s', async (_, head, body) => {
      expect(await replyTo(head, body)).toMatchObject({ status: 200, body: { id: 'cgt-1', words: 'größer' } });
    });

    it.each([
      ['a bomb of gzip', ok('content-encoding: gzip'), gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))],
      ['a bomb of brotli', ok('content-encoding: br'), brotliCompressSync(Buffer.alloc(64 * 1024 * 1024, ' '))],
      ['compressed in no way that it says', ok('content-encoding: gzip'), BODY],
      ['compressed in a way that is unknown', ok('content-encoding: zstd'), BODY],
      ['compressed by the name of what objects inherit', ok('content-encoding: constructor'), BODY],
      ['compressed again and again', ok('content-encoding: gzip, gzip, gzip'), gzipSync(gzipSync(gzipSync(BODY)))],
      ['a million brackets deep', ok(''), '['.repeat(1_000_000) + ']'.repeat(1_000_000)],
      ['a hundred thousand objects deep', ok(''), '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
    ])('as none when it is %s, and knows its status', async (_, head, body) => {
      expect(await replyTo(head, body)).toMatchObject({ status: 200, body: undefined });
    });

    it.each([
      ['zstd', 'content-encoding: zstd'],
      ['gzip, zstd', 'content-encoding: gzip\r\ncontent-encoding: zstd'],
      ['dcb', 'content-encoding: dcb'],
    ])('without a guess at what is compressed by %s, and names it', async (name, header) => {
      const keep = async (): Promise<string> => 'kept:0';
      for (const files of [undefined, { field: 'bytes', keep }]) {
        const reply = await replyTo(ok(header), BODY, files);
        expect(reply).toMatchObject({ status: 200, body: undefined, encoding: name });
      }
    });

    it('that is compressed, the files in it among them', async () => {
      const video = Buffer.alloc(300_000, 'video');
      const kept: Buffer[] = [];
      const keep = async (bytes: Readable): Promise<string> => {
        kept.push(await buffer(bytes));
        return 'kept:0';
      };
      const body = gzipSync(JSON.stringify({ videos: [{ bytes: video.toString('base64') }] }));
      const reply = await replyTo(ok('content-encoding: gzip'), body, { field: 'bytes', keep });
      expect(reply.body).toEqual({ videos: [{ bytes: 'kept:0' }] });
      expect(kept).toEqual([video]);
    });
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

  it('refuses a text that never ends in the time of one pass', async () => {
    const broken = `{"id":123456789012345678,"text":"${String.raw`\"`.repeat(30_000)}`;
    const tookMs = await atBest(1_000, () => expect(() => parseExactly(broken)).toThrow(SyntaxError));
    expect(tookMs).toBeLessThan(1_000);
  });

  it('reads a text of many megabytes in the time of one pass', () => {
    const text = 'A'.repeat(8 * 1024 * 1024);
    expect(parseExactly(JSON.stringify({ id: '1234567890123456789', text }))).toEqual({
      id: '1234567890123456789',
      text,
    });
  });
});
