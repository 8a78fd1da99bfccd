import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';

const TARPITS = 110;
/** A video without its header, as is seen only at its end: of no told length, and of no ranges. */
const LONG_FILE = '/long.mp4';
const LONG_FILE_MIB = 19;
const VIDEO_START = Buffer.from('000000106674797069736f6d000000007fffffff6d646174', 'hex');

/** One of many addresses of this machine, each a receiver of its own to the gateway. */
function addressOf(index: number): string {
  const place = index % TARPITS;
  return `127.0.${1 + Math.floor(place / 100)}.${2 + (place % 100)}`;
}

function sendLongFile(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'video/mp4' });
  const piece = Buffer.alloc(1_048_576);
  pipeline(
    Readable.from([VIDEO_START, ...Array.from({ length: LONG_FILE_MIB }, () => piece)]),
    response,
    () => undefined,
  );
}

/** Receivers of webhooks: one that takes calls, and one that accepts connections on many addresses and never responds. */
export class Receivers {
  readonly arrived = new Set<string>();
  private readonly open = new Set<Socket>();
  private readonly good = createServer((request, response) => {
    if (request.url === LONG_FILE) return sendLongFile(response);
    this.arrived.add(String(request.headers['webhook-id']));
    request.resume();
    response.writeHead(204).end();
  });
  private readonly silent = createTcpServer((socket) => {
    this.open.add(socket.on('error', () => undefined));
  });

  static async start(): Promise<Receivers> {
    const receivers = new Receivers();
    receivers.good.listen(0, '127.0.0.1');
    receivers.silent.listen(0, '0.0.0.0');
    await Promise.all([once(receivers.good, 'listening'), once(receivers.silent, 'listening')]);
    return receivers;
  }

  get goodUrl(): string {
    return `http://127.0.0.1:${portOf(this.good)}/`;
  }

  get longFileUrl(): string {
    return new URL(LONG_FILE, this.goodUrl).href;
  }

  /** The address of a silent receiver; the same again after TARPITS others. */
  silentUrl(index: number): string {
    return `http://${addressOf(index)}:${portOf(this.silent)}/`;
  }

  /** What the gateway must be allowed to call, as `MEDIA_FETCH_ALLOW` takes it. */
  get allowed(): string {
    const silent = Array.from({ length: TARPITS }, (_, index) => new URL(this.silentUrl(index)).host);
    return [new URL(this.goodUrl).host, ...silent].join(',');
  }

  stop(): void {
    for (const socket of this.open) socket.destroy();
    this.good.closeAllConnections();
    this.good.close();
    this.silent.close();
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
