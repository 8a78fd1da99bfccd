import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { readText, UpstreamHttp } from './upstream-http.js';

const EARLY = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const SINGLE_BYTES = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(10_000)}`;
const REPLY = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

describe('A reply of an upstream', () => {
  const lines = new Set<Socket>();
  let server: Server;
  let http: UpstreamHttp;
  let sent: string;
  beforeAll(async () => {
    server = createServer((line) => {
      lines.add(line);
      line.on('error', () => undefined);
      line.on('data', (bytes) => bytes.toString().endsWith('{}') && line.write(sent));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    http = new UpstreamHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterAll(async () => {
    await http.close();
    for (const line of lines) line.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const never = new AbortController().signal;
  const body = [Buffer.from('{}')];
  const ways = {
    whole: async () => (await http.exchange('/', {}, body, { signal: never, accept: () => 1_000_000 })).text,
    streamed: async () => readText(await http.post('/', {}, body, never), never, 1_000_000),
  };

  it.each(Object.entries(ways))('is understood where it was announced, read %s', async (_how, read) => {
    sent = `HTTP/1.1 102 Processing\r\n\r\n${EARLY}${REPLY}`;
    await expect(read()).resolves.toBe('{}');
  });

  it.each(Object.entries(ways))(
    'is not waited for when it is announced again and again, read %s',
    async (_how, read) => {
      sent = EARLY.repeat(40);
      await expect(read()).rejects.toMatchObject({ code: 'upstream_error' });
    },
  );

  it.each(Object.entries(ways))(
    'is ended when it comes in very many very short pieces, read %s',
    async (_how, read) => {
      sent = SINGLE_BYTES;
      await expect(read()).rejects.toThrow('arrives in more than 4096 pieces of fewer than 32 bytes on average');
    },
  );
});
