import { Cluster, Redis } from 'ioredis';
import { type ServerNames, serverNames } from '../dns/server-names.js';
import type { RedisAddress } from './redis-address.js';
import { connectorBy, logRedisError, sentinelConnectorBy } from './redis-connector.js';

const COMMAND_TIMEOUT_MS = 2_000;
/** A connection that is not made within this is given up and tried again, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2_000;
/** How long a blocking command asks Redis to wait before it answers that there is nothing, in seconds. */
export const BLOCKING_WAIT_SECONDS = 3;
/**
 * A connection on which an answer is due and nothing comes for so long is discarded, in milliseconds. Listeners must wait longer
 * than Redis is asked to.
 */
const COMMAND_SILENCE_MS = 2_000;
const BLOCKING_SILENCE_MS = BLOCKING_WAIT_SECONDS * 1_000 + 2_000;
const KEEP_ALIVE_MS = 10_000;
/** A server that still reads its data is asked so often whether it has them, in milliseconds, whatever it expects. */
const LOADING_RETRY_MS = 1_000;
const RECONNECT_DELAY_MAX_MS = 2_000;
/** A closed connection to an absent server keeps the process alive this long; ioredis would take 2 s. */
const DISCONNECT_TIMEOUT_MS = 100;

/** After a failover a connection may be left with a server that is a replica now; a new one finds the master. */
const reconnectOnError = ({ message }: Error): boolean => message.includes('READONLY');

/** For senders, which must never hang: a command either passes now or fails now. */
export const FAIL_FAST = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  commandTimeout: COMMAND_TIMEOUT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: COMMAND_SILENCE_MS,
  keepAlive: KEEP_ALIVE_MS,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  maxLoadingRetryTime: LOADING_RETRY_MS,
  reconnectOnError,
};
/** For listeners: they wait for Redis as long as it takes, but not on a silent connection. */
export const WAIT_FOR_SERVER = {
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: BLOCKING_SILENCE_MS,
  // A blocking command ends on our side too, so that the next one notices a connection that died meanwhile.
  blockingTimeout: BLOCKING_SILENCE_MS,
  blockingTimeoutGrace: 2_500,
  keepAlive: KEEP_ALIVE_MS,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  maxLoadingRetryTime: LOADING_RETRY_MS,
  reconnectOnError,
};

/** A connection that waits and retries as `behaviour` says, however Redis is deployed. */
export function connect(
  address: RedisAddress,
  behaviour: typeof FAIL_FAST | typeof WAIT_FOR_SERVER,
  names: ServerNames = serverNames,
): Redis | Cluster {
  const redis =
    address.kind === 'cluster' ? connectCluster(address, behaviour, names) : connectServer(address, behaviour, names);
  const server = address.hosts.map(({ host, port }) => `${host}:${port}`).join(',');
  redis.on('error', (error: Error) => logRedisError(server, error));
  return redis;
}

function connectServer(
  address: Exclude<RedisAddress, { kind: 'cluster' }>,
  behaviour: typeof FAIL_FAST | typeof WAIT_FOR_SERVER,
  names: ServerNames,
): Redis {
  const place =
    address.kind === 'standalone'
      ? { ...address.hosts[0], Connector: connectorBy(names) }
      : {
          sentinels: [...address.hosts],
          name: address.name,
          sentinelRetryStrategy: retryStrategy,
          Connector: sentinelConnectorBy(names),
        };
  return new Redis({ ...behaviour, ...place, ...loginOptions(address), db: address.database, retryStrategy });
}

function connectCluster(
  address: Extract<RedisAddress, { kind: 'cluster' }>,
  behaviour: typeof FAIL_FAST | typeof WAIT_FOR_SERVER,
  names: ServerNames,
): Cluster {
  const { enableOfflineQueue, ...redisOptions } = behaviour;
  return new Cluster([...address.hosts], {
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    dnsLookup: (host, done) =>
      names.lookup(host, {}, (error, address, family) =>
        done(error, typeof address === 'string' ? address : '', family),
      ),
    redisOptions: { ...redisOptions, ...loginOptions(address) },
  });
}

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, RECONNECT_DELAY_MAX_MS);

const loginOptions = ({ username, password, tls }: RedisAddress) => ({
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(tls ? { tls: {} } : {}),
});
