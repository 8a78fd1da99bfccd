export { AdminToken, renewAdminToken } from './admin-token.js';
export { backUp, restore } from './backup/backup-place.js';
export { type Clock, systemClock } from './clock/clock.js';
export { abortAfter, withinTime } from './clock/time-limit.js';
export { nextTurn, Turns } from './clock/turns.js';
export { within } from './clock/within.js';
export { Coalescer, type CoalescerOptions } from './coalesce/coalescer.js';
export { parseYamlFile } from './config/checked-yaml.js';
export { renderConfigTable, renderEnvironmentExample, replaceConfigTable } from './config/config-docs.js';
export { fillReferences } from './config/environment-reference.js';
export { ruleOf } from './config/field-rule.js';
export { ConfigError, type Environment, loadConfig, loadEnvironmentFile } from './config/load-config.js';
export { type ProcessConfig, readProcessConfig } from './config/process-config.js';
export { SalesConfig, sandboxSells } from './config/sales.config.js';
export { ServerConfig } from './config/server.config.js';
export { configClasses, Variable, variablesOf } from './config/variable.js';
export { Cooldowns } from './cooldowns/cooldowns.js';
export { createCooldowns } from './cooldowns/create-cooldowns.js';
export { CRASH_POINTS, type CrashPoint, type CrashPoints } from './crash-points/crash-points.js';
export {
  isConnectionError,
  isUnfitError,
  REQUEST_RETRY_MS,
  REQUEST_WAIT_MS,
  retryOnConnectionError,
} from './database/connection-errors.js';
export { DatabaseConfig } from './database/database.config.js';
export { Database, type Statement, type StatementRunner } from './database/database.js';
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
export { migrate } from './database/migrate.js';
export type { ModelTransaction } from './database/model-client.js';
export { brokeConstraint } from './database/model-errors.js';
export { mayStillBeWritten } from './database/open-writers.js';
export { waitForPostgres } from './database/wait-for-postgres.js';
export { withDatabase } from './database/with-database.js';
export { Health, type Liveness, type Readiness } from './health/health.js';
export { VERSION } from './health/version.js';
export { randomId, timeOrderedId } from './identifiers/time-ordered-id.js';
export { isShort, jsonBytes, jsonPieces } from './json/json-pieces.js';
export { withLogContext } from './log/log-context.js';
export { configureLog, eventLogger, logger } from './log/logger.js';
export { NestLogger } from './log/nest-logger.js';
export { decodedBase64 } from './media-inspect/base64.js';
export { BufferSource } from './media-inspect/byte-source.js';
export { checkInlineReferences, checkReferences } from './media-inspect/check-references.js';
export { isDataUri } from './media-inspect/data-uri.js';
export { inspectMedia } from './media-inspect/inspect-media.js';
export { InvalidMedia } from './media-inspect/invalid-media.js';
export { copyToStore } from './media-store/copy-to-store.js';
export { extensionOf } from './media-store/media-key.js';
export { type MediaStore, MediaStoreError, type StoredFile } from './media-store/media-store.js';
export { inspectStoredFile } from './media-store/stored-source.js';
export type { MetricSource } from './metrics/metrics-page.js';
export { signals } from './metrics/signals.js';
export { onPlatform } from './on-platform.js';
export { openPlatform, type Platform, publicBaseUrl } from './platform.js';
export { MEDIA_STORE, PLATFORM, PlatformModule, TASK_DOORBELL } from './platform.module.js';
export { createTaskDoorbell } from './queue/create-task-doorbell.js';
export type { DoorbellQueue, Listening, TaskDoorbell } from './queue/task-doorbell.js';
export {
  createRateCounter,
  RATE_WINDOW_SECONDS,
  type RateCount,
  type RateCounter,
} from './rate-limits/rate-counter.js';
export { QueueConfig } from './redis/queue.config.js';
export { type PortWish, type ReservedPort, reservePort } from './reserve-port.js';
export { type RunningProcess, runProcess, tellPeople } from './run-process.js';
export { FetchRefused } from './safe-fetch/fetch-errors.js';
export { ForwardedUrls } from './safe-fetch/forwarded-urls.js';
export { SafeFetcher } from './safe-fetch/safe-fetcher.js';
export { SecretSealer } from './secret-sealer.js';
export type { Secrets } from './secrets.js';
export type { TaskSignals } from './task-signals/task-signals.js';
export { observeUpstream } from './tracing/observe-upstream.js';
export { enterSpan } from './tracing/span.js';
