import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Database, DatabaseConfig, migrate, type EmbeddedPostgres, startEmbeddedPostgres } from '#platform';
import { FaultProxy, type RedisServer, startRedisServer } from '#testing';
import { dropPackets } from './packet-drop.js';

/** Which backend the queues live on. */
export type Backend = 'redis' | 'postgres';

/** The servers that the network can come between. */
export type Server = 'postgres' | 'redis';

/** Longer than every single wait of the gateway. */
const SILENCE_MS = 4_000;

/** A real server settings choice: commits wait for the disk, so that a crash of Postgres proves something. */
const SETTINGS = { max_connections: '200', shared_buffers: '64MB' };

/** The servers that a gateway stands on, and what can befall them. */
export class Services {
  private constructor(
    readonly folder: string,
    private postgres: EmbeddedPostgres,
    private redis: RedisServer | undefined,
    private readonly proxies: Readonly<Record<Server, FaultProxy | undefined>>,
  ) {
    this.database = new Database(postgres.url, Object.assign(new DatabaseConfig(), { DATABASE_POOL_SIZE: 4 }));
  }

  readonly database: Database;

  static async start(backend: Backend): Promise<Services> {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-chaos-'));
    const postgres = await startEmbeddedPostgres(folder, { settings: SETTINGS });
    await migrate(postgres.url);
    const redis = backend === 'redis' ? await startRedisServer() : undefined;
    if (backend === 'redis' && !redis) throw new Error('redis-server is missing: install it to run this backend');
    const proxies = {
      postgres: await FaultProxy.start(postgres.url),
      redis: redis && (await FaultProxy.start(redis.url)),
    };
    return new Services(folder, postgres, redis, proxies);
  }

  /** What the processes need to find them. */
  environment(): Record<string, string> {
    return {
      DATABASE_URL: this.proxies.postgres?.urlOf(this.postgres.url) ?? '',
      DATABASE_POOL_SIZE: '6',
      SANDBOX_SELLS: 'true',
      DATA_DIR: join(this.folder, 'data'),
      ...(this.redis && { REDIS_URL: this.proxies.redis?.urlOf(this.redis.url) ?? '' }),
    };
  }

  /** Postgres dies without a checkpoint, is away for a moment, and recovers from its log. */
  async crashPostgres(): Promise<void> {
    const [pid] = readFileSync(join(this.folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGQUIT');
    await sleep(500);
    await this.postgres.stop();
    this.postgres = await startEmbeddedPostgres(this.folder, { settings: SETTINGS });
  }

  /** Every connection to Postgres is cut. */
  async cutConnections(): Promise<void> {
    await this.database.query({
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    });
  }

  /** Redis dies with all it held, and is back after a moment. */
  async crashRedis(): Promise<void> {
    if (!this.redis) return;
    const port = Number(new URL(this.redis.url).port);
    await this.redis.kill();
    await sleep(700);
    this.redis = await startRedisServer(port);
  }

  /** The connections of all processes stay open and carry nothing any more, and for a while new ones may not either. */
  async silence(server: Server, fault: 'half-open' | 'black-hole'): Promise<void> {
    this.proxies[server]?.set(fault);
    await sleep(SILENCE_MS);
    this.proxies[server]?.set('pass');
  }

  /** Every packet between the processes and the server is lost. */
  async losePackets(server: Server): Promise<void> {
    const port = this.proxies[server]?.port;
    if (port === undefined) return;
    const restore = dropPackets(port);
    await sleep(SILENCE_MS);
    restore();
  }

  async flushRedis(): Promise<void> {
    await this.onRedis((redis) => redis.flushall());
  }

  /** Redis answers nobody for a second. */
  async slowRedis(): Promise<void> {
    await this.onRedis((redis) => redis.call('CLIENT', 'PAUSE', '1000', 'ALL'));
  }

  /** The media folder cannot be written to for a second and a half. */
  async losePictureFolder(): Promise<void> {
    const media = join(this.folder, 'data', 'media');
    const aside = `${media}-aside`;
    renameSync(media, aside);
    writeFileSync(media, 'not a folder');
    await sleep(1_500);
    rmSync(media);
    renameSync(aside, media);
  }

  async stop(): Promise<void> {
    await this.database.close();
    await Promise.all([this.proxies.postgres?.close(), this.proxies.redis?.close()]);
    await Promise.all([this.postgres.stop(), this.redis?.kill()]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async onRedis(work: (redis: Redis) => Promise<unknown>): Promise<void> {
    if (!this.redis) return;
    const redis = new Redis(this.redis.url, { maxRetriesPerRequest: 1, retryStrategy: null });
    redis.on('error', () => undefined);
    await work(redis).catch(() => undefined);
    redis.disconnect();
  }
}
