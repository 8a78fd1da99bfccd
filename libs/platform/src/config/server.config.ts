import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Transform } from 'class-transformer';
import { IsIn, IsNotEmpty, IsOptional, IsString, IsUrl, MinLength, ValidateBy } from 'class-validator';
import ipaddr from 'ipaddr.js';
import { BALANCE_UNITS, type BalanceUnit } from '#contracts';
import { Variable } from './variable.js';

const NAMED = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** True for a list of addresses, blocks and named networks, as `TRUSTED_PROXIES` takes it. */
const isProxyList = (value: unknown): boolean =>
  typeof value === 'string' && value.split(',').every((entry) => isNetwork(entry.trim()));

const isNetwork = (entry: string): boolean => NAMED.has(entry) || ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry);

const IsProxyList = (): PropertyDecorator =>
  ValidateBy({
    name: 'isProxyList',
    validator: {
      validate: isProxyList,
      defaultMessage: () =>
        '$property must list addresses (10.0.0.1), blocks (10.0.0.0/8), or loopback, linklocal, uniquelocal, separated by commas',
    },
  });

/** An address that others are made from. */
export const PLAIN_URL = {
  protocols: ['http', 'https'],
  require_protocol: true,
  require_tld: false,
  disallow_auth: true,
  allow_query_components: false,
  allow_fragments: false,
};

const API_PROCESSES_MAX = 64;

/** A number of processes, or the word for one for each core. */
function IsNumberOfProcesses(): PropertyDecorator {
  const convert = Transform(({ value }) => (value === 'auto' ? value : Number(value)));
  const isNumber = (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= API_PROCESSES_MAX;
  const check = ValidateBy({
    name: 'isNumberOfProcesses',
    validator: {
      validate: (value: unknown) => value === 'auto' || isNumber(value),
      defaultMessage: () => `$property must be a whole number from 1 to ${API_PROCESSES_MAX}, or auto`,
    },
  });
  return (prototype, name) => {
    convert(prototype, name);
    check(prototype, name);
  };
}

/** How the server is reached, what it keeps where, and its first secrets. */
export class ServerConfig {
  @Variable({ description: 'Port the server listens on.', between: [0, 65_535] })
  PORT = 3000;

  @Variable({ description: 'Address the server listens on; 0.0.0.0 opens it to the network.' })
  @IsString()
  @IsNotEmpty()
  HOST = '127.0.0.1';

  @Variable({
    description:
      'Address under which clients reach the server; links to media begin with it. When unset, HOST and PORT are used.',
    example: 'https://gateway.example.com',
  })
  @IsOptional()
  @IsUrl(PLAIN_URL, {
    message:
      '$property must be a full address that begins with http:// or https://, without a password, query or fragment',
  })
  PUBLIC_BASE_URL?: string;

  @Variable({
    description:
      'Proxies in front of the gateway whose X-Forwarded-For header is trusted: addresses or CIDR blocks, separated by commas, or loopback, linklocal, uniquelocal. When unset, the address that connects counts as the client.',
    example: 'loopback, 10.0.0.0/8',
  })
  @IsOptional()
  @IsProxyList()
  TRUSTED_PROXIES?: string;

  @Variable({ description: 'Folder for the embedded database and local media.' })
  @IsString()
  @IsNotEmpty()
  DATA_DIR = '.data';

  @Variable({
    description: 'API key of the first account. When unset, one is generated and printed once.',
    secret: true,
  })
  @IsOptional()
  @MinLength(8)
  GATEWAY_API_KEY?: string;

  @Variable({
    description:
      'Token of the admin API and the operator pages. When unset, a gateway with embedded Postgres generates one and prints it once; with DATABASE_URL both stay closed.',
    secret: true,
  })
  @IsOptional()
  @MinLength(16)
  ADMIN_TOKEN?: string;

  @Variable({
    description:
      'Secret that is mixed into the stored hashes of API keys. All replicas need the same one, and it must never change. When unset, one is generated in DATA_DIR.',
    secret: true,
  })
  @IsOptional()
  @MinLength(16)
  KEY_PEPPER?: string;

  @Variable({ description: 'Unit of prices and balances: USD, CNY or Tokens. Fixed by the first entry of the ledger.' })
  @IsIn(BALANCE_UNITS)
  BALANCE_UNIT: BalanceUnit = 'USD';

  @Variable({
    description:
      'Longest wait at shutdown for running work to reach a safe point; text requests have TEXT_DRAIN_SECONDS.',
    unit: 'seconds',
    between: [0, 600],
  })
  SHUTDOWN_GRACE_SECONDS = 25;

  @Variable({
    description:
      'How long running text requests may continue at shutdown; after that, streams end with an error event and whole replies with 503. When unset: 600, or 5 with the embedded database.',
    unit: 'seconds',
    between: [0, 3_600],
  })
  @IsOptional()
  TEXT_DRAIN_SECONDS?: number;

  @Variable({
    description:
      'Send a space every 15 seconds while a whole (not streamed) text reply is awaited for longer than this, so that no proxy closes the idle connection. From then on the status is 200 and a failure is an error in the body, so 60 or more is advised. 0 switches it off.',
    unit: 'seconds',
    between: [0, 600],
  })
  WHOLE_REPLY_KEEPALIVE_SECONDS = 0;

  @Variable({
    description:
      'Processes that serve the API on PORT: child processes of the API or of the gateway, each of which counts as a replica, so that whatever holds for a process holds for each of them. `auto`: one for each core, within the processor limit of the container. With 1, the process itself serves it. More than 1 in the API alone needs DATABASE_URL. See docs/scaling.md.',
    unit: 'processes, 1 to 64, or auto',
  })
  @IsNumberOfProcesses()
  API_PROCESSES: number | 'auto' = 1;

  @Variable({ description: 'Largest request body, including inline images.', unit: 'MiB', between: [1, 512] })
  BODY_LIMIT_MB = 64;

  @Variable({
    description:
      'Memory that an API process uses at once for request bodies and for stored conversations that requests refer to or read; further requests get 503. A body counts twice, as bytes and as text; bodies up to 64 KiB are not counted. One account may use a quarter, and beyond that half of what is free; more is refused with 429. Never less than 4 times BODY_LIMIT_MB.',
    unit: 'MiB',
    between: [1, 65_536],
  })
  BODY_MEMORY_MB = 512;
}

export const apiProcesses = ({ API_PROCESSES: wanted }: Pick<ServerConfig, 'API_PROCESSES'>): number =>
  wanted === 'auto' ? Math.min(usableCores(), API_PROCESSES_MAX) : wanted;

/** Where a container of Linux finds how much processor time it may use: microseconds of each period, or `max`. */
const QUOTA_FILE = '/sys/fs/cgroup/cpu.max';

/** How many cores this process may use: those that the system gives it, within the quota of its container. At least 1. */
export function usableCores(quotaFile = QUOTA_FILE): number {
  const [quota = NaN, period = NaN] = readQuota(quotaFile).split(' ').map(Number);
  const allowed = quota / period;
  return Math.max(1, Math.min(availableParallelism(), Number.isNaN(allowed) ? Infinity : Math.floor(allowed)));
}

/** Without quotas there is no file, or the word `max`. */
function readQuota(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return 'max';
  }
}
