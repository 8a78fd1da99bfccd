export { AccessModule } from './accounts/access.module.js';
export { AccessService, KEY_CACHE_MS } from './accounts/access.service.js';
export { AccountsService } from './accounts/accounts.service.js';
export type { Caller } from './accounts/caller.js';
export { expectAllowedAddress, isAddressBlock } from './accounts/client-address.js';
export { expectScope, KEY_SCOPES, type KeyScope, onlyOwnKey } from './accounts/key-scopes.js';
export { createKey, type KeySettings, KeysService, type KeyView } from './accounts/keys.service.js';
export {
  expectBalanceUnit,
  FIRST_ACCOUNT_ID,
  type FirstKey,
  keepBalanceUnit,
  SeedService,
} from './accounts/seed.service.js';
export { TAG_LIMITS_MAX, type TagLimit, TagLimitsService } from './accounts/tag-limits.service.js';
export { AdminModule } from './admin.module.js';
export type { Operator } from './audit/audit.js';
export { AccountEntriesService, type AccountEntryRow } from './billing/ledger/account-entries.service.js';
export { type Balance, BalanceService, type KeyBalance, type WholeBalance } from './billing/ledger/balance.service.js';
export { type Funding, FundsService } from './billing/ledger/funds.service.js';
export { HoldingProcess, HoldingProcesses } from './billing/ledger/holding-processes.js';
export { LedgerModule } from './billing/ledger/ledger.module.js';
export { type ReconciliationReport, ReconciliationService } from './billing/ledger/reconciliation.service.js';
export { RecordsService } from './billing/ledger/records.service.js';
export { RequestLedger } from './billing/ledger/request-ledger.js';
export { ReservationLedger } from './billing/ledger/reservation-ledger.js';
export { type SpendLimit, SpendLimits } from './billing/ledger/spend-limits.js';
export { LowBalanceNotices } from './billing/low-balance-notices.js';
export { applyPricesFile, type PricesOfFile, readPricesFile } from './billing/prices/apply-prices-file.js';
export { priceName } from './billing/prices/bands.js';
export {
  BAND_MAX,
  type CheckedPrices,
  checkPricesInTurns,
  type DatedPrice,
  ENTRIES_MAX,
  hasBands,
  LIST_ID,
  LISTS_MAX,
  mistakeInName,
  PRICE_UNITS,
  shownTier,
  unsoldIn,
  uselessPrice,
  VARIANT_FORM,
} from './billing/prices/check-prices.js';
export { PriceBook } from './billing/prices/price-book.js';
export { exportPrices, importPrices, priceFileYaml } from './billing/prices/price-commands.js';
export { type ImportedFile, missingText, PriceImport } from './billing/prices/price-import.js';
export { ruleConflictText } from './billing/prices/price-list-import.js';
export { PriceList } from './billing/prices/price-list.js';
export {
  type NewPriceRule,
  type PriceListSummary,
  PriceListsService,
  type PriceListView,
} from './billing/prices/price-lists.service.js';
export { PricePreview } from './billing/prices/price-preview.js';
export type { ListedPrice } from './billing/prices/price-rules.js';
export { belowCostText, PricesBelowCost } from './billing/prices/prices-below-cost.js';
export { type NewPrice, PricesService } from './billing/prices/prices.service.js';
export { seedExamplePrices } from './billing/prices/seed-prices.js';
export { LIST_SOURCES, type ListSource } from './billing/proposals/listed-models.js';
export { type PriceName, PriceNamesService } from './billing/proposals/price-names.service.js';
export {
  type NewProposal,
  PriceProposalsService,
  type ProposalView,
} from './billing/proposals/price-proposals.service.js';
export { PriceSimulation, type Simulated } from './billing/proposals/price-simulation.service.js';
export type { ListPlace } from './billing/proposals/read-list.js';
export { AgentSessionsService } from './billing/usage/agent-sessions.service.js';
export { TAG_FORM, TAGS_MAX } from './billing/usage/attribution.js';
export { type Margin, MARGIN_GROUPS, MarginsService } from './billing/usage/margins.service.js';
export { UsageDaysService } from './billing/usage/usage-days.service.js';
export { USAGE_GROUPS, USAGE_SUMS, type UsageGroup, type UsageQuery } from './billing/usage/usage-sums.js';
export { UsageModule } from './billing/usage/usage.module.js';
export { type RecordsQuery, UsageService, type UsageSum } from './billing/usage/usage.service.js';
export { contentTypeOf, FORMAT_BYTES, formatOf } from './file-search/extract/read-text.js';
export { FileIndexer } from './file-search/file-indexer.js';
export { FileSearch } from './file-search/file-search.js';
export { FileSearchModule } from './file-search/file-search.module.js';
export { type FileListQuery, FilesService } from './file-search/files.service.js';
export { StorageCharges } from './file-search/storage-charges.js';
export {
  type Chunking,
  cleanFilename,
  DEFAULT_CHUNKING,
  FILE_PURPOSES,
  type FilePurpose,
  indexBytesMax,
  type UploadedFile,
} from './file-search/uploaded-file.js';
export {
  type EntryListQuery,
  type NewEntry,
  VectorStoreFilesService,
} from './file-search/vector-store-files.service.js';
export {
  ENTRY_STATES,
  type FileBatch,
  type FileCounts,
  type StoreEntry,
  type VectorStore,
  type VectorStoreSettings,
} from './file-search/vector-store.js';
export { VectorStoresService } from './file-search/vector-stores.service.js';
export { PassageEmbedder } from './file-search/vectors/passage-embedder.js';
export { PassageVectors, type TextEmbedder } from './file-search/vectors/passage-vectors.js';
export { SemanticSearch } from './file-search/vectors/semantic-search.js';
export { IdempotencyModule } from './idempotency/idempotency.module.js';
export {
  type Attempt,
  type Beginning,
  IdempotencyService,
  type NamedRequest,
  type RecordedResponse,
  RENEW_EVERY_MS,
} from './idempotency/idempotency.service.js';
export { GuessLimiter } from './limits/guess-limiter.js';
export { OPERATOR_GUESSES } from './limits/limit-tokens.js';
export { LimitsModule } from './limits/limits.module.js';
export { OpenTasks } from './limits/open-tasks.js';
export { OpenWaits } from './limits/open-waits.js';
export { isLimited, RateLimits } from './limits/rate-limits.js';
export type { ReserveMemory } from './limits/reserve-memory.js';
export { MaintenanceService } from './maintenance/maintenance.service.js';
export { openFacts, takeFacts } from './observability/request-facts.js';
export { WorkerHeartbeat } from './observability/worker-heartbeat.js';
export { ConversationReport } from './operations/conversation-report.js';
export { DeliverySearchService } from './operations/delivery-search.js';
export { fleetSources } from './operations/fleet-sources.js';
export { type FleetState, FleetStateService } from './operations/fleet-state.service.js';
export { type CallsLately, LatestCalls } from './operations/latest-calls.js';
export { OperationsModule } from './operations/operations.module.js';
export { OverviewFacts } from './operations/overview-facts.js';
export { type TaskHistory, TaskOverview } from './operations/task-overview.js';
export { TaskRemediesService } from './operations/task-remedies.service.js';
export { type TaskSearch, TaskSearchService } from './operations/task-search.js';
export { WorkersService, type WorkerView } from './operations/workers.service.js';
export type { Page, PageRequest } from './paging/page.js';
export { type AuthorizationChecks, IdentitiesService, IdentityProvider } from './people/identity-provider.js';
export { InvitationsService } from './people/invitations.service.js';
export { consoleLinkOf, OneTimeLinks, printedConsoleLink } from './people/one-time-links.js';
export { PasskeysService, type RelyingParty } from './people/passkeys.service.js';
export { PeopleService } from './people/people.service.js';
export { PromptLogWriter } from './prompt-log/prompt-log-writer.js';
export { PROMPT_RETENTION_DAYS, PromptLogService } from './prompt-log/prompt-log.service.js';
export { REDACTIONS_MAX } from './prompt-log/redaction.js';
export type { OpenSession } from './sessions/session-row.js';
export { SessionsModule } from './sessions/sessions.module.js';
export { SESSION_IDLE_HOURS, type SessionOwner, SessionsService } from './sessions/sessions.service.js';
export { CancelTaskService } from './tasks/cancel/cancel-task.service.js';
export { VendorCallbacksService } from './tasks/poll/vendor-callbacks.js';
export { type AccountTask, AccountTasks, type AccountTasksQuery } from './tasks/read/account-tasks.service.js';
export { FileOwners } from './tasks/read/file-owners.js';
export { FollowTaskService, TaskWatch } from './tasks/read/follow-task.service.js';
export { ReadTaskService, type VersionedTask } from './tasks/read/read-task.service.js';
export { readTaskListQuery } from './tasks/read/task-list.js';
export {
  type TasksNeedingAttention,
  TasksNeedingAttentionService,
} from './tasks/read/tasks-needing-attention.service.js';
export { MediaWorker } from './tasks/run/media-worker.js';
export { MediaWorkerModule } from './tasks/run/media-worker.module.js';
export { createMediaWorker, runMediaWorker } from './tasks/run/run-media-worker.js';
export { type AcceptedTask, type SubmissionContext, SubmissionService } from './tasks/submit/submission.service.js';
export { CLAIM_DUE } from './tasks/task-statements.js';
export { TasksModule } from './tasks/tasks.module.js';
export { chatStyle } from './text/chat/chat-style.js';
export { type ClientConnection, RunningTexts } from './text/client-connection.js';
export { EmbeddingsService } from './text/embeddings/embeddings.service.js';
export { geminiArrayStyle, geminiEventStyle } from './text/gemini/gemini-style.js';
export type { InputItemQuery } from './text/input-item-page.js';
export { ItemStore } from './text/item-store.js';
export { messagesStyle } from './text/messages/messages-style.js';
export { ModelsOnSale } from './text/models-on-sale.js';
export { attributionOf } from './text/read-attribution.js';
export { checkedBody } from './text/refusals.js';
export { EVENT_STREAM, type NamedData } from './text/reply-parts.js';
export { resolveReferences } from './text/resolve-references.js';
export { compactionOf, type Includable, INCLUDABLE, writeInputItem } from './text/responses/compaction.js';
export { holdsForeignCompaction } from './text/responses/native-responses-body.js';
export { replayResponse } from './text/responses/replay-response.js';
export { responsesStyle } from './text/responses/responses-style.js';
export { expectShortEcho } from './text/responses/write-responses-answer.js';
export { type CheckedText, TextRequestContext } from './text/text-request.js';
export type { StreamPiece, TextStream } from './text/text-stream.js';
export { TextModule } from './text/text.module.js';
export { TextService } from './text/text.service.js';
export { LeavingUpstreams, MediaUpstreams } from './upstreams/media-upstreams.js';
export { MediaModule } from './upstreams/media.module.js';
export { type TextUpstream, TextUpstreams } from './upstreams/text-upstreams.js';
export { MediaUpstreamsService, proofOf, TextUpstreamsService, type UpstreamView } from './upstreams/upstream-admin.js';
export { MediaCircuits, TextCircuits } from './upstreams/upstream-circuits.js';
export { MediaUpstreamRegistry } from './upstreams/upstream-registry.js';
export {
  type ShownAttempt,
  type ShownDelivery,
  WebhookDeliveriesService,
} from './webhooks/webhook-deliveries.service.js';
export { type ShownEndpoint, WebhookEndpointsService } from './webhooks/webhook-endpoints.service.js';
export { createWebhookSender, WebhookSender } from './webhooks/webhook-sender.js';
export { SigningSecretService } from './webhooks/webhook-signers.js';
export { WEBHOOK_EVENTS } from './webhooks/webhook-statements.js';
export { WebhooksModule } from './webhooks/webhooks.module.js';
