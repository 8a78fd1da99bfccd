import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Database, DatabaseConfig, migrate, type EmbeddedPostgres, startEmbeddedPostgres } from '#platform';
import {
  FaultProxy,
  type NetworkFault,
  type RedisServer,
  type S3Server,
  startRedisServer,
  startS3Server,
} from '#testing';
import { dropPackets } from './packet-drop.js';
import { filesOfBucket, filesOfFolder, type StoredFiles } from './stored-files.js';

/** Which backend the queues live on. */
export type Backend = 'redis' | 'postgres';

/** Where the files of tasks lie. */
export type Store = 'folder' | 's3';

/** The servers that the network can come between. */
export type Server = 'postgres' | 'redis' | 's3';

/** Longer than every single wait of a request. */
const SILENCE_MS = 4_000;

/** A real server settings choice: commits wait for the disk, so that a crash of Postgres proves something. */
const SETTINGS = { max_connections: '200', shared_buffers: '64MB' };

/** Waits longer than a request does. */
const outlast = (): Promise<void> => sleep(SILENCE_MS);

/** The servers that a gateway stands on, and what can befall them. */
export class Services {
  private constructor(
    readonly folder: string,
    private postgres: EmbeddedPostgres,
    private redis: RedisServer | undefined,
    private readonly s3: S3Server | undefined,
    private readonly proxies: Readonly<Record<Server, FaultProxy | undefined>>,
  ) {
    // Emptying tables waits for the locks of processes that have just died, and for the disk.
    const ours = { DATABASE_POOL_SIZE: 4, DATABASE_ANSWER_TIMEOUT_MS: 60_000 };
    this.database = new Database(postgres.url, Object.assign(new DatabaseConfig(), ours));
    this.files = s3 ? filesOfBucket(s3) : filesOfFolder(join(folder, 'data'));
  }

  /** Read by us, not over the network that fails. */
  readonly database: Database;
  readonly files: StoredFiles;

  static async start(backend: Backend, store: Store): Promise<Services> {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-chaos-'));
    const postgres = await startEmbeddedPostgres(folder, { settings: SETTINGS });
    await migrate(postgres.url);
    const redis = backend === 'redis' ? await startRedisServer() : undefined;
    if (backend === 'redis' && !redis) throw new Error('redis-server is missing: install it to run this backend');
    const s3 = store === 's3' ? await startS3Server() : undefined;
    const proxies = {
      postgres: await FaultProxy.start(postgres.url),
      redis: redis && (await FaultProxy.start(redis.url)),
      s3: s3 && (await FaultProxy.start(s3.endpoint)),
    };
    return new Services(folder, postgres, redis, s3, proxies);
  }

  /** What the processes need to find them. */
  environment(): Record<string, string> {
    return {
      DATABASE_URL: this.proxies.postgres?.urlOf(this.postgres.url) ?? '',
      DATABASE_POOL_SIZE: '6',
      SANDBOX_BILLING_ENABLED: 'true',
      DATA_DIR: join(this.folder, 'data'),
      ...(this.redis && { REDIS_URL: this.proxies.redis?.urlOf(this.redis.url) ?? '' }),
      ...(this.s3 && {
        MEDIA_S3_ENDPOINT: this.proxies.s3?.urlOf(this.s3.endpoint).replace(/\/$/, '') ?? '',
        MEDIA_S3_BUCKET: this.s3.bucket,
        MEDIA_S3_ACCESS_KEY_ID: this.s3.accessKeyId,
        MEDIA_S3_SECRET_ACCESS_KEY: this.s3.secretAccessKey,
      }),
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

  /** Postgres is told to stop, which ends every session at once, and is back after a moment. */
  async restartPostgres(): Promise<void> {
    await this.postgres.stop();
    this.postgres = await startEmbeddedPostgres(this.folder, { settings: SETTINGS });
  }

  /** Postgres takes no write for a while, as a standby does that connections still lead to after a failover. */
  async onlyReadPostgres(): Promise<void> {
    await this.setReadOnly('on');
    await outlast();
    await this.setReadOnly('off');
  }

  private async setReadOnly(value: 'on' | 'off'): Promise<void> {
    await this.database.query({ text: `alter system set default_transaction_read_only = ${value}` });
    await this.database.query({ text: 'select pg_reload_conf()' });
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

  /** For a while the network does this between the processes and the server. */
  async disturbNetwork(server: Server, fault: NetworkFault): Promise<void> {
    this.proxies[server]?.set(fault);
    await outlast();
    this.proxies[server]?.set('pass');
  }

  /** Every packet between the processes and the server is lost. */
  async losePackets(server: Server): Promise<void> {
    const port = this.proxies[server]?.port;
    if (port === undefined) return;
    const restore = dropPackets(port);
    await outlast();
    restore();
  }

  async flushRedis(): Promise<void> {
    await this.onRedis((redis) => redis.flushall());
  }

  /** Redis answers no client for a second. */
  async slowRedis(): Promise<void> {
    await this.onRedis((redis) => redis.call('CLIENT', 'PAUSE', '1000', 'ALL'));
  }

  /** The media folder cannot be written to for a second and a half. */
  async loseImageFolder(): Promise<void> {
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
    await Promise.all([this.proxies.postgres?.close(), this.proxies.redis?.close(), this.proxies.s3?.close()]);
    await Promise.all([this.postgres.stop(), this.redis?.kill(), this.s3?.close()]);
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
