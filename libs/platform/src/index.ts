export { Batcher, type BatcherOptions } from './batching/batcher.js';
export { FairSlots, NoSlot, SlotList } from './batching/slots.js';
export {
  type Admission,
  type BreakerPolicy,
  CircuitBreaker,
  type CircuitPolicy,
  type Circuits,
  FREELY,
  isFarAway,
  type OpenedCircuit,
  ownPrefix,
} from './circuits/circuit-breaker.js';
export { Cooldowns } from './circuits/cooldowns.js';
export { type Clock, systemClock } from './clock/clock.js';
export { type Backoff, backoffMs, backoffSql, PeriodicTask } from './clock/periodic-task.js';
export {
  abortAfter,
  asAbortSignal,
  StopSource,
  timeIsUp,
  TimeoutError,
  unlessAborted,
  within,
  withinTime,
} from './clock/time-limit.js';
export { nextTurn, Turns } from './clock/turns.js';
export { fillReferences, parseYamlFile } from './config/checked-yaml.js';
export { childNumber, childSettings } from './config/child-environment.js';
export {
  ConfigError,
  type Environment,
  loadConfig,
  loadEnvironmentFile,
  readTogether,
  ruleOf,
  type SettingsOf,
  type SettingsReaders,
} from './config/load-config.js';
export { explainMisspelt, misspeltVariables } from './config/misspelt.js';
export { apiProcesses, PLAIN_URL, ServerConfig } from './config/server.config.js';
export { fieldsOf, inheritedNameIn, optionalFieldsOf, unknownFieldRule } from './config/unknown-field.js';
export { type ConfigClass, configClasses, Switch, Variable, variablesOf } from './config/variable.js';
export { createCooldowns, RedisCooldownStore } from './cooldowns/cooldown-stores.js';
export { makeDataFolder } from './data-folder.js';
export { AccountShares } from './database/account-shares.js';
export { BoundedClient } from './database/bounded-client.js';
export { BoundedPool } from './database/bounded-pool.js';
export {
  brokeConstraint,
  isConnectionError,
  isUnfitError,
  isUnwritableText,
  repeatOnLockConflict,
  REQUEST_RETRY_MS,
  REQUEST_WAIT_MS,
  retryOnConnectionError,
} from './database/connection-errors.js';
export { DatabaseConfig } from './database/database.config.js';
export {
  type AccountDatabase,
  Database,
  mayStillBeWritten,
  type ModelTransaction,
  type Statement,
  type StatementRunner,
} from './database/database.js';
export { embeddedDatabaseUrl } from './database/embedded-postgres-address.js';
export { EmbeddedPostgresError } from './database/embedded-postgres-error.js';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './database/embedded-postgres.js';
export type { Account, ApiKey, Price, Prisma, WebhookDelivery } from './database/generated/client.js';
export { migrate, pendingMigrations } from './database/migrate.js';
export { LongText } from './database/paced-sends.js';
export { type PostgresWait, waitForPostgres } from './database/wait-for-postgres.js';
export { NameResolver } from './dns/name-resolver.js';
export { NamesConfig } from './dns/names.config.js';
export { ServerNames, serverNames } from './dns/server-names.js';
export {
  Health,
  type HealthCheck,
  type Liveness,
  type PartHealth,
  type Readiness,
  READINESS_STATUSES,
} from './health/health.js';
export { randomId, timeOrderedId } from './identifiers/time-ordered-id.js';
export { BodyBytes } from './json/body-bytes.js';
export { JsonTexts, parseBounded, parsedObject, TooMuchStructure } from './json/bounded-json.js';
export { charactersLeft, endOfPiece, jsonBytes, jsonPieces } from './json/json-pieces.js';
export { CONVERSATION_JSON, JsonScan } from './json/json-scan.js';
export {
  DIFFERENT_KEYS_MAX,
  endOfString,
  hasManyDifferentKeys,
  isBeforeColon,
  type JsonBounds,
} from './json/json-structure.js';
export { parsedJson, parsedParts, textCharactersIn, textOf, wellFormedJson } from './json/json-text.js';
export { jsonValues } from './json/json-values.js';
export {
  announce,
  configureLog,
  eventLogger,
  LogConfig,
  logger,
  logProcessEvents,
  withLogContext,
} from './log/logger.js';
export { NestLogger } from './log/nest-logger.js';
export { lruCache } from './lru-cache.js';
export { type MetricSource, MetricsPage } from './metrics/metrics-page.js';
export { mergedText, mergedTotals, metricsOfProcess, type Series } from './metrics/registry.js';
export { signals } from './metrics/signals.js';
export { CodedError, NamedError } from './named-error.js';
export { OpsConfig, startOpsServer } from './ops/ops-server.js';
export { migrationNames, MIGRATIONS_FOLDER, VERSION } from './package-files.js';
export {
  createRateCounter,
  RATE_WINDOW_SECONDS,
  type RateCount,
  type RateCounter,
  RateLimitsConfig,
} from './rate-limits/rate-counter.js';
export { parseRedisAddress, QueueConfig } from './redis/redis-address.js';
export { BLOCKING_WAIT_SECONDS, connect, FAIL_FAST, WAIT_FOR_SERVER } from './redis/redis-connection.js';
export { RedisNotes, type SharedNotes } from './redis/shared-notes.js';
export { type PortSettings, type ReservedPort, reservePort } from './reserve-port.js';
export { allowListProblem } from './safe-fetch/address-policy.js';
export { FetchFailed, FetchRefused, type FetchRefusedCode, mayPass, RemoteStatus } from './safe-fetch/fetch-errors.js';
export { ForwardedUrls } from './safe-fetch/forwarded-urls.js';
export { contentRange, type SafeAnswer, SafeFetcher } from './safe-fetch/safe-fetcher.js';
export { SecretSealer } from './secret-sealer.js';
export { loadSecrets, type Secrets } from './secrets.js';
export { InterimResponses, PieceCount } from './stream-limits.js';
export { observeUpstream } from './tracing/observe-upstream.js';
export { enterSpan, markFailed } from './tracing/span.js';
export { TracingConfig } from './tracing/tracing.config.js';
export { queueTelemetry, startTracing, type Tracing } from './tracing/tracing.js';
export { beginVendorCall, inToolCall, type VendorCall } from './tracing/vendor-call.js';
