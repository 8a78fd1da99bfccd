// The floor of text, the leanest relay that Node allows: `node:http` in, undici's `dispatch` out, bytes untouched, a slow reader
// waited for. No key, no checks, no money, no envelope.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool } from 'undici';

const { PORT = '0', VENDOR_URL = '' } = process.env;
const vendor = new Pool(VENDOR_URL, { connections: 512, pipelining: 1, keepAliveTimeout: 60_000 });
/** Headers that concern one connection only. */
const OF_ONE_CONNECTION = new Set(['connection', 'host', 'keep-alive', 'transfer-encoding', 'expect', 'upgrade']);

function relay(request: IncomingMessage, answer: ServerResponse, body: Buffer): void {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !OF_ONE_CONNECTION.has(name)));
  let bytesLeft = -1;
  let resumeReading = (): void => {};
  vendor.dispatch(
    { method: 'POST', path: request.url ?? '/', headers, body },
    {
      onConnect(abort) {
        answer.on('close', () => {
          if (!answer.writableFinished) abort();
        });
      },
      onHeaders(status, raw, resume) {
        resumeReading = resume;
        const passed: string[] = [];
        for (let at = 0; at < raw.length; at += 2) {
          const [name, value] = [String(raw[at]), String(raw[at + 1])];
          if (OF_ONE_CONNECTION.has(name.toLowerCase())) continue;
          if (name.toLowerCase() === 'content-length') bytesLeft = Number(value);
          passed.push(name, value);
        }
        answer.writeHead(status, passed);
        return true;
      },
      onData(chunk) {
        bytesLeft -= chunk.length;
        // Headers and body leave in one write.
        if (bytesLeft === 0) answer.end(chunk);
        else if (!answer.write(chunk)) {
          answer.once('drain', resumeReading);
          return false;
        }
        return true;
      },
      onComplete() {
        if (!answer.writableEnded) answer.end();
      },
      onError() {
        if (answer.headersSent) answer.destroy();
        else answer.writeHead(502).end();
      },
    },
  );
}

createServer((request, answer) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => relay(request, answer, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
}).listen(Number(PORT), '127.0.0.1');
