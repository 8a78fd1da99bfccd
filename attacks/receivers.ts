import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';

const TARPITS = 110;

/** One of many addresses of this machine, each a receiver of its own to the gateway. */
function addressOf(index: number): string {
  const place = index % TARPITS;
  return `127.0.${1 + Math.floor(place / 100)}.${2 + (place % 100)}`;
}

/** Receivers of webhooks: one that takes calls, and one that accepts connections on many addresses and never responds. */
export class Receivers {
  readonly arrived = new Set<string>();
  readonly #open = new Set<Socket>();
  readonly #good = createServer((request, response) => {
    this.arrived.add(String(request.headers['webhook-id']));
    request.resume();
    response.writeHead(204).end();
  });
  readonly #silent = createTcpServer((socket) => {
    this.#open.add(socket.on('error', () => undefined));
  });

  static async start(): Promise<Receivers> {
    const receivers = new Receivers();
    receivers.#good.listen(0, '127.0.0.1');
    receivers.#silent.listen(0, '0.0.0.0');
    await Promise.all([once(receivers.#good, 'listening'), once(receivers.#silent, 'listening')]);
    return receivers;
  }

  get goodUrl(): string {
    return `http://127.0.0.1:${portOf(this.#good)}/`;
  }

  /** The address of a silent receiver; the same again after TARPITS others. */
  silentUrl(index: number): string {
    return `http://${addressOf(index)}:${portOf(this.#silent)}/`;
  }

  /** What the gateway must be allowed to call, as `MEDIA_FETCH_ALLOW` takes it. */
  get allowed(): string {
    const silent = Array.from({ length: TARPITS }, (_, index) => new URL(this.silentUrl(index)).host);
    return [new URL(this.goodUrl).host, ...silent].join(',');
  }

  stop(): void {
    for (const socket of this.#open) socket.destroy();
    this.#good.closeAllConnections();
    this.#good.close();
    this.#silent.close();
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
