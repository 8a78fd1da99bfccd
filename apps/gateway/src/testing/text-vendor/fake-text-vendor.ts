import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readChat, streamChat, wholeChat } from './chat-vendor.js';
import { readGemini, streamGemini, wholeGemini } from './gemini-vendor.js';
import { readMessages, streamMessage, wholeMessage } from './messages-vendor.js';
import { readResponses, streamResponse, wholeResponse } from './responses-vendor.js';
import { decide, type VendorRequest, type VendorScript } from './vendor-script.js';

/** A way to fail; each is done to every request until `fault` is set back. */
export type VendorFault =
  | 'none'
  | 'cut-before-headers'
  | 'cut-after-headers'
  | 'cut-mid-event'
  | 'early-end'
  | 'stall'
  | 'garbage'
  | 'wrong-content-type'
  | 'huge-reply'
  | 'slow-429'
  | 'refusal'
  | 'refusal-400'
  | 'error-500'
  | 'error-in-stream'
  | 'no-usage'
  | 'no-output-count';

/** How the fault `refusal` refuses. */
export interface VendorRefusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What becomes of a request that holds a certain text: refused like that, or its connection cut. */
export type SpoiledRequest = { readonly status: number; readonly body: object | string } | 'cut';

/** What came in, for assertions. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

interface Exchange {
  readonly protocol: 'responses' | 'chat' | 'messages' | 'gemini';
  readonly request: VendorRequest;
  readonly whole: (script: VendorScript) => object;
  readonly events: (script: VendorScript) => string[];
  /** How the protocol reports a failure inside a stream. */
  readonly failure: string;
}

const NAMED_FAILURE =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
const CHAT_FAILURE = 'data: {"error":{"type":"overloaded_error","message":"Overloaded","code":503}}\n\n';
const GEMINI_FAILURE = 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\r\n\r\n';

function understand(path: string, body: never): Exchange | undefined {
  if (path.endsWith('/chat/completions'))
    return { protocol: 'chat', request: readChat(body), whole: wholeChat, events: streamChat, failure: CHAT_FAILURE };
  if (path.endsWith('/responses'))
    return {
      protocol: 'responses',
      request: readResponses(body),
      whole: wholeResponse,
      events: streamResponse,
      failure: NAMED_FAILURE,
    };
  if (path.endsWith('/messages'))
    return {
      protocol: 'messages',
      request: readMessages(body),
      whole: wholeMessage,
      events: streamMessage,
      failure: NAMED_FAILURE,
    };
  const method = /:(generateContent|streamGenerateContent)/.exec(path)?.[1];
  if (!method) return undefined;
  const request = readGemini(body, method === 'streamGenerateContent');
  return { protocol: 'gemini', request, whole: wholeGemini, events: streamGemini, failure: GEMINI_FAILURE };
}

/** A vendor that speaks every protocol natively, written apart from the gateway's own encoders, and fails on demand. */
export class FakeTextVendor {
  fault: VendorFault = 'none';
  /** How many of the next requests suffer the fault; the others are served. */
  faultyRequests = Number.POSITIVE_INFINITY;
  refusal: VendorRefusal = { status: 503 };
  /** Requests that hold a text, and what becomes of them whatever the fault is. */
  readonly spoiled = new Map<string, SpoiledRequest>();
  /** Pause between two events of a stream, in milliseconds. */
  pauseMs = 0;
  /** While set, replies wait for it: streams before their first event, half way or before their usage, whole replies before they begin. */
  gate: { readonly at: 'start' | 'middle' | 'end'; readonly opened: Promise<void> } | undefined;
  /** Changes the JSON of whole replies, and of each event, on its way out. */
  rewrite: (json: string) => string = (json) => json;
  readonly seen: SeenRequest[] = [];
  /** Requests whose client went away before the end. */
  aborted = 0;
  readonly #server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) this.aborted += 1;
    });
    void this.#serve(request, response);
  });

  static async start(): Promise<FakeTextVendor> {
    const vendor = new FakeTextVendor();
    // As vendors do. A connection that is closed in the very moment it is used again is a failure of its own.
    vendor.#server.keepAliveTimeout = 60_000;
    vendor.#server.listen(0, '127.0.0.1');
    await once(vendor.#server, 'listening');
    return vendor;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  get last(): SeenRequest {
    const last = this.seen.at(-1);
    if (!last) throw new Error('The vendor was not asked');
    return last;
  }

  /** How many connections are open to it. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const path = request.url ?? '';
    const body = JSON.parse(text) as Record<string, unknown>;
    this.seen.push({ path, headers: request.headers, text, body });
    const exchange = understand(path, body as never);
    if (!exchange) return void response.writeHead(404).end('{}');
    response.setHeader('x-request-id', 'vendor-req-1');
    if (spoil([...this.spoiled].find(([marker]) => text.includes(marker))?.[1], response)) return;
    const faulty = this.fault !== 'none' && this.faultyRequests > 0;
    if (faulty) this.faultyRequests -= 1;
    if (faulty && (await failBeforeReply(this.fault, this.refusal, response))) return;
    await this.#reply(exchange, response, faulty ? this.fault : 'none');
  }

  async #reply(exchange: Exchange, response: ServerResponse, fault: VendorFault): Promise<void> {
    const { request, whole } = exchange;
    if (request.stream) return this.#stream(exchange, response, fault);
    const json = this.rewrite(counting(fault)(JSON.stringify(whole(decide(request)))));
    await this.gate?.opened;
    response.setHeader('content-type', 'application/json');
    if (fails(fault)) await failWhole(fault, json, response);
    else response.end(json);
  }

  async #stream({ request, events, failure }: Exchange, response: ServerResponse, fault: VendorFault): Promise<void> {
    response.setHeader('content-type', 'text/event-stream; charset=utf-8');
    response.flushHeaders();
    const all = events(decide(request)).map(counting(fault)).map(this.rewrite);
    const sent = fault === 'cut-after-headers' ? 0 : fails(fault) ? Math.ceil(all.length / 2) : all.length;
    const { at = 'start', opened } = this.gate ?? {};
    // What follows the last word of any protocol is two events, or what the usage stands in.
    const gated = { start: 0, middle: Math.ceil(all.length / 2), end: lastWord(all) }[at];
    for (const [index, event] of all.slice(0, sent).entries()) {
      if (index === gated) await opened;
      if (response.destroyed) return;
      response.write(event);
      if (this.pauseMs > 0) await sleep(this.pauseMs);
    }
    await failStream(fault, all[sent] ?? '', failure, response);
  }
}

/** True when the request was spoiled. */
function spoil(spoiled: SpoiledRequest | undefined, response: ServerResponse): boolean {
  if (spoiled === 'cut') response.destroy();
  else if (spoiled) {
    response.writeHead(spoiled.status, { 'content-type': 'application/json' });
    response.end(typeof spoiled.body === 'string' ? spoiled.body : JSON.stringify(spoiled.body));
  }
  return spoiled !== undefined;
}

/** The place behind the last event before those that tell the usage. */
function lastWord(all: readonly string[]): number {
  const told = all.findLastIndex((event) => /"(output_tokens|completion_tokens|candidatesTokenCount)"/.test(event));
  return told === -1 ? all.length - 1 : told;
}

const HARMLESS: ReadonlySet<VendorFault> = new Set(['none', 'no-usage', 'no-output-count']);

/** Whether the fault spoils the reply; a vendor that does not count merely leaves something out. */
const fails = (fault: VendorFault): boolean => !HARMLESS.has(fault);

/** True when the fault was all there is to the reply. */
async function failBeforeReply(fault: VendorFault, refusal: VendorRefusal, response: ServerResponse): Promise<boolean> {
  const refuse = (status: number, message: string, headers: VendorRefusal['headers'] = {}): true => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { type: 'vendor_error', message, code: 'x' } }));
    return true;
  };
  switch (fault) {
    case 'cut-before-headers':
      response.destroy();
      return true;
    case 'wrong-content-type':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>a proxy says hello</html>');
      return true;
    case 'slow-429':
      await sleep(50);
      return refuse(429, 'slow down', { 'retry-after-ms': '120' });
    case 'refusal':
      return refuse(refusal.status, 'not now', refusal.headers);
    case 'refusal-400':
      return refuse(400, 'The vendor does not like the field temperature.');
    case 'error-500':
      return refuse(500, 'secret internals of the vendor');
    default:
      return false;
  }
}

async function failWhole(fault: VendorFault, json: string, response: ServerResponse): Promise<void> {
  if (fault === 'stall') return void response.write(json.slice(0, 10));
  if (fault === 'garbage') return void response.end('{"not json');
  if (fault === 'huge-reply') return sendHuge(response, '"');
  response.setHeader('content-length', Buffer.byteLength(json));
  response.write(json.slice(0, json.length / 2));
  await sleep(10);
  response.destroy();
}

async function sendHuge(response: ServerResponse, start: string): Promise<void> {
  response.write(start);
  const block = 'x'.repeat(1024 * 1024);
  for (let megabytes = 0; megabytes < 80 && !response.destroyed; megabytes += 1)
    if (!response.write(block)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  response.end();
}

async function failStream(fault: VendorFault, next: string, failure: string, response: ServerResponse): Promise<void> {
  if (!fails(fault)) return void response.end();
  // What went before arrives on its own, so that the failure meets a reply that has begun.
  await sleep(30);
  switch (fault) {
    case 'cut-after-headers':
    case 'cut-mid-event':
      if (fault === 'cut-mid-event') response.write(next.slice(0, next.length / 2));
      await sleep(10);
      response.destroy();
      break;
    case 'garbage':
      response.end('data: {"this is": not json\n\n');
      break;
    case 'error-in-stream':
      response.end(failure);
      break;
    case 'huge-reply':
      await sendHuge(response, 'data: {"x":"');
      break;
    case 'stall':
      break;
    default:
      response.end();
  }
}

/** Tells no usage, as vendors do that do not count. */
const stripUsage = (json: string): string =>
  json.replace(/,?"usage(Metadata)?":\{("[a-zA-Z_]+":(\d+|\{[^{}]*\}|\[[^[\]]*\]),?)*\}/g, '');

/** Tells only the input, as vendors do that do not count what they write. */
const zeroOutput = (json: string): string =>
  json.replace(/"(output_tokens|completion_tokens|candidatesTokenCount|thoughtsTokenCount)":\d+/g, '"$1":0');

/** What becomes of a reply's JSON, or of an event, at a vendor that counts this way. */
function counting(fault: VendorFault): (json: string) => string {
  if (fault === 'no-usage') return stripUsage;
  return fault === 'no-output-count' ? zeroOutput : (json) => json;
}
