import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { SafeFetcher } from '#platform';
import { McpConnection } from './mcp-connection.js';
import { readMcpResult } from './mcp-result.js';

const TOKEN = 'a-token-"that"-must-stay-secret';

describe('A server of tools that echoes the token which opens it', () => {
  let server: Server;
  let fetcher: SafeFetcher;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      void json(request).then((message) => {
        const { id, method } = message as { id?: number; method: string };
        if (id === undefined) return response.writeHead(202).end();
        const echo = request.headers.authorization ?? '';
        const properties = { word: { type: 'string', description: echo, [echo]: true } };
        const tool = { name: 'weigh', description: echo, inputSchema: { type: 'object', properties } };
        const opened = {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        };
        const result = method === 'initialize' ? opened : { tools: [tool] };
        return response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    fetcher = new SafeFetcher({ allow: [address] });
    url = `http://${address}/mcp`;
  });
  afterAll(async () => {
    await fetcher.close();
    server.closeAllConnections();
    server.close();
  });

  it('has it nowhere in what is known of its tools', async () => {
    const bounds = { lifetimeMs: 30_000, mayCall: () => true, maxReplyBytes: 1_000_000 };
    const connection = new McpConnection(fetcher, 'account', { url, token: TOKEN, timeoutMs: 30_000 }, bounds);
    const [tool] = await connection.listTools(new AbortController().signal);
    connection.close();
    expect(tool).toMatchObject({ name: 'weigh', description: 'Bearer ***' });
    expect(JSON.stringify(tool)).not.toContain('must-stay-secret');
  });
});

describe('A result of a tool', () => {
  it('is cut to a number of parts, of which none is empty', () => {
    const empty = Array.from({ length: 10_000 }, () => ({ type: 'text', text: '' }));
    const short = Array.from({ length: 10_000 }, () => ({ type: 'text', text: 'a' }));
    const { content } = readMcpResult({ content: [...empty, ...short] }, []);
    expect(content.length).toBeLessThanOrEqual(257);
    expect(content[0]).toEqual({ type: 'text', text: 'a' });
    expect(content.at(-1)).toMatchObject({ text: expect.stringContaining('The rest is left out') });
  });
});
