import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { sendFile } from './send-file.js';

const PIECE = Buffer.alloc(64 * 1024);
const PIECES = 1_000;

const file = (): Readable => Readable.from(Array.from({ length: PIECES }, () => PIECE));

describe('A file that is sent', () => {
  const sent: { readonly content: Readable; readonly over: Promise<void> }[] = [];
  const server = createServer((request, response) => {
    const content = file();
    // A client that reads must never meet the limit, however busy the machine is.
    const over = sendFile(content, response, request.url === '/impatient' ? 300 : undefined);
    sent.push({ content, over });
  }).listen(0, '127.0.0.1');
  beforeAll(() => server.listening || once(server, 'listening'));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('reaches a client that reads whole', async () => {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect((await answer.arrayBuffer()).byteLength).toBe(PIECES * PIECE.length);
  });

  it('is let go of, source and all, when its client reads nothing', async () => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.on('error', () => undefined);
    client.write('GET /impatient HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(server, 'request');
    await sent.at(-1)?.over;
    expect(sent.at(-1)?.content.destroyed).toBe(true);
    client.destroy();
  });
});
