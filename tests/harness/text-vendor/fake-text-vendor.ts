import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readChat, streamChat, wholeChat } from './chat-vendor.js';
import { wholeEmbeddings } from './embeddings-vendor.js';
import { readGemini, streamGemini, wholeGemini } from './gemini-vendor.js';
import { brokenPause, readMessages, shown, streamMessage, wholeMessage } from './messages-vendor.js';
import { readResponses, streamResponse, wholeResponse } from './responses-vendor.js';
import { proofOfThinking } from './strict-models.js';
import { brokenRule } from './strict-rules.js';
import {
  counting,
  failBeforeReply,
  fails,
  failStream,
  failWhole,
  type VendorFault,
  type VendorRefusal,
} from './vendor-faults.js';
import { decide, type VendorRequest, type VendorScript, type VendorWords } from './vendor-script.js';

/** What happens to a request that holds a certain text: refused like that, or its connection cut. */
export type SpoiledRequest =
  | { readonly status: number; readonly body: object | string; readonly headers?: Readonly<Record<string, string>> }
  | 'cut';

/** What came in, for assertions. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** Where a stream waits: before its first event, half way, before its usage, or behind the first event that holds a word. */
export type GateMoment = 'start' | 'middle' | 'end' | { readonly behind: string };

/** What a reply waits for. */
export interface VendorGate {
  readonly at: GateMoment;
  readonly opened: Promise<void>;
  /** Called when a reply has come to it: all before is on its way. */
  readonly onReached?: () => void;
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

function understand(path: string, body: never, vectorOf: FakeTextVendor['vectorOf']): Exchange | undefined {
  if (path.endsWith('/chat/completions')) {
    const events = (script: VendorScript): string[] => streamChat(script, body);
    return { protocol: 'chat', request: readChat(body), whole: wholeChat, events, failure: CHAT_FAILURE };
  }
  if (path.endsWith('/embeddings')) {
    const request = { ...readChat({ messages: [] }), text: path };
    return { protocol: 'chat', request, whole: () => wholeEmbeddings(body, vectorOf), events: () => [], failure: '' };
  }
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
      whole: (script) => wholeMessage(shown(script, body), body, proofOfThinking(body)),
      events: (script) => streamMessage(shown(script, body), body, proofOfThinking(body)),
      failure: NAMED_FAILURE,
    };
  const method = /:(generateContent|streamGenerateContent)/.exec(path)?.[1];
  if (!method) return undefined;
  const request = readGemini(body, method === 'streamGenerateContent');
  return {
    protocol: 'gemini',
    request,
    whole: (script) => wholeGemini(script, body),
    events: (script) => streamGemini(script, body),
    failure: GEMINI_FAILURE,
  };
}

/** A vendor that speaks every protocol natively, written apart from the gateway's own encoders, and fails on demand. */
export class FakeTextVendor {
  fault: VendorFault = 'none';
  /** How many of the next requests suffer the fault; the others are served. */
  faultyRequests = Number.POSITIVE_INFINITY;
  refusal: VendorRefusal = { status: 503 };
  /** What it reports inside a stream with the fault `error-in-stream`, instead of its overload. */
  report: string | undefined;
  /** Further headers of every reply. */
  headers: Readonly<Record<string, string>> = {};
  /** Requests that hold a text, and what happens to them whatever the fault is. */
  readonly spoiled = new Map<string, SpoiledRequest>();
  /** Whether it keeps to the rules that vendors publish and lax servers do without. */
  isStrict = false;
  /** Whether it answers whole where a stream is asked for. */
  answersWhole = false;
  /** Pause between two events of a stream, in milliseconds. */
  pauseMs = 0;
  /** While set, replies wait for it: whole ones before they begin, streams at a moment. */
  gate: VendorGate | undefined;
  /** Changes the JSON of whole replies, and of each event, on its way out. */
  rewrite: (json: string) => string = (json) => json;
  /** The vector of a text; undefined: one that means nothing. */
  vectorOf: ((text: string) => readonly number[]) | undefined;
  /** What it answers where it is asked for its models; undefined: it has no list. */
  listing: { readonly status: number; readonly body: object | string } | undefined;
  /** What it says instead of its usual words; undefined for a request that gets those. */
  script: (request: VendorRequest) => VendorWords | undefined = () => undefined;
  readonly seen: SeenRequest[] = [];
  /** Requests whose client went away before the end. */
  aborted = 0;
  private readonly server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) this.aborted += 1;
    });
    void this.serve(request, response);
  });

  static async start(): Promise<FakeTextVendor> {
    const vendor = new FakeTextVendor();
    // As vendors do. A connection that is closed in the very moment it is used again is a failure of its own.
    vendor.server.keepAliveTimeout = 60_000;
    vendor.server.listen(0, '127.0.0.1');
    await once(vendor.server, 'listening');
    return vendor;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  get last(): SeenRequest {
    const last = this.seen.at(-1);
    if (!last) throw new Error('The vendor was not asked');
    return last;
  }

  /** How many connections are open to it. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const path = request.url ?? '';
    if (request.method === 'GET') return this.list(response);
    const body = JSON.parse(text) as Record<string, unknown>;
    this.seen.push({ path, headers: request.headers, text, body });
    const exchange = understand(path, body as never, this.vectorOf);
    if (!exchange) return void response.writeHead(404).end('{}');
    response.setHeader('x-request-id', 'vendor-req-1');
    for (const [name, value] of Object.entries(this.headers)) response.setHeader(name, value);
    if (this.refuses(text, exchange, path, response)) return;
    const faulty = this.fault !== 'none' && this.faultyRequests > 0;
    if (faulty) this.faultyRequests -= 1;
    if (faulty && (await failBeforeReply(this.fault, this.refusal, response))) return;
    await this.reply(exchange, response, faulty ? this.fault : 'none');
  }

  private list(response: ServerResponse): void {
    const { status, body } = this.listing ?? { status: 404, body: {} };
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'vendor-list-1' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  /** True when the request was refused for what it holds, or its connection cut. */
  private refuses(text: string, { protocol, request }: Exchange, path: string, response: ServerResponse): boolean {
    if (spoil([...this.spoiled].find(([marker]) => text.includes(marker))?.[1], response)) return true;
    if (!this.isStrict) return false;
    const body: unknown = JSON.parse(text);
    const broken = brokenRule(protocol, body, path);
    const isPaused = broken === undefined && protocol === 'messages';
    return refuseBroken(isPaused ? brokenPause(body as never, () => this.script(request)) : broken, response);
  }

  private async reply(exchange: Exchange, response: ServerResponse, fault: VendorFault): Promise<void> {
    const { request, whole } = exchange;
    if (request.stream && !this.answersWhole) return this.stream(exchange, response, fault);
    const json = this.rewrite(
      counting(fault)(JSON.stringify(whole(decide(request, this.script(request), this.isStrict)))),
    );
    await waitAt(this.gate);
    response.setHeader('content-type', 'application/json');
    if (fails(fault)) await failWhole(fault, json, response);
    else response.end(json);
  }

  private async stream(
    { request, events, failure }: Exchange,
    response: ServerResponse,
    fault: VendorFault,
  ): Promise<void> {
    response.setHeader('content-type', 'text/event-stream; charset=utf-8');
    response.flushHeaders();
    const all = events(decide(request, this.script(request), this.isStrict))
      .map(counting(fault))
      .map(this.rewrite);
    const sent = fault === 'cut-after-headers' ? 0 : fails(fault) ? Math.ceil(all.length / 2) : all.length;
    const { gate } = this;
    const gated = gatedEvent(gate?.at ?? 'start', all);
    for (const [index, event] of all.slice(0, sent).entries()) {
      if (index === gated) await waitAt(gate);
      if (response.destroyed) return;
      response.write(event);
      if (this.pauseMs > 0) await sleep(this.pauseMs);
    }
    await failStream(fault, all[sent] ?? '', this.report ?? failure, response);
  }
}

/** True when the request breaks a rule. */
function refuseBroken(message: string | undefined, response: ServerResponse): boolean {
  if (message === undefined) return false;
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { type: 'invalid_request_error', message } }));
  return true;
}

/** True when the request was spoiled. */
function spoil(spoiled: SpoiledRequest | undefined, response: ServerResponse): boolean {
  if (spoiled === 'cut') response.destroy();
  else if (spoiled) {
    response.writeHead(spoiled.status, { 'content-type': 'application/json', ...spoiled.headers });
    response.end(typeof spoiled.body === 'string' ? spoiled.body : JSON.stringify(spoiled.body));
  }
  return spoiled !== undefined;
}

function waitAt(gate: VendorGate | undefined): Promise<void> | undefined {
  gate?.onReached?.();
  return gate?.opened;
}

/** The index of the event that a stream waits before. */
function gatedEvent(at: GateMoment, all: readonly string[]): number {
  if (typeof at === 'object') return all.findIndex((event) => event.includes(at.behind)) + 1;
  // What follows the last word of any protocol is two events, or what the usage is in.
  return { start: 0, middle: Math.ceil(all.length / 2), end: lastWord(all) }[at];
}

/** The index of the first event with usage, less one; the last event when there is none. */
function lastWord(all: readonly string[]): number {
  const usage = all.findLastIndex((event) => /"(output_tokens|completion_tokens|candidatesTokenCount)"/.test(event));
  return usage === -1 ? all.length - 1 : usage;
}
