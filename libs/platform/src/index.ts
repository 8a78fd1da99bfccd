export { Batcher, type BatcherOptions } from './batching/batcher.js';
export { SlotList } from './batching/slot-list.js';
export {
  type Admission,
  type BreakerPolicy,
  CircuitBreaker,
  type CircuitPolicy,
  type Circuits,
  FREELY,
  type OpenedCircuit,
  ownPrefix,
} from './circuits/circuit-breaker.js';
export { Cooldowns } from './circuits/cooldowns.js';
export { backoffMs, backoffSql } from './clock/backoff.js';
export { type Clock, systemClock } from './clock/clock.js';
export { PeriodicTask } from './clock/periodic-task.js';
export { asAbortSignal, StopSource } from './clock/stop-source.js';
export { abortAfter, TimeoutError, timeIsUp, within, withinTime } from './clock/time-limit.js';
export { nextTurn, Turns } from './clock/turns.js';
export { parseYamlFile } from './config/checked-yaml.js';
export { renderConfigTable, renderEnvironmentExample, replaceConfigTable } from './config/config-docs.js';
export { fillReferences } from './config/environment-reference.js';
export { ruleOf } from './config/field-rule.js';
export { ConfigError, type Environment, loadConfig, loadEnvironmentFile } from './config/load-config.js';
export { explainMisspelt, misspeltVariables } from './config/misspelt.js';
export { readTogether, type SettingsOf, type SettingsReaders } from './config/read-together.js';
export { ServerConfig } from './config/server.config.js';
export { fieldsOf, inheritedNameIn, optionalFieldsOf, unknownFieldRule } from './config/unknown-field.js';
export { type ConfigClass, configClasses, Switch, Variable, variablesOf } from './config/variable.js';
export { createCooldowns } from './cooldowns/create-cooldowns.js';
export { RedisCooldownStore } from './cooldowns/redis-cooldown-store.js';
export { makeDataFolder } from './data-folder.js';
export { AccountShares } from './database/account-shares.js';
export { BoundedClient } from './database/bounded-client.js';
export { BoundedPool } from './database/bounded-pool.js';
export {
  isConnectionError,
  isUnfitError,
  isUnwritableText,
  REQUEST_RETRY_MS,
  REQUEST_WAIT_MS,
  retryOnConnectionError,
} from './database/connection-errors.js';
export { DatabaseConfig } from './database/database.config.js';
export { type AccountDatabase, Database, type Statement, type StatementRunner } from './database/database.js';
export { embeddedDatabaseUrl } from './database/embedded-postgres-address.js';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './database/embedded-postgres.js';
export type {
  Account,
  ApiKey,
  Price,
  Prisma,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
} from './database/generated/client.js';
export { repeatOnLockConflict } from './database/lock-conflict.js';
export { migrate, pendingMigrations } from './database/migrate.js';
export { migrationNames, MIGRATIONS_FOLDER } from './database/migrations-folder.js';
export type { ModelTransaction } from './database/model-client.js';
export { brokeConstraint } from './database/model-errors.js';
export { mayStillBeWritten } from './database/open-writers.js';
export { LongText } from './database/paced-sends.js';
export { type PostgresWait, waitForPostgres } from './database/wait-for-postgres.js';
export { InterimResponses } from './floods/interim-responses.js';
export { PieceCount } from './floods/piece-count.js';
export { Health, type HealthCheck, type Liveness, type Readiness, READINESS_STATUSES } from './health/health.js';
export { randomId, timeOrderedId } from './identifiers/time-ordered-id.js';
export { BodyBytes } from './json/body-bytes.js';
export { JsonTexts, parseBounded, TooMuchStructure } from './json/bounded-json.js';
export { DIFFERENT_KEYS_MAX, endOfString, hasManyDifferentKeys, isBeforeColon } from './json/json-keys.js';
export { charactersLeft, endOfPiece, jsonBytes, jsonPieces } from './json/json-pieces.js';
export { CONVERSATION_JSON, JsonScan } from './json/json-scan.js';
export type { JsonBounds } from './json/json-structure.js';
export { parsedJson, textOf } from './json/json-text.js';
export { parsedParts } from './json/long-strings.js';
export { parsedObject } from './json/parsed-object.js';
export { textCharactersIn } from './json/text-characters.js';
export { wellFormedJson } from './json/well-formed-json.js';
export { withLogContext } from './log/log-context.js';
export { LogConfig } from './log/log.config.js';
export { announce, configureLog, eventLogger, logger } from './log/logger.js';
export { NestLogger } from './log/nest-logger.js';
export { logProcessEvents } from './log/process-events.js';
export { type MetricSource, MetricsPage } from './metrics/metrics-page.js';
export { signals } from './metrics/signals.js';
export { NameResolver } from './names/name-resolver.js';
export { NamesConfig } from './names/names.config.js';
export { ServerNames, serverNames } from './names/server-names.js';
export { startOpsServer } from './ops/ops-server.js';
export { OpsConfig } from './ops/ops.config.js';
export {
  createRateCounter,
  RATE_WINDOW_SECONDS,
  type RateCount,
  type RateCounter,
} from './rate-limits/rate-counter.js';
export { RateLimitsConfig } from './rate-limits/rate-limits.config.js';
export { QueueConfig } from './redis/queue.config.js';
export { parseRedisAddress } from './redis/redis-address.js';
export { BLOCKING_WAIT_SECONDS, connect, WAIT_FOR_SERVER, FAIL_FAST } from './redis/redis-connection.js';
export { type PortSettings, type ReservedPort, reservePort } from './reserve-port.js';
export { allowListProblem } from './safe-fetch/allow-list.js';
export { contentRange } from './safe-fetch/content-range.js';
export { FetchFailed, FetchRefused, type FetchRefusedCode, mayPass, RemoteStatus } from './safe-fetch/fetch-errors.js';
export { ForwardedUrls } from './safe-fetch/forwarded-urls.js';
export { type SafeAnswer, SafeFetcher } from './safe-fetch/safe-fetcher.js';
export { SecretSealer } from './secret-sealer.js';
export { loadSecrets, type Secrets } from './secrets.js';
export { observeUpstream } from './tracing/observe-upstream.js';
export { queueTelemetry } from './tracing/queue-telemetry.js';
export { enterSpan } from './tracing/span.js';
export { TracingConfig } from './tracing/tracing.config.js';
export { startTracing, type Tracing } from './tracing/tracing.js';
export { VERSION } from './version.js';
