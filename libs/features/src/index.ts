export { AccessModule } from './accounts/access.module.js';
export { AccessService, KEY_CACHE_MS } from './accounts/access.service.js';
export { AccountsService } from './accounts/accounts.service.js';
export { AdminModule } from './accounts/admin.module.js';
export type { Operator } from './accounts/audit.js';
export type { Caller } from './accounts/caller.js';
export { expectAllowedAddress, isAddressBlock } from './accounts/client-address.js';
export { createKey } from './accounts/create-key.js';
export { expectScope, KEY_SCOPES, type KeyScope, onlyOwnKey } from './accounts/key-scopes.js';
export { type KeySettings, KeysService } from './accounts/keys.service.js';
export { FIRST_ACCOUNT_ID, type FirstKey, SeedService } from './accounts/seed.service.js';
export { AllowanceLedger } from './billing/ledger/allowance-ledger.js';
export { type Balance, BalanceService, type KeyBalance } from './billing/ledger/balance.service.js';
export { type Funding, FundsService } from './billing/ledger/funds.service.js';
export { LedgerModule } from './billing/ledger/ledger.module.js';
export { type ReconciliationReport, ReconciliationService } from './billing/ledger/reconciliation.service.js';
export { RecordsService } from './billing/ledger/records.service.js';
export { RequestLedger } from './billing/ledger/request-ledger.js';
export { applyPricesFile } from './billing/prices/apply-prices-file.js';
export { checkPrices, type DatedPrice } from './billing/prices/check-prices.js';
export { ModelsOnSale } from './billing/prices/models-on-sale.js';
export { exportPrices, importPrices } from './billing/prices/price-commands.js';
export { type ImportedPrices, PriceImport } from './billing/prices/price-import.js';
export { type ListedPrice, PriceList } from './billing/prices/price-list.js';
export { PricesService } from './billing/prices/prices.service.js';
export { fieldName, type FilePrice, readPricesFile } from './billing/prices/read-prices-file.js';
export { seedExamplePrices } from './billing/prices/seed-prices.js';
export { UsageDaysService } from './billing/usage/usage-days.service.js';
export { USAGE_GROUPS, type UsageGroup, type UsageQuery } from './billing/usage/usage-sums.js';
export { UsageModule } from './billing/usage/usage.module.js';
export { UsageService } from './billing/usage/usage.service.js';
export { IdempotencyModule } from './idempotency/idempotency.module.js';
export {
  type Attempt,
  IdempotencyService,
  type KeptAnswer,
  RENEW_EVERY_MS,
} from './idempotency/idempotency.service.js';
export { GuessLimiter } from './limits/guess-limiter.js';
export { OPERATOR_GUESSES } from './limits/limit-tokens.js';
export { LimitsModule } from './limits/limits.module.js';
export { OpenTasks } from './limits/open-tasks.js';
export { OpenWaits } from './limits/open-waits.js';
export { RateLimits } from './limits/rate-limits.js';
export { MaintenanceService } from './maintenance/maintenance.service.js';
export { DeliverySearchService, type OperatorDelivery } from './operations/delivery-search.js';
export { fleetSources } from './operations/fleet-sources.js';
export { FAILED_DELIVERIES_COUNTED, type FleetState, FleetStateService } from './operations/fleet-state.service.js';
export { OperationsModule } from './operations/operations.module.js';
export type { OperatorTask } from './operations/operator-task.js';
export { noteFacts, openFacts, takeFacts } from './operations/request-facts.js';
export { type OperatorEntry, type TaskHistory, TaskOverview, type TimelineEntry } from './operations/task-overview.js';
export { TaskRemediesService } from './operations/task-remedies.service.js';
export { type TaskSearch, TaskSearchService } from './operations/task-search.js';
export { WorkerHeartbeat } from './operations/worker-heartbeat.js';
export { WorkersService, type WorkerView } from './operations/workers.service.js';
export type { Page, PageRequest } from './paging/page.js';
export { CancelTaskService } from './tasks/cancel/cancel-task.service.js';
export { CancellationModule } from './tasks/cancel/cancellation.module.js';
export { EventsModule } from './tasks/events/events.module.js';
export { FollowTaskService } from './tasks/events/follow-task.service.js';
export { TaskWatch } from './tasks/events/task-watch.js';
export { ReadTaskService, type VersionedTask } from './tasks/read/read-task.service.js';
export { readTaskListQuery } from './tasks/read/task-list.js';
export {
  type TaskNeedingAttention,
  TasksNeedingAttentionService,
  type Troubles,
} from './tasks/read/tasks-needing-attention.service.js';
export { createMediaWorker, type MediaWorker } from './tasks/run/create-task-worker.js';
export { Loop } from './tasks/run/loop.js';
export { type AcceptedTask, type SubmissionContext, SubmissionService } from './tasks/submit/submission.service.js';
export { CLAIM_DUE } from './tasks/task-statements.js';
export { TasksModule } from './tasks/tasks.module.js';
export { CallerPresence } from './text/caller-presence.js';
export { geminiArrayStyle, geminiEventStyle } from './text/gemini/gemini-style.js';
export { ItemStore } from './text/item-store.js';
export { messagesStyle } from './text/messages/messages-style.js';
export { checkedBody } from './text/refusals.js';
export { resolveReferences } from './text/resolve-references.js';
export { responsesStyle } from './text/responses/responses-style.js';
export type { StreamPiece, TextStream } from './text/text-stream.js';
export { TextUpstreams } from './text/text-upstreams.js';
export { TextModule } from './text/text.module.js';
export { type TextOrder, TextService } from './text/text.service.js';
export { UpstreamHealth } from './text/upstream-health.js';
export type { UpstreamView } from './text/upstreams/upstream-view.js';
export { UpstreamsService } from './text/upstreams/upstreams.service.js';
export { createWebhookSender } from './webhooks/create-webhook-sender.js';
export { SigningSecretService } from './webhooks/signing-secret.service.js';
export { WebhookDeliveriesService, type WebhookDeliveryView } from './webhooks/webhook-deliveries.service.js';
export { WebhookEndpointsService, type WebhookEndpointView } from './webhooks/webhook-endpoints.service.js';
export { WebhooksModule } from './webhooks/webhooks.module.js';
