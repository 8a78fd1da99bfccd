import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type QueryResultRow } from 'pg';
import { parse } from 'yaml';
import { embeddedDatabaseUrl } from '#platform';
import { eventually, startDurableServices } from '#testing';
import { type Protocol, PROTOCOLS } from './wire-formats.js';

const MEBIBYTE = 1_048_576;

/** What a gateway under attack stands on. */
export type Backend = 'embedded' | 'redis';

/** An account of its own with one key. */
export interface Tenant {
  readonly accountId: string;
  readonly key: string;
}

/** The public model whose only upstream speaks the protocol. */
export const MODEL_OVER: Readonly<Record<Protocol, string>> = {
  responses: 'vendor-5',
  messages: 'vendor-opus-4-1-20250805',
  chat: 'vendor-4o-image',
  gemini: 'vendor-2.5-pro',
};

/** The model of embeddings that the upstream of the chat protocol offers. */
export const EMBEDDING_MODEL = 'vectors-of-the-attack';

/** Media models whose first upstream is hostile: a peer alone, a peer before the sandbox, and one that cannot be asked about orders. */
export const HOSTILE_MODELS = {
  peer: 'theta-image-turbo',
  shared: 'iota-1.0-reseller',
  forgetful: 'zeta-q3-pro',
} as const;
/** What the peer takes calls with. */
export const PEER_KEY = 'sk-of-the-peer-0123456789';

const ADMIN_TOKEN = 'admin-token-of-the-attack-run-0123456789';
const START_LIMIT_MS = 200_000;
const SETTLE_LIMIT_MS = 200_000;

/** The port of a gateway, and the hosts it may call. */
export interface Surroundings {
  readonly vendorUrl: string;
  /** Receivers of webhooks on this machine, as MEDIA_FETCH_ALLOW takes them. */
  readonly allowedHosts: string;
  readonly port: number;
}

/** A gateway in processes of its own, and what its operator sees. */
export class Target {
  private database: Pool | undefined;

  private constructor(
    readonly backend: Backend,
    readonly url: string,
    /** The processes write their logs here. */
    readonly logFile: string,
    /** The process that serves requests first, then its workers. */
    private readonly processes: readonly Started[],
    private readonly launch: (role: string, more?: Readonly<Record<string, string>>) => ChildProcess,
    /** Where the processes may write: DATA_DIR, and what they write for a moment. */
    private readonly folders: { readonly data: string; readonly temporary: string },
    private readonly stopServices: () => Promise<void>,
  ) {}

  /** Starts it with the vendor as the upstream of one model for each protocol. */
  static async start(backend: Backend, { vendorUrl, allowedHosts, port }: Surroundings): Promise<Target> {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-attacks-'));
    const upstreams = join(folder, 'upstreams.yaml');
    writeFileSync(upstreams, upstreamsFile(vendorUrl));
    const folders = { data: join(folder, 'data'), temporary: join(folder, 'temporary') };
    mkdirSync(folders.temporary);
    const services = backend === 'redis' ? await startDurableServices() : undefined;
    const environment = {
      ...inherited(),
      ...(services && { DATABASE_URL: services.databaseUrl, REDIS_URL: services.redisUrl }),
      NODE_ENV: 'production',
      PORT: String(port),
      DATA_DIR: folders.data,
      TMPDIR: folders.temporary,
      ADMIN_TOKEN,
      // Most images are made by the sandbox here, with prices of the price book's examples.
      SANDBOX_BILLING_ENABLED: 'true',
      GATEWAY_API_KEY: 'sk-of-the-attack-run-0123456789',
      KEY_PEPPER: 'a-pepper-for-attacks-only',
      UPSTREAMS_FILE: upstreams,
      MEDIA_FETCH_ALLOW: `${allowedHosts},${new URL(vendorUrl).host}`,
      TEXT_DRAIN_SECONDS: '1',
    };
    const logFile = join(folder, 'gateway.log');
    const log = openSync(logFile, 'a');
    const roles = backend === 'redis' ? FLEET : ['gateway'];
    const launch = (role: string, more: Readonly<Record<string, string>> = {}): ChildProcess => {
      const heap = `--max-old-space-size=${memoryLimitOf(role) / MEBIBYTE / 2}`;
      return spawn(process.execPath, [heap, `dist/apps/${role}/src/main.js`], {
        stdio: ['ignore', log, log],
        env: { ...environment, ...more },
      });
    };
    const processes = roles.map((role): Started => ({ role, child: launch(role), limitBytes: memoryLimitOf(role) }));
    const url = `http://127.0.0.1:${port}`;
    const target = new Target(backend, url, logFile, processes, launch, folders, async () => {
      await services?.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await target.becomesReady();
    target.database = poolOf(services?.databaseUrl ?? embeddedDatabaseUrl(folders.data));
    return target;
  }

  /** Ends the process that serves requests, and resolves when it is gone; of an embedded gateway everything goes with it. */
  async endApi(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { child } = this.api;
    if (this.backend === 'embedded') await this.closeDatabase();
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  /** Starts it again, with more settings, and resolves when it serves. */
  async startApi(settings?: Readonly<Record<string, string>>): Promise<void> {
    this.api.child = this.launch(this.api.role, settings);
    await this.becomesReady();
    if (this.backend === 'embedded') this.database = poolOf(embeddedDatabaseUrl(this.folders.data));
  }

  private get api(): Started {
    const [api] = this.processes;
    if (!api) throw new Error('the gateway has no process');
    return api;
  }

  /** Whether the process that serves requests still runs. */
  get alive(): boolean {
    return this.processes.every(({ child }) => isRunning(child));
  }

  /** Memory of the process that serves requests, in bytes. */
  residentBytes(): number {
    return residentBytesOf(this.api);
  }

  /** Memory of each process. */
  memory(): readonly Memory[] {
    return this.processes.map((started) => ({
      role: started.role,
      bytes: isRunning(started.child) ? residentBytesOf(started) : 0,
      limitBytes: started.limitBytes,
    }));
  }

  /** Bytes of the files that the processes have for a moment, and of those that are stored. */
  fileBytes(): { readonly temporary: number; readonly stored: number } {
    return { temporary: bytesBelow(this.folders.temporary), stored: bytesBelow(join(this.folders.data, 'media')) };
  }

  /** The names of stored files, with their folders. */
  storedNames(): readonly string[] {
    return readdirSync(join(this.folders.data, 'media'), { recursive: true, encoding: 'utf8' });
  }

  /** What Postgres and the store keep for an account, in bytes: its rows, the rows of its tasks and indexes, and its files. */
  async keptBytes({ accountId }: Tenant): Promise<number> {
    const tables = await this.rows<{ name: string; column: string }>(OWNED_TABLES);
    const parts = tables.map(({ name, column }) => {
      const owner = OWNERS[column];
      const ids = owner === undefined ? '$1' : `any(array(select id from ${owner} where account_id = $1))`;
      return `select coalesce(sum(pg_column_size(t.*)), 0) as bytes from "${name}" t where t.${column} = ${ids}`;
    });
    const files = `select coalesce(sum(bytes), 0) from uploaded_file where account_id = $1 and state <> 'deleted'`;
    const text = `select sum(bytes)::float8 as bytes from (${[...parts, files].join(' union all ')}) as part`;
    const [kept] = await this.rows<{ bytes: number }>(text, accountId);
    return kept?.bytes ?? 0;
  }

  /** Asks the database what no customer can. */
  async rows<Row extends QueryResultRow>(text: string, ...values: readonly unknown[]): Promise<Row[]> {
    if (!this.database) throw new Error('the gateway has not started');
    return (await this.database.query<Row>({ text, values: [...values] })).rows;
  }

  /** An admin request that must succeed, sent again while the gateway has too much to do; answers its `data`. */
  async admin<Data>(method: string, path: string, body?: object): Promise<Data> {
    const ask = (): Promise<Response> =>
      fetch(`${this.url}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    const answer = await eventually(() => ask().then((one) => (one.status === 503 ? undefined : one)), {
      pauseMs: 500,
    });
    if (!answer.ok) throw new Error(`${method} /admin/v1${path} answered ${answer.status}: ${await answer.text()}`);
    const { data } = (await answer.json()) as { data: Data };
    return data;
  }

  async openAccount(name: string, money: string): Promise<Tenant> {
    const { id } = await this.admin<{ id: string }>('POST', '/accounts', { name });
    await this.admin('POST', `/accounts/${id}/top-ups`, { amount: money, reference: `${name}-1` });
    const { key } = await this.admin<{ key: string }>('POST', `/accounts/${id}/keys`, { name: 'only' });
    return { accountId: id, key };
  }

  /** What the account has been charged, once nothing is held any more. Debts count as charged. */
  async chargedMicros({ accountId }: Tenant): Promise<bigint> {
    const deadline = Date.now() + SETTLE_LIMIT_MS;
    for (;;) {
      const account = await this.admin<Record<string, string>>('GET', `/accounts/${accountId}`);
      if (microsOf(account['held'] ?? '0') === 0n) return microsOf(account['used'] ?? '0');
      if (Date.now() > deadline) throw new Error(`account ${accountId} still holds ${account['held']}`);
      await sleep(100);
    }
  }

  /** Findings of a full reconciliation, each as a sentence. */
  async imbalances(): Promise<string[]> {
    const report = await this.admin<{ balanced: boolean; findings: object[] }>('POST', '/reconciliations?full=true');
    return report.balanced
      ? []
      : report.findings.slice(0, 5).map((finding) => `the ledger: ${JSON.stringify(finding)}`);
  }

  async stop(): Promise<void> {
    await this.closeDatabase();
    const children = this.processes.map(({ child }) => child);
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(children.filter(isRunning).map((child) => once(child, 'exit')));
    await this.stopServices();
  }

  /** Once: what did not start again has none to close, and is to say why. */
  private async closeDatabase(): Promise<void> {
    const { database } = this;
    this.database = undefined;
    await database?.end();
  }

  private async becomesReady(): Promise<void> {
    const deadline = Date.now() + START_LIMIT_MS;
    for (;;) {
      const ready = await fetch(`${this.url}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false);
      if (ready) return;
      if (!this.alive || Date.now() > deadline)
        throw new Error(`The gateway did not start:\n${readFileSync(this.logFile, 'utf8').slice(-2_000)}`);
      await sleep(100);
    }
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

/** A process of the gateway, and the memory that the chart gives it. */
interface Started {
  readonly role: string;
  child: ChildProcess;
  readonly limitBytes: number;
}

const poolOf = (connectionString: string | undefined): Pool => new Pool({ connectionString, max: 2 });

/** The memory of one process. */
export interface Memory {
  readonly role: string;
  readonly bytes: number;
  readonly limitBytes: number;
}

const residentBytesOf = ({ child }: Started): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

interface Resources {
  readonly resources: { readonly limits: { readonly memory: string } };
}
const CHART = parse(readFileSync('deploy/helm/values.yaml', 'utf8')) as {
  readonly api: Resources;
  readonly workers: Readonly<Record<string, Resources>>;
};

/** The whole gateway in one process has to do with what the chart gives an API alone. */
function memoryLimitOf(role: string): number {
  const { memory } = (CHART.workers[role] ?? CHART.api).resources.limits;
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi)$/.exec(memory) ?? [];
  if (number === '') throw new Error(`deploy/helm/values.yaml: memory of ${role} is "${memory}", not so many Mi or Gi`);
  return Number(number) * (unit === 'Gi' ? 1024 : 1) * MEBIBYTE;
}

function bytesBelow(folder: string): number {
  if (!existsSync(folder)) return 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    // One that has gone meanwhile has no size.
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}

/** What a row belongs to that names no account. */
const OWNERS: Readonly<Record<string, string>> = {
  task_id: 'task',
  index_id: 'file_index',
  vector_store_id: 'vector_store',
  delivery_id: 'webhook_delivery',
};
const OWNED_TABLES = `
select name, columns[1] as column from (
  select c.relname as name, array_agg(a.attname::text order by array_position('{account_id,task_id,index_id,vector_store_id,delivery_id}', a.attname::text)) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and a.attname in ('account_id', 'task_id', 'index_id', 'vector_store_id', 'delivery_id') and a.attnum > 0
  group by c.relname) as owned`;

const FLEET = ['api', 'video-worker', 'image-worker', 'maintenance-worker'];

/** The caller's environment, without what configures a gateway. */
function inherited(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }) };
}

const upstreamsFile = (vendorUrl: string): string =>
  JSON.stringify({
    upstreams: (Object.keys(PROTOCOLS) as Protocol[]).map((protocol) => ({
      id: protocol,
      protocol,
      base_url: `${vendorUrl}/${protocol === 'gemini' ? 'v1beta' : 'v1'}`,
      key: 'sk-vendor-secret',
      models: { [MODEL_OVER[protocol]]: 'vendor' },
      ...(protocol === 'chat' && { embedding_models: { [EMBEDDING_MODEL]: 'vectors' } }),
    })),
    media_upstreams: mediaUpstreams(vendorUrl),
  });

function mediaUpstreams(vendorUrl: string): object[] {
  const { peer, shared, forgetful } = HOSTILE_MODELS;
  const hostile = { base_url: vendorUrl, key: PEER_KEY, priority: 0 };
  return [
    { ...hostile, id: 'peer', protocol: 'gateway', models: { [peer]: peer } },
    { ...hostile, id: 'failing-peer', protocol: 'gateway', models: { [shared]: shared } },
    { ...hostile, id: 'forgetful', protocol: 'vidu', models: { [forgetful]: 'viduq3-pro' } },
    { id: 'sandbox', protocol: 'sandbox', models: 'all', except: [peer, forgetful], priority: 1 },
  ];
}

/** Six places or fewer, as every amount of the admin API. */
export function microsOf(amount: string): bigint {
  const [whole = '0', part = ''] = amount.replace('-', '').split('.');
  const micros = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0').slice(0, 6));
  return amount.startsWith('-') ? -micros : micros;
}
