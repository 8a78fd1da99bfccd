import { IsOptional, Matches } from 'class-validator';
import { Variable } from '../config/variable.js';

/** Where Redis is, in the three ways it is run. */
type RedisPlace =
  | { readonly kind: 'standalone'; readonly hosts: readonly [RedisHost]; readonly database: number }
  | { readonly kind: 'cluster'; readonly hosts: readonly RedisHost[] }
  | {
      readonly kind: 'sentinel';
      readonly hosts: readonly RedisHost[];
      readonly name: string;
      readonly database: number;
    };

export type RedisAddress = RedisPlace & {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
};

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

const FORM =
  /^redis(?<tls>s)?(?:-(?<kind>cluster|sentinel))?:\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/;
const DEFAULT_PORTS = { standalone: 6379, cluster: 6379, sentinel: 26_379 } as const;

/**
 * Reads `redis[s]://user:password@host:port/database`, `redis[s]-cluster://host:port,host:port` (or `?cluster=true`)
 * and `redis[s]-sentinel://host:port,host:port/name?db=0`. User name and password are percent-encoded.
 *
 * @throws Error that says what is wrong, without the password.
 */
export function parseRedisAddress(url: string): RedisAddress {
  const groups = FORM.exec(url)?.groups;
  if (groups === undefined) throw new Error('REDIS_URL must look like redis://host:6379.');
  const query = new URLSearchParams(groups['query']);
  const kind = query.get('cluster') === 'true' ? 'cluster' : ((groups['kind'] ?? 'standalone') as RedisAddress['kind']);
  const hosts = (groups['hosts'] ?? '').split(',').map((host) => parseHost(host, DEFAULT_PORTS[kind]));
  const access = { ...parseLogin(groups['login']), tls: groups['tls'] !== undefined };
  const path = decodeURIComponent(groups['path'] ?? '');
  return { ...access, ...READ_PLACE[kind](hosts, path, query.get('db') ?? '') };
}

const READ_PLACE: { [Kind in RedisPlace['kind']]: (hosts: RedisHost[], path: string, database: string) => RedisPlace } =
  {
    standalone: ([host, ...others], path) => {
      if (host === undefined || others.length > 0) {
        throw new Error('REDIS_URL: several hosts need redis-cluster:// or redis-sentinel://.');
      }
      return { kind: 'standalone', hosts: [host], database: parseDatabase(path) };
    },
    cluster: (hosts, path) => {
      if (parseDatabase(path) !== 0) throw new Error('REDIS_URL: a Redis Cluster has only database 0.');
      return { kind: 'cluster', hosts };
    },
    sentinel: (hosts, name, database) => {
      if (name === '') throw new Error('REDIS_URL must name the master: redis-sentinel://host:26379/name.');
      return { kind: 'sentinel', hosts, name, database: parseDatabase(database) };
    },
  };

function parseHost(text: string, defaultPort: number): RedisHost {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text.trim()) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? defaultPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535) throw new Error(`REDIS_URL: ${text} is not host:port.`);
  return { host, port: number };
}

function parseLogin(login = ''): { username: string | undefined; password: string | undefined } {
  const [username, ...password] = login.split(':');
  const decoded = (part: string | undefined) =>
    part === undefined || part === '' ? undefined : decodeURIComponent(part);
  return { username: decoded(username), password: decoded(password.length === 0 ? undefined : password.join(':')) };
}

function parseDatabase(text: string): number {
  if (!/^\d{0,4}$/.test(text)) throw new Error(`REDIS_URL: ${text} is not a database number.`);
  return Number(text);
}

/** Where the notifiers of the workers live. */
export class QueueConfig {
  @Variable({
    description:
      'Redis or Valkey for the queues: redis:// or rediss://, redis-cluster:// (or ?cluster=true), or redis-sentinel://host,host/name. When unset, the queues are in Postgres.',
    secret: true,
    example: 'redis://localhost:6379',
  })
  @IsOptional()
  @Matches(/^(rediss?|rediss?-cluster|rediss?-sentinel):\/\/./, {
    message:
      '$property must begin with redis://, rediss://, redis-cluster://, rediss-cluster://, redis-sentinel:// or rediss-sentinel://',
  })
  REDIS_URL?: string;

  @Variable({
    description: 'Beginning of all Redis keys; the braces keep the keys of a queue on one node of a Redis Cluster.',
  })
  @Matches(/^[\w:-]*\{[\w:-]+\}[\w:-]*$/, {
    message: '$property must hold one name in braces, for example {gateway}, of letters, digits and _ : -',
  })
  QUEUE_PREFIX = '{gateway}';
}
