import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject, JsonValue } from '#contracts';

/** A request as the fake received it. */
export interface FakeRequest {
  readonly method: string;
  /** Without the address's own path. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

export interface FakeReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/** What happens to one request instead of its reply. */
export type Fault =
  /** The line is cut before the request was read. */
  | 'cut-early'
  /** The order is taken, and the line cut. */
  | 'cut-after'
  | 'garbage'
  | 'html'
  | 'huge'
  /** Sends the client elsewhere. */
  | 'redirect'
  /** Never answers. */
  | 'silent'
  | FakeReply;

/** The largest reply that any adapter reads is below this. */
const HUGE_BYTES = 10 * 1024 * 1024;

/** A vendor of one protocol: what it answers, and what it was ordered. */
export interface FakeProtocol {
  /** What is before every path, for example `/api/v3`. */
  readonly basePath: string;
  readonly key: string;
  /** Which header carries the key, and how. */
  readonly keyHeader: { readonly name: string; readonly value: string };
  /** The vendor's own refusal of a wrong key. */
  readonly unauthorized: FakeReply;
  /** Why a request is not let in at that time, where more than one header is right. */
  authenticate?(request: FakeRequest, nowMs: number): FakeReply | undefined;
  answer(request: FakeRequest): FakeReply;
  /** Forgets its script; what was ordered stays. */
  reset(): void;
}

/** An HTTP server that behaves as a vendor does, and remembers everything that it was sent. */
export class FakeVendor<Protocol extends FakeProtocol = FakeProtocol> {
  readonly requests: FakeRequest[] = [];
  /** How far the vendor's clock is ahead, in milliseconds. */
  clockSkewMs = 0;
  /** What a reseller in between makes of its good replies. */
  wrapped: ((body: JsonValue) => JsonValue) | undefined;
  private readonly faults: Fault[] = [];
  private readonly server: Server;

  private constructor(readonly protocol: Protocol) {
    this.server = createServer((request, response) => {
      void this.receive(request, response).catch(() => response.destroy());
    });
  }

  static async start<Protocol extends FakeProtocol>(protocol: Protocol): Promise<FakeVendor<Protocol>> {
    const vendor = new FakeVendor(protocol);
    vendor.server.listen(0, '127.0.0.1');
    await once(vendor.server, 'listening');
    return vendor;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return this.origin + this.protocol.basePath;
  }

  /** Forgets what it was sent and what was to go wrong. */
  reset(): void {
    this.requests.length = 0;
    this.faults.length = 0;
    this.clockSkewMs = 0;
    this.wrapped = undefined;
    this.protocol.reset();
  }

  /** The faults of the next requests, in order. */
  next(...faults: Fault[]): void {
    this.faults.push(...faults);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = this.faults.shift();
    if (fault === 'cut-early') return void request.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { pathname, searchParams } = new URL(request.url ?? '/', this.origin);
    const text = Buffer.concat(chunks).toString('utf8');
    const received: FakeRequest = {
      method: request.method ?? '',
      path: pathname.slice(this.protocol.basePath.length),
      query: searchParams,
      headers: request.headers,
      body: (text === '' ? {} : JSON.parse(text)) as JsonObject,
    };
    this.requests.push(received);
    if (fault === 'silent') return;
    if (fault === 'cut-after') {
      this.reply(received);
      return void request.socket.destroy();
    }
    this.send(response, fault === undefined ? this.reply(received) : this.faulty(fault, received));
  }

  private reply(request: FakeRequest): FakeReply {
    const reply = this.refusal(request) ?? this.protocol.answer(request);
    const isGood = (reply.status ?? 200) < 300;
    return isGood && this.wrapped ? { ...reply, body: this.wrapped(reply.body) } : reply;
  }

  private refusal(request: FakeRequest): FakeReply | undefined {
    const { protocol } = this;
    if (protocol.authenticate) return protocol.authenticate(request, Date.now() + this.clockSkewMs);
    const { name, value } = protocol.keyHeader;
    return request.headers[name] === value ? undefined : protocol.unauthorized;
  }

  private faulty(
    fault: Exclude<Fault, 'cut-early' | 'cut-after' | 'silent'>,
    request: FakeRequest,
  ): FakeReply | string {
    if (typeof fault === 'object') return fault;
    if (fault === 'redirect') return { status: 307, headers: { location: `${this.origin}/stolen` }, body: null };
    this.reply(request);
    if (fault === 'html') return '<!doctype html><title>Bad gateway</title>';
    if (fault === 'huge') return `{"padding":"${'x'.repeat(HUGE_BYTES)}"}`;
    return '{"id": ';
  }

  private send(response: ServerResponse, reply: FakeReply | string): void {
    const date = new Date(Date.now() + this.clockSkewMs).toUTCString();
    if (typeof reply === 'string') return void response.setHeader('date', date).end(reply);
    const { status = 200, headers = {}, body } = reply;
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': 'vendor-request-1',
      date,
      ...headers,
    });
    response.end(JSON.stringify(body));
  }
}
