import { MediaStoreConfig } from '#media';
import {
  type ConfigClass,
  ConfigError,
  DatabaseConfig,
  type Environment,
  loadConfig,
  LogConfig,
  NamesConfig,
  OpsConfig,
  QueueConfig,
  RateLimitsConfig,
  ServerConfig,
  TracingConfig,
} from '#platform';
import { FilesConfig } from './files.config.js';
import { RetentionConfig } from './retention.config.js';
import { SalesConfig } from './sales.config.js';
import { missingOfSingleSignOn, SingleSignOnConfig } from './single-sign-on.config.js';
import { WorkerConfig } from './worker.config.js';

/** The configuration of one process, slice by slice; each slice belongs to the folder that uses it. */
export interface ProcessConfig {
  readonly server: ServerConfig;
  readonly database: DatabaseConfig;
  readonly queue: QueueConfig;
  readonly media: MediaStoreConfig;
  readonly log: LogConfig;
  readonly worker: WorkerConfig;
  readonly ops: OpsConfig;
  readonly tracing: TracingConfig;
  readonly limits: RateLimitsConfig;
  readonly retention: RetentionConfig;
  readonly names: NamesConfig;
  readonly sales: SalesConfig;
  readonly singleSignOn: SingleSignOnConfig;
  readonly files: FilesConfig;
}

/**
 * Reads and checks every slice, so that all mistakes are reported at once.
 *
 * @throws ConfigError with one line for each wrong variable.
 */
export function readProcessConfig(environment?: Environment): ProcessConfig {
  const problems: string[] = [];
  const read = <Config extends object>(configClass: ConfigClass<Config>): Config => {
    try {
      return loadConfig(configClass, environment);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return new configClass();
    }
  };
  const config = {
    server: read(ServerConfig),
    database: read(DatabaseConfig),
    queue: read(QueueConfig),
    media: read(MediaStoreConfig),
    log: read(LogConfig),
    worker: read(WorkerConfig),
    ops: read(OpsConfig),
    tracing: read(TracingConfig),
    limits: read(RateLimitsConfig),
    retention: read(RetentionConfig),
    names: read(NamesConfig),
    sales: read(SalesConfig),
    singleSignOn: read(SingleSignOnConfig),
    files: read(FilesConfig),
  };
  const isServerRead = !problems.some((problem) =>
    Object.keys(config.server).some((name) => problem.startsWith(`${name} `)),
  );
  if (isServerRead && config.database.DATABASE_URL && !config.server.KEY_PEPPER) {
    problems.push('KEY_PEPPER must be set when DATABASE_URL is: every replica needs the same one (it is not set)');
  }
  const { ADMIN_TOKEN: admin } = config.server;
  if (admin !== undefined && admin === config.ops.OPS_VIEWER_TOKEN) {
    problems.push('OPS_VIEWER_TOKEN must differ from ADMIN_TOKEN: otherwise a read-only viewer would be an operator');
  }
  const missing = missingOfSingleSignOn(config.singleSignOn);
  if (missing !== undefined) problems.push(missing);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}
