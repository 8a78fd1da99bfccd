import { IsNotEmpty, IsOptional, MaxLength } from 'class-validator';
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
  Switch,
  TracingConfig,
  Variable,
} from '#platform';
import { SalesConfig } from './sales.config.js';
import { missingOfSingleSignOn, SingleSignOnConfig } from './single-sign-on.config.js';

/** How much one worker process does at once. */
class WorkerConfig {
  @Variable({
    description: 'Steps of video tasks that one process works on at once.',
    unit: 'tasks',
    between: [1, 1_000],
  })
  VIDEO_WORKER_CONCURRENCY = 16;

  @Variable({
    description: 'Steps of image tasks that one process works on at once.',
    unit: 'tasks',
    between: [1, 1_000],
  })
  IMAGE_WORKER_CONCURRENCY = 16;

  @Variable({
    description: 'How long a task stays with a worker that no longer responds before another takes it over.',
    unit: 'seconds',
    between: [1, 300],
  })
  TASK_LEASE_SECONDS = 15;

  @Variable({
    description:
      'How long running requests to vendors may continue when a worker is asked to stop; their results are paid for. Other work has SHUTDOWN_GRACE_SECONDS.',
    unit: 'seconds',
    between: [1, 3_600],
  })
  CALL_GRACE_SECONDS = 120;
}

const DAYS = { unit: 'days', between: [0, 36_500], note: '0 keeps them forever' } as const;

/** How long what grows with use is kept. Ledger and sums by day stay forever. */
class RetentionConfig {
  @Variable({
    description:
      'How long the usage record of each request is kept; whole months are removed when their last day is older. Sums by day stay.',
    ...DAYS,
  })
  USAGE_RETENTION_DAYS = 400;

  @Variable({
    description:
      'How long audit records are kept, removed by whole months, and with them reconciliation reports and resolved vendor orphans.',
    ...DAYS,
  })
  AUDIT_RETENTION_DAYS = 400;

  @Variable({
    description: 'How long finished webhook deliveries and their attempts are kept. Pending ones always stay.',
    ...DAYS,
  })
  WEBHOOK_LOG_RETENTION_DAYS = 30;

  @Variable({
    description:
      'How long a finished task keeps its input (prompt, inline files) and the vendor links. Its state, files and price stay.',
    ...DAYS,
  })
  TASK_CONTENT_RETENTION_DAYS = 90;

  @Variable({
    description:
      'Storage for the prompts and answers of an account that has them logged; beyond it the oldest are removed. An account is logged only once its owner or an operator has switched that on.',
    unit: 'MiB',
    between: [0, 65_536],
    note: '0 forbids such logs',
  })
  PROMPT_LOG_ACCOUNT_MB = 256;
}

/** What accounts may keep of their own files. */
class FilesConfig {
  @Variable({ description: 'The largest file that may be uploaded for search.', unit: 'MiB', between: [1, 512] })
  FILE_MAX_MB = 64;

  @Variable({
    description: 'The most files that an account may store.',
    unit: 'files',
    between: [0, 1_000_000],
    note: '0 refuses all',
  })
  FILES_PER_ACCOUNT = 1_000;

  @Variable({
    description:
      'Storage for all files of one account. Their search index (chunks, terms, vectors) may use 16 times as much. Stored responses may use the same amount again; beyond it the oldest are removed.',
    unit: 'MiB',
    between: [1, 1_048_576],
  })
  FILES_ACCOUNT_MB = 1_024;

  @Variable({ description: 'How long an uploaded file is kept if the upload has no `expires_after`.', ...DAYS })
  FILE_RETENTION_DAYS = 0;

  @Variable({
    description:
      'The embedding model (one of `embedding_models` of an upstream) for chunks and queries, so that a search compares meanings as well as words. When unset, or while no upstream offers it, only words are compared. If you change the model, all vectors are computed again.',
    example: 'text-embedding-3-small',
  })
  @IsOptional()
  @IsNotEmpty()
  @MaxLength(128)
  FILE_EMBEDDING_MODEL?: string;

  @Variable({
    description:
      'Whether embeddings of chunks and queries are free for the account: with `true` the operator pays, with `false` the account pays the price of the model.',
  })
  @Switch()
  FILE_EMBEDDINGS_FREE = false;
}

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
