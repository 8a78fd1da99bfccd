// The floor of text: bytes in, bytes out. No key, no checks, no money, no envelope.
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { Agent, request } from 'undici';

const { PORT = '0', VENDOR_URL = '' } = process.env;
const dispatcher = new Agent();

createServer((incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const body = Buffer.concat(chunks);
    const headers = { 'content-type': 'application/json' };
    request(VENDOR_URL + (incoming.url ?? ''), { method: 'POST', body, headers, dispatcher }).then(
      (reply) => {
        outgoing.writeHead(reply.statusCode, { 'content-type': String(reply.headers['content-type']) });
        pipeline(reply.body, outgoing, () => {});
      },
      () => outgoing.writeHead(502).end(),
    );
  });
}).listen(Number(PORT), '127.0.0.1');
