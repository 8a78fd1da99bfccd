import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Medium } from '#contracts';
import { filmSample, pngSample } from '#testing';
import { SEARCHABLE_AFTER_MS } from './vendor-delays.js';

/** What the vendor makes. */
const FILES = {
  image: { contentType: 'image/png', extension: 'png', bytes: pngSample({ width: 64, height: 64 }) },
  video: { contentType: 'video/mp4', extension: 'mp4', bytes: filmSample() },
} as const satisfies Record<Medium, object>;

/** Work the vendor took, by its own id. */
interface Order {
  readonly taskId: string;
  readonly medium: Medium;
  readonly doneAtMs: number;
}

/** How long the vendor works on an order, in milliseconds: at least, and up to so much more. */
const WORK_MS = { least: 50, more: 250 } as const;
/** How long a stalled answer is held back: longer than any client waits. */
const STALL_MS = 5_000;

/**
 * A vendor over HTTP that counts what it takes, and misbehaves on request: it refuses, cuts connections before and after
 * taking an order, stalls, tells old news, names states nobody knows, and breaks off downloads. It also receives webhooks.
 */
export class FakeVendor {
  /** How likely each answer is to go wrong, 0 to 1. */
  faultChance = 0;
  /** How many orders were taken for each task; more than one is work paid twice. */
  readonly taken = new Map<string, number>();
  /** Tasks that webhooks told about, with their last word. */
  readonly told = new Map<string, string>();
  private readonly orders = new Map<string, Order>();
  private readonly byTask = new Map<string, string>();
  private readonly server: Server;

  private constructor(private readonly recognisesRepeats: () => boolean) {
    this.server = createServer((request, response) => {
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  /** `recognisesRepeats`: whether a second order for the same task gets the first one back. */
  static async start(recognisesRepeats: () => boolean): Promise<FakeVendor> {
    const vendor = new FakeVendor(recognisesRepeats);
    vendor.server.listen(0, '127.0.0.1');
    await once(vendor.server, 'listening');
    return vendor;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const body = await readBody(request);
    if (url.pathname === '/hook') return this.hear(body, response);
    if (request.method === 'POST') return this.take(body, response);
    if (url.pathname === '/orders') return this.search(url.searchParams.get('task_id') ?? '', response);
    if (url.pathname.startsWith('/files/')) return this.deliver(request, response);
    return this.tell(url.pathname.slice('/orders/'.length), response);
  }

  private hear(body: string, response: ServerResponse): void {
    const { type, data } = JSON.parse(body) as { type: string; data: { task_id: string } };
    if (this.fails()) return void response.writeHead(500).end();
    this.told.set(data.task_id, type);
    response.writeHead(204).end();
  }

  private take(body: string, response: ServerResponse): void {
    const { task_id: taskId, medium } = JSON.parse(body) as { task_id: string; medium: Medium };
    const fault = this.fails() ? pick(['busy', 'away', 'cut-before', 'cut-after', 'stall'] as const) : null;
    if (fault === 'busy') return void response.writeHead(429, { 'retry-after': '0.2' }).end();
    if (fault === 'away') return void response.writeHead(503).end();
    if (fault === 'cut-before') return void response.destroy();
    const orderId = this.accept(taskId, medium);
    if (fault === 'cut-after') return void response.destroy();
    if (fault === 'stall') return void setTimeout(() => response.destroy(), STALL_MS).unref();
    json(response, { order_id: orderId });
  }

  private accept(taskId: string, medium: Medium): string {
    const known = this.recognisesRepeats() ? this.byTask.get(taskId) : undefined;
    if (known !== undefined) return known;
    this.taken.set(taskId, (this.taken.get(taskId) ?? 0) + 1);
    const orderId = `order-${this.orders.size + 1}`;
    this.byTask.set(taskId, orderId);
    this.orders.set(orderId, { taskId, medium, doneAtMs: Date.now() + WORK_MS.least + Math.random() * WORK_MS.more });
    // Out of order on purpose: an order can be asked about by id before a search shows it.
    setTimeout(() => this.searchable.add(taskId), Math.random() * SEARCHABLE_AFTER_MS).unref();
    return orderId;
  }

  private readonly searchable = new Set<string>();

  private search(taskId: string, response: ServerResponse): void {
    if (this.fails()) return void response.destroy();
    json(response, { order_id: this.searchable.has(taskId) ? (this.byTask.get(taskId) ?? null) : null });
  }

  private tell(orderId: string, response: ServerResponse): void {
    const order = this.orders.get(orderId);
    if (!order) return void response.writeHead(404).end();
    const fault = this.fails() ? pick(['busy', 'cut', 'old-news', 'unknown-state'] as const) : null;
    if (fault === 'busy') return void response.writeHead(429, { 'retry-after': '0.2' }).end();
    if (fault === 'cut') return void response.destroy();
    if (fault === 'old-news') return json(response, { state: 'working' });
    if (fault === 'unknown-state') return json(response, { state: 'contemplating' });
    if (Date.now() < order.doneAtMs) return json(response, { state: 'working' });
    const { contentType, extension } = FILES[order.medium];
    const url = `${this.url}/files/${orderId}.${extension}`;
    json(response, { state: 'done', content_type: contentType, url });
  }

  private deliver(request: IncomingMessage, response: ServerResponse): void {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const { contentType, bytes } = request.url?.endsWith('.mp4') ? FILES.video : FILES.image;
    const part = bytes.subarray(start);
    response.writeHead(start === 0 ? 200 : 206, {
      'content-type': contentType,
      'content-length': part.length,
      etag: '"the-one-file"',
      ...(start > 0 && { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (!this.fails()) return void response.end(part);
    response.write(part.subarray(0, part.length / 2), () => response.destroy());
  }

  private fails(): boolean {
    return Math.random() < this.faultChance;
  }
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const pick = <Value>(values: readonly [Value, ...Value[]]): Value =>
  values[Math.floor(Math.random() * values.length)] ?? values[0];
