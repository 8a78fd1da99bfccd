import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { withoutFiles } from './inline-files.js';
import { VendorHttp } from './vendor-http.js';

const MEGABYTE = 1024 * 1024;

async function read(json: string, pieceBytes: number) {
  const files: string[] = [];
  const pieces = Array.from({ length: Math.ceil(json.length / pieceBytes) }, (_, index) =>
    Buffer.from(json.slice(index * pieceBytes, (index + 1) * pieceBytes)),
  );
  const keep = async (bytes: Readable): Promise<string> => {
    files.push((await buffer(bytes)).toString('latin1'));
    return `kept "${files.length}"`;
  };
  const text = await withoutFiles(Readable.from(pieces), { field: 'file', keep }, MEGABYTE);
  return { text, files };
}

describe('withoutFiles', () => {
  const first = randomBytes(1_000);
  const second = randomBytes(1_001);
  const document = (file: (bytes: Buffer) => string): string =>
    `{"file" : "${file(first)}","text":"\\"file\\":\\"x\\"","list":["file",{"a":{"file":"${file(second)}"}}],"n":1}`;

  it.each([1, 2, 7, 100, 100_000])(
    'takes every file out of a document that comes in pieces of %d bytes',
    async (size) => {
      const { text, files } = await read(
        document((bytes) => bytes.toString('base64')),
        size,
      );
      expect(files).toEqual([first.toString('latin1'), second.toString('latin1')]);
      expect(JSON.parse(text ?? '')).toEqual({
        file: 'kept "1"',
        text: '"file":"x"',
        list: ['file', { a: { file: 'kept "2"' } }],
        n: 1,
      });
    },
  );

  it('reads digits whose slashes are escaped', async () => {
    const escaped = document((bytes) => bytes.toString('base64').replaceAll('/', String.raw`\/`));
    expect((await read(escaped, 3)).files[0]).toBe(first.toString('latin1'));
  });

  it('reads no more than is allowed around the files', async () => {
    expect((await read(JSON.stringify({ padding: 'x'.repeat(MEGABYTE) }), 100_000)).text).toBeUndefined();
  });

  it('fails on a document that ends within a file', async () => {
    await expect(read('{"file":"AAAA', 5)).rejects.toThrow();
  });
});

describe('VendorHttp', () => {
  it('33: reads a reply of 200 MB no faster than its file is taken, so that little of it is in memory', async () => {
    const served = { bytes: 0 };
    const server = createServer((_, response) => void serve(response, served)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const http = new VendorHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    let taken = 0;
    let mostAhead = 0;
    const keep = async (bytes: Readable): Promise<string> => {
      for await (const chunk of bytes as AsyncIterable<Buffer>) {
        taken += chunk.length;
        mostAhead = Math.max(mostAhead, served.bytes - (taken * 4) / 3);
      }
      return 'kept';
    };
    const limits = { signal: new AbortController().signal, timeoutMs: 30_000, fresh: false };
    const files = { field: 'file', keep };
    const { body } = await http.exchange({ method: 'GET', path: '/' }, {}, { ...limits, files });
    await http.close();
    server.close();
    expect(body).toEqual({ file: 'kept' });
    expect(taken).toBe((FILE_DIGITS * 3) / 4);
    expect(mostAhead).toBeLessThan(32 * MEGABYTE);
  });
});

const PIECE = Buffer.alloc(MEGABYTE, 'A');
const FILE_DIGITS = 200 * MEGABYTE;

async function serve(response: ServerResponse, served: { bytes: number }): Promise<void> {
  response.write('{"file":"');
  while (served.bytes < FILE_DIGITS) {
    served.bytes += PIECE.length;
    if (!response.write(PIECE)) await once(response, 'drain');
  }
  response.end('"}');
}
