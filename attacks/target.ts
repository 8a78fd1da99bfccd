import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate, startEmbeddedPostgres } from '#platform';
import { eventually, startRedisServer } from '#testing';
import { type Protocol, PROTOCOLS } from './wire-formats.js';

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

const ADMIN_TOKEN = 'admin-token-of-the-attack-run-0123456789';
const START_LIMIT_MS = 200_000;
const SETTLE_LIMIT_MS = 40_000;

/** The port of a gateway, and the hosts it may call. */
export interface Surroundings {
  readonly vendorUrl: string;
  /** Receivers of webhooks on this machine, as MEDIA_FETCH_ALLOW takes them. */
  readonly allowedHosts: string;
  readonly port: number;
}

/** A gateway in processes of its own, and what its operator sees. */
export class Target {
  private constructor(
    readonly backend: Backend,
    readonly url: string,
    /** The processes write their logs here. */
    readonly logFile: string,
    /** The process that serves requests first, then its workers. */
    private readonly processes: readonly ChildProcess[],
    private readonly stopServices: () => Promise<void>,
  ) {}

  /** Starts it with the vendor as the upstream of one model for each protocol. */
  static async start(backend: Backend, { vendorUrl, allowedHosts, port }: Surroundings): Promise<Target> {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-attacks-'));
    const upstreams = join(folder, 'upstreams.yaml');
    writeFileSync(upstreams, upstreamsFile(vendorUrl));
    const services = backend === 'redis' ? await startServices(folder) : { environment: {}, stop: noServices };
    const environment = {
      ...inherited(),
      ...services.environment,
      NODE_ENV: 'production',
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      ADMIN_TOKEN,
      // Images are made by the sandbox here, with prices of the price book's examples.
      SANDBOX_SELLS: 'true',
      GATEWAY_API_KEY: 'sk-of-the-attack-run-0123456789',
      KEY_PEPPER: 'a-pepper-for-attacks-only',
      UPSTREAMS_FILE: upstreams,
      MEDIA_FETCH_ALLOW: allowedHosts,
    };
    const logFile = join(folder, 'gateway.log');
    const log = openSync(logFile, 'a');
    const roles = backend === 'redis' ? FLEET : ['gateway'];
    const processes = roles.map((role) =>
      spawn(process.execPath, [`dist/apps/${role}/src/main.js`], { stdio: ['ignore', log, log], env: environment }),
    );
    const target = new Target(backend, `http://127.0.0.1:${port}`, logFile, processes, async () => {
      await services.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await target.becomesReady();
    return target;
  }

  /** Whether the process that serves requests still runs. */
  get alive(): boolean {
    return this.processes[0] !== undefined && isRunning(this.processes[0]);
  }

  /** Memory of the process that serves requests, in bytes. */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.processes[0]?.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
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
    return report.balanced ? [] : report.findings.map((finding) => `the ledger: ${JSON.stringify(finding)}`);
  }

  async stop(): Promise<void> {
    for (const child of this.processes) child.kill('SIGTERM');
    await Promise.all(this.processes.filter(isRunning).map((child) => once(child, 'exit')));
    await this.stopServices();
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

const FLEET = ['api', 'video-worker', 'image-worker', 'maintenance-worker'];

/** The caller's environment, without what configures a gateway. */
function inherited(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }) };
}

const noServices = async (): Promise<void> => undefined;

async function startServices(folder: string): Promise<{ environment: Record<string, string>; stop(): Promise<void> }> {
  const postgres = await startEmbeddedPostgres(join(folder, 'database'));
  const redis = await startRedisServer();
  if (!redis) throw new Error('redis-server is missing: install it, or attack only the embedded gateway');
  await migrate(postgres.url);
  return {
    environment: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    stop: async () => {
      await Promise.all([postgres.stop(), redis.kill()]);
    },
  };
}

const upstreamsFile = (vendorUrl: string): string =>
  JSON.stringify({
    upstreams: (Object.keys(PROTOCOLS) as Protocol[]).map((protocol) => ({
      id: protocol,
      protocol,
      base_url: `${vendorUrl}/${protocol === 'gemini' ? 'v1beta' : 'v1'}`,
      key: 'sk-vendor-secret',
      models: { [MODEL_OVER[protocol]]: 'vendor' },
    })),
  });

/** Six places or fewer, as every amount of the admin API. */
export function microsOf(amount: string): bigint {
  const [whole = '0', part = ''] = amount.replace('-', '').split('.');
  const micros = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0').slice(0, 6));
  return amount.startsWith('-') ? -micros : micros;
}
