import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';
import { logger } from '../log/logger.js';
import type { ServerNames } from '../dns/server-names.js';
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

/** How long a Sentinel may take for an answer, in milliseconds: it has all of it in memory. */
const SENTINEL_ANSWER_MS = 1_000;

function open({ host, port, tls }: Place & RedisHost, { lookup }: ServerNames): Socket {
  if (!tls) return connectPlain({ host, port, lookup });
  // Node does not tell the server its name by itself; several may share one address.
  const named = isIP(host) ? {} : { servername: host };
  return connectSecurely({ host, port, lookup, ...named, ...tls });
}

/** Finds where to connect; undefined: it was given up, because `isWanted` turned false. */
type FindServer<Options> = (options: Options, isWanted: () => boolean) => Promise<RedisHost | undefined>;

/** A connector for ioredis, which makes it from its own options. Its usual one asks the system for names, on a thread that may be held. */
function connectorTo<Options extends Place>(find: FindServer<Options>, names: ServerNames) {
  return class NamedServerConnector extends AbstractConnector {
    readonly #options: Options;

    constructor(options: unknown) {
      super((options as Options).disconnectTimeout ?? 0);
      this.#options = options as Options;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      const server = await find(this.#options, () => this.connecting);
      // The client may have been asked to disconnect meanwhile.
      if (!this.connecting || !server) throw new Error('Connection is closed.');
      const socket = open({ ...this.#options, ...server }, names);
      this.stream = socket;
      socket.once('error', (error) => (this.firstError = error));
      return socket;
    }
  };
}

export const connectorBy = (names: ServerNames) =>
  connectorTo(({ host = 'localhost', port = 6379 }: Place) => Promise.resolve({ host, port }), names);

/**
 * Connects to a master behind Sentinels: asks them in turn until one knows it; only the client ends that. With TLS all of
 * them are spoken to by TLS.
 */
export const sentinelConnectorBy = (names: ServerNames) =>
  connectorTo(async (place: SentinelPlace, isWanted) => {
    for (let attempt = 1; isWanted(); attempt += 1) {
      for (const sentinel of place.sentinels) {
        const master = await masterKnownTo(sentinel, place, names);
        if (master || !isWanted()) return master;
      }
      await sleep(place.sentinelRetryStrategy(attempt));
    }
    return undefined;
  }, names);

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
  let trouble: Error | undefined;
  // The command fails as well, but says no more than that its connection is closed.
  sentinel.on('error', (error: Error) => (trouble = error));
  try {
    const master = await sentinel.call('SENTINEL', 'get-master-addr-by-name', name);
    if (Array.isArray(master)) return { host: String(master[0]), port: Number(master[1]) };
    trouble = new Error(`The Sentinel knows no master "${name}".`);
    return undefined;
  } catch (error) {
    trouble ??= error instanceof Error ? error : undefined;
    return undefined;
  } finally {
    if (trouble) logRedisError(`${host}:${port}`, trouble);
    sentinel.disconnect();
  }
}

const log = logger('redis');

/** The same trouble is logged once in so many milliseconds, however often it is met. */
const QUIET_MS = 60_000;
/** More different ones than any one outage has. */
const MOST_REMEMBERED = 100;

const lastLoggedAt = new Map<string, number>();

/**
 * Logs why a Redis or a Sentinel cannot be used: its certificate, its password, its network. Of an error only the words:
 * a command that failed may hold the password.
 */
export function logRedisError(server: string, { message }: Error): void {
  const trouble = `${server} ${message}`;
  const nowMs = performance.now();
  if (nowMs - (lastLoggedAt.get(trouble) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
  if (lastLoggedAt.size >= MOST_REMEMBERED) lastLoggedAt.clear();
  lastLoggedAt.set(trouble, nowMs);
  log.warn('redis.unusable', { server, reason: message });
}
