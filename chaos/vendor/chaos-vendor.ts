import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject, type Medium } from '#contracts';
import { videoSample, pngSample } from '#testing';
import type { FakeReply, FakeRequest } from '#vendor-fakes';
import { type Desk, type MadeFile, openDesks, type WorkState } from './desks.js';
import { SEARCHABLE_AFTER_MS } from './vendor-delays.js';

/** What the vendors make. */
const FILES = {
  image: { contentType: 'image/png', name: 'image.png', bytes: pngSample({ width: 640, height: 640 }) },
  video: { contentType: 'video/mp4', name: 'video.mp4', bytes: videoSample() },
} as const satisfies Record<Medium, object>;

const CUSTOMERS_FILE = 'customers-image.png';

/** How long work takes, and how long a call lasts that answers with the files, in milliseconds: at least, and up to so much more. */
const WORK_MS = { least: 50, more: 250 } as const;
const CALL_MS = { least: 300, more: 1_700 } as const;
/** How long a stalled answer is held back: longer than any client waits. */
const STALL_MS = 5_000;

/** How the first of two upstreams is. */
export type FirstUpstream = 'open' | 'busy' | 'unfit' | 'away';

/** Work that was taken. */
interface TakenOrder {
  readonly medium: Medium;
  readonly doneAtMs: number;
  readonly searchableAtMs: number;
}

type DeskName = keyof ReturnType<typeof openDesks>;

/**
 * Vendors of several protocols over HTTP, each a fake that was judged, that count what they take and misbehave on request:
 * they are busy, cut connections before and after taking an order, stall, report old states, report unknown states, and break
 * off downloads. Webhooks are received here too.
 */
export class ChaosVendor {
  /** How likely each answer is to go wrong, 0 to 1. */
  faultChance = 0;
  /** How the upstream is that is asked first. */
  first: FirstUpstream = 'open';
  /** How many orders were taken for each prompt; more than one is work paid twice. */
  readonly taken = new Map<string, number>();
  /** Tasks that webhooks reported, with their last event. */
  readonly webhooked = new Map<string, string>();
  private readonly desks = openDesks();
  private readonly orders = new Map<string, TakenOrder>();
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      this.receive(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<ChaosVendor> {
    const vendor = new ChaosVendor();
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

  /** An image of a customer's own, on a host that always answers: an order with an unreachable host is refused. */
  get imageUrl(): string {
    return `${this.url}/${CUSTOMERS_FILE}`;
  }

  /** What an entry of the upstreams' file says of a desk. */
  access(desk: DeskName): { readonly base_url: string; readonly key: string } {
    const { fake } = this.desks[desk];
    return { base_url: `${this.url}/${desk}${fake.basePath}`, key: fake.key };
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private fileOf(medium: Medium): MadeFile {
    const { name, bytes } = FILES[medium];
    return { url: `${this.url}/files/${name}`, base64: bytes.toString('base64') };
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const [, place = ''] = url.pathname.split('/');
    if (place === CUSTOMERS_FILE) return void response.end(FILES.image.bytes);
    if (place === 'files') return this.deliver(request, response);
    const body = JSON.parse((await readBody(request)) || '{}') as JsonObject;
    if (place === 'hook') return this.hear(body, response);
    const desk = this.desks[place as DeskName];
    const asked: FakeRequest = {
      method: request.method ?? '',
      path: url.pathname.slice(place.length + 1 + desk.fake.basePath.length),
      query: url.searchParams,
      headers: request.headers,
      body,
    };
    if (place === 'first' && this.first !== 'open') return send(response, refusalOf(this.first, desk));
    await (isOrder(asked) ? this.take(place, desk, asked, response) : this.tell(place, desk, asked, response));
  }

  private hear(body: JsonObject, response: ServerResponse): void {
    const { type, data } = body as { type: string; data: { task_id: string } };
    if (this.fails()) return void response.writeHead(500).end();
    this.webhooked.set(data.task_id, type);
    response.writeHead(204).end();
  }

  private async take(place: string, desk: Desk, order: FakeRequest, response: ServerResponse): Promise<void> {
    const fault = this.fails() ? pick(['busy', 'cut-before', 'cut-after', 'stall'] as const) : null;
    if (fault === 'busy') return send(response, BUSY);
    if (fault === 'cut-before') return void response.destroy();
    const before = desk.fake.taken.length;
    const medium = desk.mediumOf(order.body);
    desk.say('done', medium, this.fileOf(medium));
    const reply = answerOf(desk, order);
    if (desk.fake.taken.length > before) this.remember(place, desk, order.body, reply);
    if (place === 'call') await sleep(between(CALL_MS));
    if (fault === 'cut-after') return void response.destroy();
    if (fault === 'stall') return void setTimeout(() => response.destroy(), STALL_MS).unref();
    send(response, reply);
  }

  private remember(place: string, desk: Desk, order: JsonObject, { body }: FakeReply): void {
    const prompt = desk.promptOf(order);
    this.taken.set(prompt, (this.taken.get(prompt) ?? 0) + 1);
    const taken: TakenOrder = {
      medium: desk.mediumOf(order),
      doneAtMs: Date.now() + between(WORK_MS),
      // Out of order on purpose: an order can be asked about by the vendor's id before a search shows it.
      searchableAtMs: Date.now() + Math.random() * SEARCHABLE_AFTER_MS,
    };
    const names = isJsonObject(body) ? desk.namesOf(order, body) : [];
    for (const [index, name] of names.entries())
      this.orders.set(`${place} ${name}`, index === 0 ? { ...taken, searchableAtMs: 0 } : taken);
  }

  private tell(place: string, desk: Desk, question: FakeRequest, response: ServerResponse): void {
    const order = this.orders.get(`${place} ${desk.askedFor(question)}`);
    const fault = this.fails() ? pick(['busy', 'cut', 'working', 'strange'] as const) : null;
    if (fault === 'busy') return send(response, BUSY);
    if (fault === 'cut') return void response.destroy();
    if (order && Date.now() < order.searchableAtMs && desk.notThere) return send(response, desk.notThere);
    const truth: WorkState = order && Date.now() >= order.doneAtMs ? 'done' : 'working';
    const { medium = 'video' } = order ?? {};
    desk.say(fault ?? truth, medium, this.fileOf(medium));
    send(response, answerOf(desk, question));
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

const BUSY: FakeReply = { status: 429, headers: { 'retry-after': '1' }, body: {} };
/** As our own API sheds load: nothing was taken. */
const AWAY: FakeReply = { status: 503, body: { error: { code: 'overloaded', message: 'later' } } };

function refusalOf(first: Exclude<FirstUpstream, 'open'>, { fake }: Desk): FakeReply {
  return { busy: BUSY, away: AWAY, unfit: fake.unauthorized }[first];
}

/** What the fake answers a caller with its key. */
function answerOf({ fake }: Desk, request: FakeRequest): FakeReply {
  if (fake.authenticate) return fake.authenticate(request, Date.now()) ?? fake.answer(request);
  return request.headers[fake.keyHeader.name] === fake.keyHeader.value ? fake.answer(request) : fake.unauthorized;
}

const isOrder = ({ method, path }: FakeRequest): boolean =>
  method === 'POST' && !/\/cancel$|:fetchPredictOperation$/.test(path);

const between = ({ least, more }: { readonly least: number; readonly more: number }): number =>
  least + Math.random() * more;

function send(response: ServerResponse, { status = 200, headers = {}, body }: FakeReply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const pick = <Value>(values: readonly [Value, ...Value[]]): Value =>
  values[Math.floor(Math.random() * values.length)] ?? values[0];
