import { createMediaStore, type MediaStore } from '#media';
import {
  Database,
  type EmbeddedPostgres,
  Health,
  loadSecrets,
  logger,
  MetricsPage,
  migrate,
  NameResolver,
  pendingMigrations,
  type PostgresWait,
  type ReservedPort,
  reservePort,
  SafeFetcher,
  type Secrets,
  SecretSealer,
  startEmbeddedPostgres,
  startOpsServer,
  waitForPostgres,
} from '#platform';
import { type AdminToken, loadAdminToken, type ShowSecret } from './admin-token.js';
import { readProcessConfig, type ProcessConfig } from './config/process-config.js';
import { type Failpoints, noFailpoints } from './failpoints/failpoints.js';
import { platformChecks } from './health/platform-checks.js';
import { platformSources } from './metrics/platform-sources.js';
import { createTaskNotifier } from './queue/create-task-notifier.js';
import type { TaskNotifier } from './queue/task-notifier.js';
import { createTaskSignals } from './task-signals/create-task-signals.js';
import type { TaskSignals } from './task-signals/task-signals.js';

const log = logger('platform');

/** The outside world as one process of the gateway sees it. */
export interface Platform {
  readonly config: ProcessConfig;
  readonly secrets: Secrets;
  readonly sealer: SecretSealer;
  /** What opens the admin API. */
  readonly adminToken: AdminToken;
  /** Does nothing; crash tests put in its place what ends the process. */
  readonly failpoints: Failpoints;
  readonly database: Database;
  readonly notifier: TaskNotifier;
  /** Tells waiting clients of every process that tasks have changed. */
  readonly taskSignals: TaskSignals;
  readonly store: MediaStore;
  readonly fetcher: SafeFetcher;
  /** Whether this process should be given work. */
  readonly health: Health;
  /** What `/metrics` answers; modules add their sources. */
  readonly metrics: MetricsPage;
  /** True when Postgres was started by this process, so that nothing outside was needed. */
  readonly embedded: boolean;
  /** Lets go of everything, the queues within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** The database is older than this version; `npm run migrate` fixes it. */
export class PendingMigrationsError extends Error {
  constructor(readonly names: readonly string[]) {
    super(
      `DATABASE_URL lacks ${names.length} migration(s) of this version (the first is ${names[0]}): run "npm run migrate" first.`,
    );
    this.name = 'PendingMigrationsError';
  }
}

/**
 * Opens everything the gateway needs from outside, starting what is not given: without DATABASE_URL an embedded
 * Postgres, without REDIS_URL queues in Postgres, without MEDIA_S3_BUCKET a local folder.
 *
 * @throws ConfigError, PortError, EmbeddedPostgresError, PendingMigrationsError: each says in one line what to do.
 */
export async function openPlatform(
  config: ProcessConfig = readProcessConfig(),
  showSecret: ShowSecret = () => undefined,
): Promise<Platform> {
  const opsPort = await reserveOpsPort(config);
  try {
    return await openWith(config, opsPort, showSecret);
  } catch (error) {
    opsPort?.close();
    throw error;
  }
}

/** Before anything is stored. */
async function reserveOpsPort({ ops }: ProcessConfig): Promise<ReservedPort | undefined> {
  if (ops.OPS_PORT === undefined) return undefined;
  return reservePort({ port: ops.OPS_PORT, host: ops.OPS_HOST, portVariable: 'OPS_PORT', hostVariable: 'OPS_HOST' });
}

async function openWith(
  config: ProcessConfig,
  opsPort: ReservedPort | undefined,
  showSecret: ShowSecret,
): Promise<Platform> {
  const secrets = await loadSecrets(config.server);
  const postgres = config.database.DATABASE_URL ? undefined : await startEmbeddedPostgres(config.server.DATA_DIR);
  try {
    return await openOn(config, { secrets, postgres, opsPort, showSecret });
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

const logWait = (wait: PostgresWait): void => log.warn('postgres.awaited', { ...wait });

/** What was opened first. */
interface Groundwork {
  readonly secrets: Secrets;
  readonly postgres: EmbeddedPostgres | undefined;
  readonly opsPort: ReservedPort | undefined;
  readonly showSecret: ShowSecret;
}

async function openOn(
  config: ProcessConfig,
  { secrets, postgres, opsPort, showSecret }: Groundwork,
): Promise<Platform> {
  const databaseUrl = postgres?.url ?? config.database.DATABASE_URL ?? '';
  if (postgres) await migrate(databaseUrl);
  else await waitForPostgres(databaseUrl, config.database.START_WAIT_SECONDS, logWait);
  const database = new Database(databaseUrl, config.database);
  const pending = await pendingMigrations(database);
  if (pending.length > 0) throw new PendingMigrationsError(pending);
  const notifier = await createTaskNotifier(config.queue, databaseUrl);
  const taskSignals = createTaskSignals(config.queue, databaseUrl, database);
  const store = await createMediaStore(config.media, {
    dataDirectory: config.server.DATA_DIR,
    publicBaseUrl: () => publicBaseUrl(config),
  });
  const names = new NameResolver({ servers: config.names.OUTBOUND_NAME_SERVERS });
  const fetcher = new SafeFetcher({
    allow: config.media.MEDIA_FETCH_ALLOW ?? [],
    resolve: (host, share) => names.resolve(host, share),
  });
  const health = new Health(platformChecks({ database, notifier, store }));
  const metrics = new MetricsPage();
  metrics.add(...platformSources(database, notifier, health));
  const adminToken = await loadAdminToken(config.server, postgres !== undefined, showSecret);
  // Last, so that no request comes before the caller reports that the process is still starting.
  const ops = opsPort && startOpsServer(opsPort, { health, metrics });
  return {
    config,
    secrets,
    database,
    notifier,
    taskSignals,
    store,
    fetcher,
    health,
    metrics,
    sealer: new SecretSealer(secrets),
    adminToken,
    failpoints: noFailpoints,
    embedded: postgres !== undefined,
    close: async (graceMs) => {
      await ops?.close();
      await Promise.all([notifier.close(graceMs), taskSignals.close()]);
      await Promise.all([store.close(), fetcher.close()]);
      await database.close();
      await postgres?.stop();
    },
  };
}

/** The address clients use, without a slash at the end. */
export const publicBaseUrl = ({ server }: ProcessConfig): string =>
  (server.PUBLIC_BASE_URL ?? `http://${server.HOST === '0.0.0.0' ? '127.0.0.1' : server.HOST}:${server.PORT}`).replace(
    /\/+$/,
    '',
  );
