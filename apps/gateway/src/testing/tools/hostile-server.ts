import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#contracts';

/** What a server does to its client when it is asked for its tools or to run one. */
export const HOSTILITIES = [
  'hangs',
  'floods',
  'notifies',
  'asks-back',
  'redirects',
  'lies',
  'breaks',
  'refuses',
] as const;
export type Hostility = (typeof HOSTILITIES)[number];

/** A server of tools that speaks the protocol until it is asked for what it is hostile about. */
export interface HostileServer {
  readonly address: string;
  /** What it does, and when; nothing while undefined. */
  hostility: { readonly at: 'list' | 'call'; readonly does: Hostility } | undefined;
  /** Bytes that it has written of its flood. */
  flooded: number;
  readonly asked: JsonObject[];
  stop(): Promise<void>;
}

const TOOL = { name: 'weigh', description: 'Weighs a word.', inputSchema: { type: 'object', properties: {} } };
const MIB = 1024 * 1024;
const FLOOD_BYTES = 100 * MIB;

/** Starts it on a free port. Call `stop` in `afterAll`. */
export async function startHostileServer(): Promise<HostileServer> {
  const sockets = createServer((request, response) => void serve(request, response, hostile));
  sockets.listen(0, '127.0.0.1');
  await once(sockets, 'listening');
  const hostile: HostileServer = {
    address: `127.0.0.1:${(sockets.address() as AddressInfo).port}`,
    hostility: undefined,
    flooded: 0,
    asked: [],
    stop: async () => {
      sockets.close();
      sockets.closeAllConnections();
      await once(sockets, 'close');
    },
  };
  return hostile;
}

async function serve(request: IncomingMessage, response: ServerResponse, hostile: HostileServer): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const message = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonObject;
  hostile.asked.push(message);
  const { id, method } = message;
  if (typeof id !== 'number' || typeof method !== 'string') return void response.writeHead(202).end();
  const moment = { 'tools/list': 'list', 'tools/call': 'call' }[method];
  const { at, does } = hostile.hostility ?? {};
  if (does !== undefined && at === moment) return harm(does, id, response, hostile);
  answer(response, { jsonrpc: '2.0', id, result: resultOf(method) });
}

function resultOf(method: string): JsonObject {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' },
    };
  return method === 'tools/list' ? { tools: [TOOL] } : { content: [{ type: 'text', text: 'It weighs 7.' }] };
}

function answer(response: ServerResponse, message: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

function harm(does: Hostility, id: number, response: ServerResponse, hostile: HostileServer): void {
  switch (does) {
    case 'hangs':
      return;
    case 'floods':
      response.writeHead(200, { 'content-type': 'application/json' });
      return pour(response, hostile, () => Buffer.alloc(MIB, ' '));
    case 'notifies':
      return stream(
        response,
        hostile,
        '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}',
      );
    case 'asks-back':
      return stream(response, hostile, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
    case 'redirects':
      return void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    case 'lies':
      return answer(response, { jsonrpc: '2.0', id, result: { tools: 'many', content: 'nothing', inputSchema: 7 } });
    case 'breaks':
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"jsonrpc":');
      return void setImmediate(() => response.destroy());
    default:
      return void response.writeHead(401, { 'content-type': 'text/plain' }).end('Who are you?');
  }
}

function stream(response: ServerResponse, hostile: HostileServer, message: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = Buffer.from(`event: message\ndata: ${message}\n\n`.repeat(64));
  pour(response, hostile, () => events);
}

/** Writes as fast as it is read, until it is cut off or everything is written. */
function pour(response: ServerResponse, hostile: HostileServer, piece: () => Buffer): void {
  const write = (): void => {
    while (!response.destroyed && hostile.flooded < FLOOD_BYTES) {
      const bytes = piece();
      hostile.flooded += bytes.length;
      if (!response.write(bytes)) return void response.once('drain', write);
    }
    response.end();
  };
  write();
}
