import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';
import type { ServerNames } from '../names/server-names.js';
import type { RedisHost } from './redis-address.js';

/** Where the client connects to, as its options say it. */
interface Place {
  readonly host?: string;
  readonly port?: number;
  readonly connectTimeout?: number;
  readonly disconnectTimeout?: number;
  readonly tls?: ConnectionOptions;
}

/** The same behind Sentinels: they know which server is the master of this name. */
interface SentinelPlace extends Place {
  readonly sentinels: readonly RedisHost[];
  readonly name: string;
  readonly sentinelRetryStrategy: (attempt: number) => number;
}

const CLOSED = 'Connection is closed.';

/** How long a Sentinel may take for an answer, in milliseconds: it has all of it in memory. */
const SENTINEL_ANSWER_MS = 1_000;

function open({ host = 'localhost', port = 6379, tls }: Place, { lookup }: ServerNames): Socket {
  return tls ? connectSecurely({ host, port, lookup, ...tls }) : connectPlain({ host, port, lookup });
}

/** What connects to a Redis of its own by name; the client's own connector asks the system, on a thread that may be held. */
export function connectorBy(names: ServerNames) {
  return class ServerConnector extends AbstractConnector {
    readonly #place: Place;

    constructor(options: unknown) {
      const place = options as Place;
      super(place.disconnectTimeout ?? 0);
      this.#place = place;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      // The client may be asked to disconnect before it has connected.
      await Promise.resolve();
      if (!this.connecting) throw new Error(CLOSED);
      const socket = open(this.#place, names);
      this.stream = socket;
      socket.once('error', (error) => (this.firstError = error));
      return socket;
    }
  };
}

/**
 * The same for a master behind Sentinels, whose names and whose master's are found without the system as well. With TLS
 * all of them are spoken to by TLS. Asks the Sentinels in turn until one knows a master; only the client ends that.
 */
export function sentinelConnectorBy(names: ServerNames) {
  return class MasterConnector extends AbstractConnector {
    readonly #place: SentinelPlace;

    constructor(options: unknown) {
      const place = options as SentinelPlace;
      super(place.disconnectTimeout ?? 0);
      this.#place = place;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      await Promise.resolve();
      const master = await this.#master();
      if (!this.connecting || !master) throw new Error(CLOSED);
      const socket = open({ ...this.#place, ...master }, names);
      this.stream = socket;
      socket.once('error', (error) => (this.firstError = error));
      return socket;
    }

    async #master(): Promise<RedisHost | undefined> {
      for (let attempt = 1; this.connecting; attempt += 1) {
        for (const sentinel of this.#place.sentinels) {
          const master = await masterKnownTo(sentinel, this.#place, names);
          if (master || !this.connecting) return master;
        }
        await sleep(this.#place.sentinelRetryStrategy(attempt));
      }
      return undefined;
    }
  };
}

/** Undefined when the Sentinel does not answer, or knows no such master. */
async function masterKnownTo(
  { host, port }: RedisHost,
  { name, tls, connectTimeout = SENTINEL_ANSWER_MS, disconnectTimeout = 0 }: SentinelPlace,
  names: ServerNames,
): Promise<RedisHost | undefined> {
  const sentinel = new Redis({
    host,
    port,
    connectTimeout,
    disconnectTimeout,
    ...(tls && { tls }),
    Connector: connectorBy(names),
    commandTimeout: SENTINEL_ANSWER_MS + connectTimeout,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  // What went wrong is told by the command.
  sentinel.on('error', () => undefined);
  try {
    const told = await sentinel.call('SENTINEL', 'get-master-addr-by-name', name);
    return Array.isArray(told) ? { host: String(told[0]), port: Number(told[1]) } : undefined;
  } catch {
    return undefined;
  } finally {
    sentinel.disconnect();
  }
}
