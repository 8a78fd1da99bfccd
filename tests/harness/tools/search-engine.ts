import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What came in, for assertions. */
export interface SeenSearch {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A search engine that speaks as SearXNG, Brave and Tavily do, and finds the same page for every question. */
export interface FakeEngine {
  readonly baseUrl: string;
  readonly seen: SeenSearch[];
  stop(): Promise<void>;
}

const PAGE = { url: 'https://tides.example.org/today', title: 'Tides today' };
const TEXT = 'High water at the old pier is at 17:42 today.';

/** Each engine's own shape of an answer. */
function answerTo(path: string): object | undefined {
  if (path.startsWith('/res/v1/web/search'))
    return { web: { results: [{ ...PAGE, description: TEXT, age: '1 day ago' }] } };
  if (path === '/search') return { query: '', results: [{ ...PAGE, content: TEXT, score: 0.9 }] };
  if (path.startsWith('/search?'))
    return { results: [{ ...PAGE, content: TEXT, engine: 'fake' }, { url: 'javascript:1' }] };
  return undefined;
}

/** Starts it on a free port. Call `stop` in `afterAll`. */
export async function startFakeEngine(): Promise<FakeEngine> {
  const seen: SeenSearch[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
      const answer = answerTo(url);
      response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
