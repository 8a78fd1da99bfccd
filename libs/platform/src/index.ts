export { createMediaStore, type MediaStoreSurroundings } from './media-store/create-media-store.js';
export * from './media-store/copy-to-store.js';
export { extensionOf } from './media-store/media-key.js';
export { MediaStoreConfig } from './media-store/media-store-config.js';
export * from './media-store/media-store.js';
export { childEnvironment } from './config/child-environment.js';
export * from './config/config-docs.js';
export { ruleOf } from './config/field-rule.js';
export { explainMisspelt, type MisspeltVariable, misspeltVariables } from './config/misspelt.js';
export * from './config/load-config.js';
export * from './config/server.config.js';
export { SalesConfig, sandboxSells } from './config/sales.config.js';
export { parseYamlFile, type YamlFile } from './config/checked-yaml.js';
export * from './config/variable.js';
export { DatabaseConfig } from './database/database.config.js';
export * from './database/embedded-postgres-error.js';
export * from './database/embedded-postgres.js';
export * from './log/log.config.js';
export { QueueConfig } from './queue/queue.config.js';
export {
  FetchFailed,
  type FetchFailedCode,
  FetchRefused,
  type FetchRefusedCode,
  RemoteStatus,
} from './safe-fetch/fetch-errors.js';
export * from './safe-fetch/safe-fetcher.js';
export { ForwardedUrls, type ResolveName } from './safe-fetch/forwarded-urls.js';
export * from './clock/time-limit.js';
export * from './clock/clock.js';
export { within } from './clock/within.js';
export {
  isConnectionError,
  isUnfitError,
  REQUEST_RETRY_MS,
  REQUEST_WAIT_MS,
  retryOnConnectionError,
} from './database/connection-errors.js';
export { Database, type Statement, type StatementRunner } from './database/database.js';
export { brokeConstraint } from './database/model-errors.js';
export type { Models, ModelTransaction } from './database/model-client.js';
export type {
  Account,
  ApiKey,
  Price,
  Prisma,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
} from './database/generated/client.js';
export { waitForPostgres } from './database/wait-for-postgres.js';
export { migrate, pendingMigrations } from './database/migrate.js';
export { mayStillBeWritten } from './database/open-writers.js';
export { MigrationError } from './database/schema-engine.js';
export { logContext, type LogContext, withLogContext } from './log/log-context.js';
export { configureLog, type EventFields, eventLogger, type LogFields, type Logger, logger } from './log/logger.js';
export type { LogDestination } from './log/log-destination.js';
export * from './config/read-together.js';
export { PortError, type PortWish, type ReservedPort, reservePort } from './reserve-port.js';
export { makeDataFolder } from './data-folder.js';
export { loadSecrets, type Secrets } from './secrets.js';
export { withDatabase } from './database/with-database.js';
export { NestLogger } from './log/nest-logger.js';
export { redact, redactText, REDACTED } from './log/redact.js';
export { BufferSource, type ByteSource } from './media-inspect/byte-source.js';
export * from './media-inspect/check-references.js';
export { type DataUriRules, decodeDataUri, type DecodedDataUri, isDataUri } from './media-inspect/data-uri.js';
export { inspectMedia } from './media-inspect/inspect-media.js';
export { type BrokenMediaRule, InvalidMedia } from './media-inspect/invalid-media.js';
export * from './media-inspect/media-header.js';
export { MediaUnreadable, type MediaUnreadableCode } from './media-inspect/media-unreadable.js';
export { createCooldowns } from './cooldowns/create-cooldowns.js';
export { type CooldownState, Cooldowns } from './cooldowns/cooldowns.js';
export { Coalescer, type CoalescerOptions } from './coalesce/coalescer.js';
export { type ProcessConfig, readProcessConfig } from './config/process-config.js';
export { inspectStoredFile } from './media-store/stored-source.js';
export * from './on-platform.js';
export * from './platform.module.js';
export * from './platform.js';
export * from './run-process.js';
export { createTaskDoorbell } from './queue/create-task-doorbell.js';
export * from './queue/task-doorbell.js';
export { randomId, timeOrderedId } from './identifiers/time-ordered-id.js';
export { Health, type HealthCheck, type Liveness, type PartHealth, type Readiness } from './health/health.js';
export { VERSION } from './health/version.js';
export { MetricsPage, type MetricSource } from './metrics/metrics-page.js';
export { metricsRegistry } from './metrics/registry.js';
export { signals } from './metrics/signals.js';
export { OpsConfig } from './ops/ops.config.js';
export { observeUpstream, type UpstreamOperation } from './tracing/observe-upstream.js';
export { currentTraceId, enterSpan, inSpan, type SpanSubject } from './tracing/span.js';
export { TracingConfig } from './tracing/tracing.config.js';
export { CRASH_POINTS, type CrashPoint, type CrashPoints } from './crash-points/crash-points.js';
export { SecretSealer } from './secret-sealer.js';
export { type ChangedTasks, type TaskSignals } from './task-signals/task-signals.js';
export { type FilledText, fillReferences } from './config/environment-reference.js';
export * from './rate-limits/rate-counter.js';
export { AdminToken, loadAdminToken, renewAdminToken } from './admin-token.js';
export { BackupError, type BackupManifest } from './backup/backup.js';
export { backUp, restore } from './backup/backup-place.js';
