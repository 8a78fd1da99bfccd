import { createMediaStore, type MediaStore } from '#media';
import {
  apiProcesses,
  Database,
  embeddedDatabaseUrl,
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  Health,
  type HealthCheck,
  loadSecrets,
  logger,
  MetricsPage,
  migrate,
  NamedError,
  NameResolver,
  pendingMigrations,
  type PostgresWait,
  RedisNotes,
  type ReservedPort,
  reservePort,
  SafeFetcher,
  type Secrets,
  SecretSealer,
  type SharedNotes,
  startEmbeddedPostgres,
  startOpsServer,
  waitForPostgres,
} from '#platform';
import { type AdminToken, loadAdminToken, type ShowSecret } from './admin-token.js';
import { parentProcess } from './children/parent-process.js';
import { type ProcessConfig, readProcessConfig } from './config/process-config.js';
import { type Failpoints, noFailpoints } from './failpoints/failpoints.js';
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
  /** True when Postgres was started by this process or its parent, so that nothing outside was needed. */
  readonly embedded: boolean;
  /** True when no other process works on the same database, so that what would be shared is kept in memory. */
  readonly isOnlyProcess: boolean;
  /** Opens notes that processes share, through Redis or through their parent; undefined where neither is there. */
  readonly sharedNotes: (kind: string) => SharedNotes | undefined;
  /** Lets go of everything, the queues within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** The database is older than this version; `npm run migrate` fixes it. */
export class PendingMigrationsError extends NamedError {
  constructor(readonly names: readonly string[]) {
    super(
      `DATABASE_URL lacks ${names.length} migration(s) of this version (the first is ${names[0]}): run "npm run migrate" first.`,
    );
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

/** Before anything is stored. A child has none: its parent tells of it. */
export async function reserveOpsPort({ ops }: ProcessConfig): Promise<ReservedPort | undefined> {
  if (ops.OPS_PORT === undefined || parentProcess) return undefined;
  return reservePort({ port: ops.OPS_PORT, host: ops.OPS_HOST, portVariable: 'OPS_PORT', hostVariable: 'OPS_HOST' });
}

async function openWith(
  config: ProcessConfig,
  opsPort: ReservedPort | undefined,
  showSecret: ShowSecret,
): Promise<Platform> {
  const secrets = await loadSecrets(config.server);
  const postgres = config.database.DATABASE_URL ? undefined : await openEmbedded(config);
  try {
    return await openOn(config, { secrets, postgres, opsPort, showSecret });
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

/** Beyond its pool, a process has connections for queues and signals. */
const OTHER_CONNECTIONS = 12;
/** What Postgres allows by itself, and keeps for whoever looks after it. */
const CONNECTIONS = 100;

/** Starts the embedded Postgres, with room for every process; a child joins the one that its parent runs. */
async function openEmbedded({ server, database }: ProcessConfig): Promise<EmbeddedPostgres> {
  const { DATA_DIR } = server;
  if (!parentProcess) {
    const needed = (1 + apiProcesses(server)) * (database.DATABASE_POOL_SIZE + OTHER_CONNECTIONS);
    return startEmbeddedPostgres(DATA_DIR, { connections: Math.max(CONNECTIONS, needed) });
  }
  const url = embeddedDatabaseUrl(DATA_DIR);
  if (url === undefined) throw new EmbeddedPostgresError(`The embedded Postgres of ${DATA_DIR} does not run.`);
  return { url, adopted: true, stop: () => Promise.resolve() };
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
  if (postgres && !parentProcess) await migrate(databaseUrl);
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
  parentProcess?.observe(health, metrics);
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
    isOnlyProcess: postgres !== undefined && apiProcesses(config.server) === 1,
    sharedNotes: (kind) =>
      config.queue.REDIS_URL === undefined
        ? parentProcess?.notes(kind)
        : new RedisNotes(config.queue.REDIS_URL, config.queue.QUEUE_PREFIX, kind),
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

/** The parts of the platform that readiness depends on. */
interface CheckedPlatform {
  readonly database: Database;
  readonly notifier: TaskNotifier;
  readonly store: MediaStore;
}

/**
 * The checks behind `/readyz` of every process. Reasons say what to check and nothing about where it is. Postgres alone
 * is needed: without the queue wake-ups are lost and tasks are found by the sweep, without the store results wait and are
 * tried again, and text needs neither.
 */
function platformChecks({ database, notifier, store }: CheckedPlatform): HealthCheck[] {
  return [
    { part: 'database', isNeeded: true, check: () => database.unfitness() },
    {
      part: 'migrations',
      isNeeded: true,
      check: async () => {
        const pending = await pendingMigrations(database);
        return pending.length === 0 ? null : `the database lacks ${pending.length} migration(s) of this version`;
      },
    },
    { part: 'queue', isNeeded: false, check: () => notifier.unfitness() },
    { part: 'store', isNeeded: false, check: async () => ((await store.healthy()) ? null : 'files cannot be written') },
  ];
}
