import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { GatewayError } from '#contracts';
import { answerUnread, eventually } from '#testing';
import { sendFile } from './send-file.js';

const PIECE = Buffer.alloc(64 * 1024);
const PIECES = 1_000;

const file = (): Readable => Readable.from(Array.from({ length: PIECES }, () => PIECE));

describe('A file that is sent', () => {
  it('reaches a client that reads whole', async () => {
    // A client that reads must never meet the limit, however busy the machine is: it is the usual one here.
    const server = createServer((_request, response) => void sendFile(file(), response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect((await answer.arrayBuffer()).byteLength).toBe(PIECES * PIECE.length);
    server.closeAllConnections();
    server.close();
  });

  it('is not read for a client that asks for its headers alone', async () => {
    let read = 0;
    const content = Readable.from(
      (function* () {
        for (; read < PIECES; read += 1) yield PIECE;
      })(),
    );
    const server = createServer((_request, response) => void sendFile(content, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { status } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method: 'HEAD' });
    expect([status, content.destroyed, read]).toEqual([200, true, 0]);
    server.closeAllConnections();
    server.close();
  });

  it('is let go of, source and all, when its client reads nothing', async () => {
    const content = file();
    await answerUnread((_request, response) => sendFile(content, response, { stallMs: 300 }));
    expect(content.destroyed).toBe(true);
  });

  it('ends soon after whoever asked for it may not read it any more, and not while that cannot be asked', async () => {
    const refusals = [new Error('the database is away'), new GatewayError('invalid_api_key', 'The key was revoked.')];
    let asked = 0;
    const expectAllowed = async (): Promise<void> => {
      asked += 1;
      const refusal = refusals[asked - 1];
      if (refusal) throw refusal;
    };
    const content = new Readable({ read: () => undefined });
    content.push(PIECE);
    const bounds = { expectAllowed, allowedEveryMs: 20 };
    const server = createServer((_request, response) => void sendFile(content, response, bounds)).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
    await eventually(() => content.destroyed);
    expect(asked).toBe(2);
    server.closeAllConnections();
    server.close();
  });
});
