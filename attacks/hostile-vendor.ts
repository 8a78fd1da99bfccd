import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Count, type Protocol, PROTOCOLS, type WireFormat } from './wire-formats.js';

/** How the vendor answers from now on. */
export interface Plan {
  readonly count: Count;
  readonly text: string;
  /** How long the vendor is silent between the text and the count of its tokens. */
  readonly countAfterMs: number;
  /** Its stream word for word, instead of text and count. */
  readonly stream?: string;
  /** Refuses a request for what stands in its body. */
  readonly refuse?: (body: string) => { readonly status: number; readonly body: object } | undefined;
}

export const PLAIN: Plan = {
  count: { input: 20, output: 8, reasoning: 0 },
  text: 'The answer is forty two.',
  countAfterMs: 0,
};

/** A request at a path that writes no text. */
export interface MediaRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface MediaReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** What is kept of each request: names and marks stand at its front, and images behind them. */
const KEPT_BYTES = 8_192;

/** A vendor that speaks all four protocols; an attack sets how it answers. */
export class HostileVendor {
  plan: Plan = PLAIN;
  /** How requests are answered whose front holds a word, so that attacks at once have each its own vendor. */
  readonly planFor = new Map<string, Plan>();
  /** How it answers as a vendor of media; undefined: the connection is cut. */
  media: (request: MediaRequest) => MediaReply | undefined | Promise<MediaReply> = () => NOT_FOUND;
  /** The front of each request body that was received. */
  readonly received: string[] = [];
  private readonly server = createServer(
    (request, response) => void this.serve(request, response).catch(() => undefined),
  );

  static async start(): Promise<HostileVendor> {
    const vendor = new HostileVendor();
    vendor.server.keepAliveTimeout = 60_000;
    vendor.server.listen(0, '127.0.0.1');
    await once(vendor.server, 'listening');
    return vendor;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const front = Buffer.from(body.slice(0, KEPT_BYTES)).toString('utf8');
    this.received.push(front);
    const plan = [...this.planFor].find(([word]) => front.includes(word))?.[1] ?? this.plan;
    const refusal = plan.refuse?.(body);
    const protocol = protocolOf(request.url ?? '');
    if (!protocol) return this.serveMedia(request, body, response);
    if (refusal) {
      response.writeHead(refusal.status, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(refusal.body));
    }
    const streamed = (request.url ?? '').includes('streamGenerateContent') || /"stream"\s*:\s*true/.test(body);
    if (streamed) await sendStream(protocol, plan, response);
    else await sendWhole(protocol, plan, response);
  }

  private async serveMedia(
    { method = '', url: path = '', headers }: IncomingMessage,
    body: string,
    response: ServerResponse,
  ): Promise<void> {
    const reply = await this.media({ method, path, authorization: headers.authorization, body });
    if (reply === undefined) response.destroy();
    else response.writeHead(reply.status, { 'content-type': reply.contentType }).end(reply.body);
  }
}

const NOT_FOUND: MediaReply = { status: 404, contentType: 'application/json', body: '{}' };

function protocolOf(path: string): WireFormat | undefined {
  const name = Object.keys(PROTOCOLS).find((each) => PROTOCOLS[each as Protocol].path.test(path));
  return name === undefined ? undefined : PROTOCOLS[name as Protocol];
}

async function sendWhole(protocol: WireFormat, { text, count, countAfterMs }: Plan, response: ServerResponse) {
  await sleep(countAfterMs);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(protocol.whole(text, count)));
}

async function sendStream(protocol: WireFormat, plan: Plan, response: ServerResponse) {
  response.setHeader('content-type', 'text/event-stream');
  const { text, count, countAfterMs, stream } = plan;
  if (stream !== undefined) {
    response.end(stream);
    return;
  }
  for (const event of protocol.textEvents(text, count)) response.write(event);
  await sleep(countAfterMs);
  for (const event of protocol.lastEvents(text, count)) response.write(event);
  response.end();
}
