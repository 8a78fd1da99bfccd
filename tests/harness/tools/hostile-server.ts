import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#contracts';

/** What a server does to its client when it is asked for its tools or to run one. */
export const HOSTILITIES = [
  'hangs',
  'floods',
  'notifies',
  'reports-progress',
  'asks-back',
  'asks-for-words',
  'asks-the-user',
  'asks-for-roots',
  'crumbles',
  'nests',
  'answers-in-lists',
  'redirects',
  'lies',
  'breaks',
  'refuses',
  'drips',
  'hangs-up',
  'forgets',
] as const;
export type Hostility = (typeof HOSTILITIES)[number];

/** A server of tools that speaks the protocol until it is asked for what it is hostile about. */
export interface HostileServer {
  readonly address: string;
  /** What it does, and when; nothing while undefined. */
  hostility: { readonly at: 'list' | 'call'; readonly does: Hostility } | undefined;
  /** Pages on which it lists its tool, and none on the others; a last one never comes where there are endless many. */
  pages: number;
  /** What it lists when it does no harm, and what a call returns. */
  tools: readonly JsonObject[];
  result: JsonObject;
  /** Bytes that it has written of its flood. */
  flooded: number;
  readonly asked: JsonObject[];
  /** Forgets every session. */
  forget(): void;
  stop(): Promise<void>;
}

export const TOOL = { name: 'weigh', description: 'Weighs a word.', inputSchema: { type: 'object', properties: {} } };
export const WEIGHED = { content: [{ type: 'text', text: 'It weighs 7.' }] };
const MIB = 1024 * 1024;
const FLOOD_BYTES = 100 * MIB;

/** Starts it on a free port. Call `stop` in `afterAll`. */
export async function startHostileServer(): Promise<HostileServer> {
  const sessions = new Set<string>();
  const sockets = createServer((request, response) => void serve(request, response, { hostile, sessions }));
  sockets.listen(0, '127.0.0.1');
  await once(sockets, 'listening');
  const hostile: HostileServer = {
    address: `127.0.0.1:${(sockets.address() as AddressInfo).port}`,
    hostility: undefined,
    pages: 1,
    tools: [TOOL],
    result: WEIGHED,
    flooded: 0,
    asked: [],
    forget: () => sessions.clear(),
    stop: async () => {
      sockets.close();
      sockets.closeAllConnections();
      await once(sockets, 'close');
    },
  };
  return hostile;
}

interface Serving {
  readonly hostile: HostileServer;
  /** The sessions that it remembers. */
  readonly sessions: Set<string>;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { hostile, sessions }: Serving,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const message = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonObject;
  hostile.asked.push(message);
  const { id, method } = message;
  if (method === 'initialize') response.setHeader('mcp-session-id', begun(sessions));
  else if (!sessions.has(String(request.headers['mcp-session-id']))) return void response.writeHead(404).end();
  if (typeof id !== 'number' || typeof method !== 'string') return void response.writeHead(202).end();
  const moment = { 'tools/list': 'list', 'tools/call': 'call' }[method];
  const { at, does } = hostile.hostility ?? {};
  if (does !== undefined && at === moment) return harm(does, id, response, hostile);
  answer(response, { jsonrpc: '2.0', id, result: morePages(message, hostile.pages) ?? resultOf(method, hostile) });
}

function begun(sessions: Set<string>): string {
  const session = randomUUID();
  sessions.add(session);
  return session;
}

/** A page without tools, before the last one. */
function morePages({ method, params }: JsonObject, pages: number): JsonObject | undefined {
  const page = Number((params as JsonObject | undefined)?.['cursor'] ?? 1);
  return method === 'tools/list' && page < pages ? { tools: [], nextCursor: String(page + 1) } : undefined;
}

function resultOf(method: string, { tools, result }: HostileServer): JsonObject {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' },
    };
  return method === 'tools/list' ? { tools: [...tools] } : result;
}

function answer(response: ServerResponse, message: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

/** Messages that are sent without end. */
const MESSAGES: Partial<Record<Hostility, string>> = {
  notifies: '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}',
  'reports-progress':
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":2}}',
  'asks-back': '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  'asks-for-words':
    '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1000}}',
  'asks-the-user':
    '{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}',
  'asks-for-roots': '{"jsonrpc":"2.0","id":1,"method":"roots/list"}',
};

/** An answer of more than a million values, none of them what it should be. */
function crumbs(id: number, at = ''): string {
  const field = at === 'list' ? 'tools' : 'content';
  return `{"jsonrpc":"2.0","id":${id},"result":{"${field}":[{}${',{}'.repeat(1_300_000)}]}}`;
}

/** A schema, or a result, of values that lie two hundred thousand levels deep. */
function nested(id: number, at = ''): string {
  const value = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
  const tool = `{"name":"weigh","inputSchema":{"type":"object","properties":${value}}}`;
  const result = at === 'list' ? `"tools":[${tool}]` : `"content":[],"structuredContent":${value}`;
  return `{"jsonrpc":"2.0","id":${id},"result":{${result}}}`;
}

function harm(does: Hostility, id: number, response: ServerResponse, hostile: HostileServer): void {
  const message = MESSAGES[does];
  const body = bodyOf(does, id, hostile.hostility?.at);
  if (message !== undefined) return stream(response, hostile, message);
  if (body !== undefined) return void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  switch (does) {
    case 'hangs':
      return;
    case 'floods':
      response.writeHead(200, { 'content-type': 'application/json' });
      return pour(response, hostile, () => Buffer.alloc(MIB, ' '));
    case 'redirects':
      return void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    case 'breaks':
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"jsonrpc":');
      return void setImmediate(() => response.destroy());
    case 'drips':
      return drip(response);
    case 'hangs-up':
      return void response.destroy();
    case 'forgets':
      return void response.writeHead(404).end();
    default:
      return void response.writeHead(401, { 'content-type': 'text/plain' }).end('Who are you?');
  }
}

/** What is answered by those that answer at once. */
function bodyOf(does: Hostility, id: number, at: string | undefined): string | undefined {
  switch (does) {
    case 'crumbles':
      return crumbs(id, at);
    case 'nests':
      return nested(id, at);
    case 'answers-in-lists':
      return `[${Array.from({ length: 40_000 }, () => MESSAGES.notifies).join(',')}]`;
    case 'lies':
      return JSON.stringify({ jsonrpc: '2.0', id, result: { tools: 'many', content: 'nothing', inputSchema: 7 } });
    default:
      return undefined;
  }
}

function stream(response: ServerResponse, hostile: HostileServer, message: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = Buffer.from(`event: message\ndata: ${message}\n\n`.repeat(64));
  pour(response, hostile, () => events);
}

/** Writes a blank now and then, so that it is never silent for long. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const drops = setInterval(() => response.write(' '), 20);
  response.once('close', () => clearInterval(drops));
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
