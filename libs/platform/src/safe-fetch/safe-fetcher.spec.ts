import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { ResolveName } from './checked-connector.js';
import { SafeFetcher, type SafeFetcherOptions } from './safe-fetcher.js';

/** Time enough for whatever ends by itself; what never ends is given a moment. */
const BOUNDS = { timeoutMs: 60_000, maxBytes: 100_000 };

/** Stands for the inside of a network: it must never be reached. */
let inside: Server;
let insidePort: number;
let insideHits = 0;
/** Stands for a host on the internet; reached through the allow list. */
let outside: Server;
let outsideUrl: string;
let outsideHost: string;
const opened: SafeFetcher[] = [];

const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/': (_, response) => response.end('public'),
  '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/never': () => undefined,
  '/stalls': (_, response) => response.writeHead(200, { 'content-length': 10 }).write('a'),
  '/drips': (_, response) => {
    const drip = setInterval(() => response.write('a'), 20);
    response.on('close', () => clearInterval(drip));
  },
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('abc');
    setTimeout(() => response.destroy(), 10);
  },
  '/gzip': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('bomb')),
  '/zstd': (_, response) => response.writeHead(206, { 'content-encoding': 'zstd' }).end(Buffer.from('28b52ffd', 'hex')),
  '/encoded-twice': (_, response) => response.setHeader('content-encoding', ['identity', 'br']).end('bomb'),
  '/identity-twice': (_, response) => response.setHeader('content-encoding', ['identity', 'Identity']).end('public'),
  '/gzipped-403': (_, response) => response.writeHead(403, { 'content-encoding': 'gzip' }).end(gzipSync('expired')),
  '/long-404': (_, response) => response.writeHead(404, { 'content-length': 1e9 }).write('a'),
  '/announces-much': (_, response) => response.writeHead(200, { 'content-length': 1e9 }).write('a'),
  '/sends-much': (_, response) => {
    const chunk = Buffer.alloc(65_536);
    // Told by the failure of a write: Node 24 says that the answer is destroyed only once the writes before were called back.
    const more = (failed?: Error | null): void => void (failed ?? response.write(chunk, more));
    more();
  },
  '/single-bytes': (_, response) => {
    // Past the answer, which may join what is written in one turn into one chunk.
    response.flushHeaders();
    response.socket?.write('1\r\na\r\n'.repeat(10_000));
  },
  '/early-hints': (_, response) => {
    for (let head = 0; head < 40; head += 1) response.writeEarlyHints({ link: '</a>; rel=preload' });
  },
  '/headers': (request, response) => response.end(JSON.stringify(request.headers)),
  '/echo': (request, response) => void buffer(request).then((body) => response.writeHead(202).end(body)),
};

function answerOutside(request: IncomingMessage, response: ServerResponse): void {
  const url = request.url ?? '/';
  if (url.startsWith('/to/')) response.writeHead(302, { location: decodeURIComponent(url.slice(4)) }).end();
  else (routes[url] ?? routes['/'])?.(request, response);
}

const listen = (server: Server, host: string): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port));
  });

beforeAll(async () => {
  inside = createServer((_, response) => {
    insideHits += 1;
    response.end('secret');
  });
  outside = createServer(answerOutside);
  insidePort = await listen(inside, '::');
  outsideHost = `127.0.0.1:${await listen(outside, '127.0.0.1')}`;
  outsideUrl = `http://${outsideHost}`;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((fetcher) => fetcher.close()));
});

afterAll(() => {
  for (const server of [inside, outside]) {
    server.close();
    server.closeAllConnections();
  }
});

function fetcher(options: SafeFetcherOptions = {}): SafeFetcher {
  const created = new SafeFetcher({ ports: 'any', ...options });
  opened.push(created);
  return created;
}

/** Reaches the outside server by its `host:port`, and nothing else that is not public. */
const outsider = (options: SafeFetcherOptions = {}) => fetcher({ allow: [outsideHost], ...options });

/** Answers names from a table. */
function namesFrom(table: Record<string, string[]>, calls: string[] = []): ResolveName {
  return async (host) => {
    calls.push(host);
    const addresses = table[host] ?? [];
    if (!addresses.length) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
}

const read = async (from: SafeFetcher, url: string) => text((await from.get(url, BOUNDS)).body);

describe('the safe fetcher never reaches an address that is not public', () => {
  it.each([
    ['127.0.0.1', '[::1]', '0.0.0.0', '0', '2130706433', '0x7f.1', '017700000001', '127.1', '[::]'],
    ['①②⑦.⓪.⓪.①', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::7f00:1]'],
    ['10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
    ['[fd00:ec2::254]', '[fe80::1]', '[fec0::1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
    ['[2001::1]', '[2001:db8::1]', '[3fff::1]', '[5f00::1]', '[4000::1]', '[ff02::1]', '[100::1]'],
    ['255.255.255.255', '224.0.0.1', '198.18.0.1', '203.0.113.1', '240.0.0.1'],
  ])('written as a literal: %s and its like', async (...hosts) => {
    const from = fetcher();
    for (const host of hosts)
      await expect(from.get(`http://${host}:${insidePort}/`, BOUNDS)).rejects.toMatchObject({
        code: 'address_blocked',
      });
  });

  it.each([
    ['loopback', ['127.0.0.1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['a public and a private address', ['8.8.8.8', '10.0.0.1']],
    ['a private and a public address', ['10.0.0.1', '8.8.8.8']],
    ['a zoned address', ['fe80::1%lo']],
  ])('behind a name that resolves to %s', async (_case, addresses) => {
    const from = fetcher({ resolve: namesFrom({ 'name.test': addresses }) });
    const get = from.get(`http://name.test:${insidePort}/`, BOUNDS);
    await expect(get).rejects.toMatchObject({ code: 'address_blocked' });
  });

  it('behind the names of the machine itself', async () => {
    const get = fetcher().get(`http://localhost:${insidePort}/`, BOUNDS);
    await expect(get).rejects.toMatchObject({ code: 'address_blocked' });
  });

  it('when a name changes its answer between check and connection: it is asked once and that answer is dialled', async () => {
    const calls: string[] = [];
    const answers = [['203.0.114.1'], ['127.0.0.1']];
    const resolve: ResolveName = (host, share) =>
      namesFrom({ [host]: answers[calls.length] ?? [] }, calls)(host, share);
    const from = fetcher({ resolve, connectTimeoutMs: 200 });
    const url = `http://rebind.test:${insidePort}/`;
    await expect(from.get(url, BOUNDS)).rejects.toMatchObject({ name: 'FetchFailed' });
    expect(calls).toHaveLength(1);
    await expect(from.get(url, BOUNDS)).rejects.toMatchObject({ code: 'address_blocked' });
  });

  it('through a redirect', async () => {
    const from = outsider({ resolve: namesFrom({ 'in.test': ['127.0.0.1'] }) });
    const targets = [
      `http://127.0.0.1:${insidePort}/`,
      `//127.0.0.1:${insidePort}/`,
      `http://[::1]:${insidePort}/`,
      'http://169.254.169.254/latest/meta-data',
      `http://in.test:${insidePort}/`,
      `${outsideUrl}/to/${encodeURIComponent(`http://127.0.0.1:${insidePort}/`)}`,
    ];
    for (const target of targets) {
      const get = from.get(`${outsideUrl}/to/${encodeURIComponent(target)}`, BOUNDS);
      await expect(get).rejects.toMatchObject({ code: 'address_blocked' });
    }
  });

  it('by POST', async () => {
    const bounds = { body: '{}', headers: {}, timeoutMs: BOUNDS.timeoutMs, maxReplyBytes: 10 };
    for (const host of ['127.0.0.1', '[::1]', 'localhost'])
      await expect(fetcher().post(`http://${host}:${insidePort}/`, bounds)).rejects.toMatchObject({
        code: 'address_blocked',
      });
  });
});

describe('the safe fetcher refuses', () => {
  it.each([
    ['file:///etc/passwd', 'bad_scheme'],
    ['ftp://8.8.8.8/', 'bad_scheme'],
    ['data:text/plain,x', 'bad_scheme'],
    ['http://user:word@8.8.8.8/', 'credentials'],
    ['http://user@8.8.8.8/', 'credentials'],
    ['http://8.8.8.8:22/', 'bad_port'],
    ['https://8.8.8.8:8443/', 'bad_port'],
    ['http://', 'bad_url'],
    ['nonsense', 'bad_url'],
  ])('%s as %s', async (url, code) => {
    const from = fetcher({ ports: [80, 443] });
    expect(() => from.checkUrl(url)).toThrow(expect.objectContaining({ code }));
    await expect(from.get(url, BOUNDS)).rejects.toMatchObject({ code });
  });

  it.each([
    ['/to/file%3A%2F%2F%2Fetc%2Fpasswd', 'bad_scheme'],
    ['/to/http%3A%2F%2Fa%3Ab%40example.com', 'credentials'],
    ['/loop', 'too_many_redirects'],
    ['/gzip', 'content_encoding'],
    ['/announces-much', 'too_large'],
    ['/early-hints', 'too_many_interim_responses'],
  ])('an answer of %s as %s', async (path, code) => {
    await expect(outsider().get(outsideUrl + path, BOUNDS)).rejects.toMatchObject({ code });
  });

  it.each([
    ['/gzip', 'gzip'],
    ['/zstd', 'zstd'],
    ['/encoded-twice', 'identity, br'],
  ])('a compressed body, naming its encoding: %s', async (path, encoding) => {
    await expect(outsider().get(outsideUrl + path, BOUNDS)).rejects.toThrow(`content-encoding ${encoding}`);
  });

  it('a body that turns out longer than allowed, while it is read', async () => {
    const { body } = await outsider().get(`${outsideUrl}/sends-much`, BOUNDS);
    await expect(buffer(body)).rejects.toMatchObject({ code: 'too_large' });
  });

  it('a body of very many very short pieces, while it is read', async () => {
    const { body } = await outsider().get(`${outsideUrl}/single-bytes`, { ...BOUNDS, maxBytes: 1_000_000 });
    await expect(buffer(body)).rejects.toMatchObject({ code: 'too_many_pieces' });
  });

  it('an allow list with an entry that means nothing', () => {
    for (const entry of ['10.0.0.0/33', 'example.com', 'example.com:0', 'example.com:99999', '', '10.0.0.1'])
      expect(() => new SafeFetcher({ allow: [entry] })).toThrow(RangeError);
  });
});

describe('the safe fetcher gives up in time', () => {
  it('when no answer comes', async () => {
    const from = outsider();
    const get = from.get(`${outsideUrl}/never`, { ...BOUNDS, timeoutMs: 100 });
    await expect(get).rejects.toMatchObject({ name: 'FetchFailed', code: 'timeout' });
  });

  it.each(['/stalls', '/drips'])('when a body never ends: %s', async (path) => {
    const reading = outsider()
      .get(outsideUrl + path, { ...BOUNDS, timeoutMs: 150 })
      .then(({ body }) => buffer(body));
    await expect(reading).rejects.toMatchObject({ name: 'FetchFailed', code: 'timeout' });
  });

  it('when the caller stops, with the reason of the caller', async () => {
    const stopped = new Error('shutting down');
    const controller = new AbortController();
    setTimeout(() => controller.abort(stopped), 50);
    const get = outsider().get(`${outsideUrl}/never`, { ...BOUNDS, signal: controller.signal });
    await expect(get).rejects.toBe(stopped);
  });

  it('names a cut connection and an unknown host', async () => {
    const { body } = await outsider().get(`${outsideUrl}/cut`, BOUNDS);
    await expect(buffer(body)).rejects.toMatchObject({ code: 'connection_failed' });
    const from = fetcher({ resolve: namesFrom({}) });
    await expect(from.get('http://none.test/', BOUNDS)).rejects.toMatchObject({ code: 'name_not_found' });
  });
});

describe('the safe fetcher reaches', () => {
  it('what an operator allows by host and port, by literal or by name, and redirects within it', async () => {
    expect(await read(outsider(), outsideUrl)).toBe('public');
    const answer = await outsider().get(`${outsideUrl}/to/${encodeURIComponent('/x')}`, BOUNDS);
    expect(answer).toMatchObject({ status: 200, url: `${outsideUrl}/x` });
    expect(await text(answer.body)).toBe('public');
    const port = new URL(outsideUrl).port;
    expect(await read(fetcher({ allow: [`localhost:${port}`] }), `http://localhost:${port}/`)).toBe('public');
  });

  it('what an operator allows by address range, also behind a name', async () => {
    const port = new URL(outsideUrl).port;
    const from = fetcher({ allow: ['127.0.0.0/8'], resolve: namesFrom({ 'store.test': ['127.0.0.1'] }) });
    expect(await read(from, `http://store.test:${port}/`)).toBe('public');
  });

  it.each([
    ['/gzipped-403', 403],
    ['/long-404', 404],
  ])('with the status of a refusal whatever its page looks like: %s', async (path, status) => {
    const answer = await outsider().get(outsideUrl + path, BOUNDS);
    expect(answer).toMatchObject({ status });
    answer.body.destroy();
  });

  it('which says repeatedly that it is not compressed', async () => {
    expect(await read(outsider(), `${outsideUrl}/identity-twice`)).toBe('public');
  });

  it('without asking for compression, and with the headers of the caller', async () => {
    const answer = await outsider().get(`${outsideUrl}/headers`, { ...BOUNDS, headers: { range: 'bytes=0-9' } });
    expect(JSON.parse(await text(answer.body))).toMatchObject({ 'accept-encoding': 'identity', range: 'bytes=0-9' });
  });
});

describe('the safe fetcher gives credentials', () => {
  const credentials = { authorization: 'Bearer key-of-a-vendor' };
  const seenBy = async (url: string): Promise<unknown> => {
    const from = fetcher({ allow: ['127.0.0.0/8'], resolve: namesFrom({ 'store.test': ['127.0.0.1'] }) });
    const { body } = await from.get(url, { ...BOUNDS, credentials });
    return (JSON.parse(await text(body)) as { authorization?: string }).authorization;
  };
  const redirect = (to: string): string => `${outsideUrl}/to/${encodeURIComponent(to)}`;

  it('to the origin of the address, also behind its own redirect', async () => {
    expect(await seenBy(`${outsideUrl}/headers`)).toBe(credentials.authorization);
    expect(await seenBy(redirect('/headers'))).toBe(credentials.authorization);
  });

  it('to no other host, nor again behind the redirect of one', async () => {
    const other = `http://store.test:${new URL(outsideUrl).port}`;
    expect(await seenBy(redirect(`${other}/headers`))).toBeUndefined();
    expect(await seenBy(redirect(`${other}/to/${encodeURIComponent(`${outsideUrl}/headers`)}`))).toBe(undefined);
  });
});

describe('a POST of the safe fetcher', () => {
  it('never takes a compressed body for a text', async () => {
    const { status, body } = await post('/gzipped-403');
    expect([status, body.toString('hex')]).toEqual([403, '']);
  });

  const post = (path: string, body = 'a webhook', maxReplyBytes = 100) =>
    outsider().post(outsideUrl + path, {
      body,
      headers: { 'content-type': 'x/y' },
      timeoutMs: BOUNDS.timeoutMs,
      maxReplyBytes,
    });

  it('carries the body and gives status and beginning of the answer', async () => {
    expect(await post('/echo')).toMatchObject({ status: 202, body: Buffer.from('a webhook') });
    expect(await post('/echo', 'x'.repeat(50_000), 64)).toMatchObject({ body: Buffer.from('x'.repeat(64)) });
    expect((await post('/sends-much', '', 64)).body).toHaveLength(64);
  });

  it('does not follow redirects', async () => {
    const answer = await post(`/to/${encodeURIComponent(`http://127.0.0.1:${insidePort}/`)}`);
    expect(answer).toMatchObject({ status: 302 });
  });

  it('ends in time', async () => {
    const from = outsider();
    const bounds = { body: '', headers: {}, timeoutMs: 100, maxReplyBytes: 100 };
    for (const path of ['/never', '/drips'])
      await expect(from.post(outsideUrl + path, bounds)).rejects.toMatchObject({ code: 'timeout' });
  });
});

describe('the inside of the network', () => {
  it('was not reached by any of the requests above', () => {
    expect(insideHits).toBe(0);
  });
});
