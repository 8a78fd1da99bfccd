import { once } from 'node:events';
import { type AddressInfo, createServer, connect, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What a network can do to a server's clients:
 * - `pass`: nothing. Connections that fell silent before stay so.
 * - `half-open`: connections of before take every byte and carry none, forever; new ones work.
 * - `black-hole`: so do new ones, as long as it lasts.
 * - `refuse`: connections of before are reset, new ones at once.
 * - `slow`: every chunk comes 300 ms later.
 * - `far`: every chunk comes 25 ms later and holds up none behind it, as over a long line.
 * - `drip`: one byte every 20 ms.
 * - `stall`: every connection carries the first bytes of the server's answers, and none after them.
 * - `overloaded`: connections of before are reset, every request on a new one gets HTTP 503 with the words of S3.
 */
export type NetworkFault =
  'pass' | 'half-open' | 'black-hole' | 'refuse' | 'slow' | 'far' | 'drip' | 'stall' | 'overloaded';

const SLOW_MS = 300;
const FAR_MS = 25;
const DRIP_MS = 20;
const STALL_AFTER_BYTES = 300;

const OVERLOADED_BODY = '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>';
const OVERLOADED = [
  'HTTP/1.1 503 Slow Down',
  'content-type: application/xml',
  `content-length: ${OVERLOADED_BODY.length}`,
  'connection: close',
  '',
  OVERLOADED_BODY,
].join('\r\n');

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  isSilent: boolean;
  /** How many bytes of the server's the client was given since answers stall. */
  stalledBytes: number;
}

/** A server's address behind which the network can fail. It acknowledges every byte, as a stuck balancer does. */
export class FaultProxy {
  private readonly links = new Set<Link>();
  private fault: NetworkFault = 'pass';

  private constructor(
    private readonly server: Server,
    private target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (client) => this.open(client));
  }

  /** Listens on a free port of this machine and passes on to `url`, of any scheme with a host and a port. */
  static async start(url: string): Promise<FaultProxy> {
    const { hostname, port } = new URL(url);
    const server = createServer();
    const proxy = new FaultProxy(server, { host: hostname, port: Number(port) });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** `url` with the proxy in place of its host. */
  urlOf(url: string): string {
    const address = new URL(url);
    address.hostname = '127.0.0.1';
    address.port = String(this.port);
    return address.href;
  }

  /** Where it listens. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Connections that are open at the moment, the silent ones included. */
  get connections(): number {
    return this.links.size;
  }

  set(fault: NetworkFault): void {
    this.fault = fault;
    if (fault === 'half-open' || fault === 'black-hole') for (const link of this.links) link.isSilent = true;
    if (fault === 'refuse' || fault === 'overloaded') this.cut();
    for (const link of this.links) link.stalledBytes = 0;
  }

  /** From now on new connections lead to the server of `url`, as after a failover. */
  leadTo(url: string): void {
    const { hostname, port } = new URL(url);
    this.target = { host: hostname, port: Number(port) };
  }

  /** Resets every connection. */
  cut(): void {
    for (const { client, server } of this.links) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, 'close');
  }

  private open(client: Socket): void {
    if (this.fault === 'refuse') return void client.resetAndDestroy();
    if (this.fault === 'overloaded') return refuseAsOverloaded(client);
    const isSilent = this.fault === 'black-hole';
    const link: Link = { client, server: connect(this.target), isSilent, stalledBytes: 0 };
    this.links.add(link);
    void this.carry(link, client, link.server);
    void this.carry(link, link.server, client);
  }

  private async carry(link: Link, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (const part of this.fault === 'drip' ? bytesOf(chunk) : [chunk]) {
          if (this.fault === 'slow') await sleep(SLOW_MS);
          if (this.fault === 'drip') await sleep(DRIP_MS);
          if (this.fault === 'far') setTimeout(() => void to.write(part), FAR_MS);
          else if (!link.isSilent)
            to.write(this.fault === 'stall' && from === link.server ? beginning(link, part) : part);
        }
      }
    } catch {
      // Reported by the end of the other side.
    }
    // What is still on its way arrives.
    if (this.fault === 'far') await sleep(FAR_MS);
    // A silent connection does not forward an end.
    if (link.isSilent && from === link.server) return;
    // What the server sent before it ended comes to a client that reads it late.
    if (from === link.server && !from.errored) await new Promise<void>((over) => link.client.end(() => over()));
    link.client.destroy();
    link.server.destroy();
    this.links.delete(link);
  }
}

/** What the connection still carries of an answer; nothing comes after it. */
function beginning(link: Link, part: Buffer): Buffer {
  const carried = part.subarray(0, STALL_AFTER_BYTES - link.stalledBytes);
  link.stalledBytes += carried.length;
  link.isSilent = link.stalledBytes === STALL_AFTER_BYTES;
  return carried;
}

function refuseAsOverloaded(client: Socket): void {
  client.on('error', () => undefined);
  client.setTimeout(SLOW_MS * 10, () => client.destroy());
  client.once('data', () => client.end(OVERLOADED));
  client.resume();
}

const bytesOf = (chunk: Buffer): Buffer[] =>
  Array.from({ length: chunk.length }, (_, index) => chunk.subarray(index, index + 1));
