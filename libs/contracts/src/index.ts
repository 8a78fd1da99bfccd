export { CATALOG, familiesAt, familyOf, MODEL_IDS, type ModelId } from './catalog/catalog.js';
export { FIELD_GROUPS } from './catalog/field-place.js';
export { fieldTable, type FieldTableRow } from './catalog/field-table.js';
export { type Field, fieldsOf } from './catalog/field.js';
export { MAX_URL_LENGTH } from './catalog/file-source.js';
export { fileUrls } from './catalog/file-urls.js';
export type { EtaRequest } from './catalog/image-families/eta.js';
export type { IotaEditRequest } from './catalog/image-families/iota-edit.js';
export type { IotaRequest } from './catalog/image-families/iota.js';
export type { KappaRequest } from './catalog/image-families/kappa.js';
export type { ThetaRequest } from './catalog/image-families/theta.js';
export {
  type Billing,
  CONTENT_TYPES,
  type MeasuredReference,
  MEDIA,
  type MediaFormat,
  type MediaLimits,
  type MediaReference,
  type Medium,
  type ModelRequest,
  type OutputPlan,
  type OutputSize,
  type SubmissionPath,
  type TotalSecondsLimit,
} from './catalog/media-order.js';
export type { ModelFamily } from './catalog/model-family.js';
export { componentSchemas, submissionSchema } from './catalog/openapi-schema.js';
export { EXAMPLE_PRICES } from './catalog/prices.js';
export { readModelRequest } from './catalog/read-model-request.js';
export type { AlphaRequest } from './catalog/video-families/alpha.js';
export type { Beta25PreviewRequest } from './catalog/video-families/beta-2.5-preview.js';
export type { Beta26Request } from './catalog/video-families/beta-2.6.js';
export type { Beta27R2vRequest } from './catalog/video-families/beta-2.7-r2v.js';
export type { Beta27Request } from './catalog/video-families/beta-2.7.js';
export type { DeltaV26Request } from './catalog/video-families/delta-v2-6.js';
export type { Epsilon02Request } from './catalog/video-families/epsilon-02.js';
export type { Epsilon23Request } from './catalog/video-families/epsilon-2.3.js';
export type { GammaRequest } from './catalog/video-families/gamma.js';
export type { ZetaQ3ProRequest } from './catalog/video-families/zeta-q3-pro.js';
export type { ZetaQ3Request } from './catalog/video-families/zeta-q3.js';
export {
  ACCOUNT_ROLES,
  type AccountRole,
  CONSOLE_PERMISSIONS,
  CONSOLE_ROLES,
  type ConsolePermission,
  type ConsoleRole,
  OPERATOR_ROLES,
  type OperatorConsoleRole,
  permissionsOf,
} from './console/access.js';
export type {
  ConsoleDelivery,
  ConsoleInvitation,
  ConsoleKey,
  ConsoleModel,
  ConsolePerson,
  ConsoleWebhookEndpoint,
} from './console/account.js';
export type { AdminMargin, AdminMargins, AdminUpstream } from './console/admin-upstreams.js';
export type {
  AdminAccount,
  AdminFunded,
  AdminOverview,
  AdminPerson,
  AdminPrice,
  AdminReconciliation,
  AdminTask,
  AdminTaskDetails,
} from './console/admin.js';
export { CONSOLE_ACCESS, type ConsoleAccess, type ConsoleApi } from './console/api.js';
export { CONSOLE_VERSION, type ConsoleFailure, type ConsoleProblem } from './console/common.js';
export type {
  ConsoleBalance,
  ConsoleChargeLine,
  ConsoleEntry,
  ConsoleEntryExplained,
  ConsoleQuote,
  ConsoleSpendLimit,
  ConsoleUsage,
  ConsoleUsageRecord,
} from './console/money.js';
export type { ConsoleWarning } from './console/overview.js';
export type { ConsoleSession, SignInMethod } from './console/session.js';
export { TASK_EVENT_NAMES, type ConsoleTask, type ConsoleTaskDetails, type ConsoleTaskEvent } from './console/tasks.js';
export { type ErrorCode, ERRORS, type FieldError, GatewayError, shuttingDown, UNPAID_CODES } from './errors.js';
export type { FileAttributes, Passage } from './file-search/passage.js';
export { type RankWeights, readRankWeights } from './file-search/rank-weights.js';
export { passesFilter, readSearchFilter, type SearchFilter } from './file-search/search-filter.js';
export { isJsonObject, type JsonObject, type JsonValue } from './json.js';
export { type Book, type BookMove, entrySql, kindSql, LEDGER_KINDS, type LedgerKind } from './ledger/ledger.js';
export {
  failedBecause,
  MEDIA_REASONS,
  MediaFailure,
  type MediaFailureDetails,
  type MediaFailureKind,
  type MediaFailureScope,
  type MediaReason,
  type VendorWords,
} from './media-failures.js';
export {
  type MediaOrder,
  type MediaProvider,
  type Operation,
  type OperationState,
  ProviderError,
  type ProviderOutput,
  TASK_FAILURES,
  type TaskFailureCode,
  type UndeliveredOutput,
} from './media-provider.js';
export {
  type CallbackRequest,
  type CallFacts,
  type CallPlan,
  type CannotMake,
  type MediaUpstream,
  type ResultLink,
  type PlannedOrder,
  type ReferenceFile,
  type ReferenceFiles,
  type ResultSpool,
  type Started,
  type Ticket,
  type UpstreamTraits,
  type VendorCall,
  type VendorCost,
  type Verified,
} from './media-upstream.js';
export {
  BALANCE_UNITS,
  type BalanceUnit,
  formatMicros,
  MAX_MICROS,
  type Micros,
  MICROS_PER_UNIT,
  parseMicros,
  shortDecimal,
} from './money.js';
export { nearestName, nearestNames } from './nearest-name.js';
export {
  type FinalState,
  isFinal,
  PUBLIC_STATUSES,
  publicStatusOf,
  type PublicTaskStatus,
  type QueueName,
  type StateBefore,
  TASK_TRANSITIONS,
  type TaskCancellation,
  type TaskFileView,
  type TaskJob,
  type TaskState,
  type TaskView,
} from './task.js';
export { checkBody, type LongTextRule } from './text/body-check.js';
export type {
  ChatAnswer,
  ChatFinishReason,
  ChatReasoningDetail,
  ChatReplyCall,
  ChatUsage,
} from './text/chat-answer.js';
export { type ChatMessage, type ChatPart, type ChatToolCall, isCustomCall } from './text/chat-messages.js';
export {
  CHAT_LIMITS,
  type ChatFunctionTool,
  type ChatNamedTool,
  ChatRequest,
  type ChatTool,
  isChatCustomTool,
} from './text/chat-request.js';
export { otherConversation } from './text/conversation-fields.js';
export type { EmbeddingsCall, EmbeddingsProvider, EmbeddingsReply } from './text/embeddings-provider.js';
export { EMBEDDINGS_FIELDS, type EmbeddingsInput, EmbeddingsRequest } from './text/embeddings-request.js';
export { carriesFile, isAddress } from './text/file-carriers.js';
export {
  GEMINI_METHODS,
  type GeminiContent,
  type GeminiMethod,
  type GeminiPart,
  GeminiRequest,
  type GeminiTool,
} from './text/gemini-request.js';
export { camelCaseGemini } from './text/gemini-spelling.js';
export { isIdentifier } from './text/identifier.js';
export type {
  MessagesBlock,
  MessagesDocumentBlock,
  MessagesImageBlock,
  MessagesSearchResultBlock,
} from './text/messages-blocks.js';
export { CountTokensRequest, DEFAULT_MAX_TOKENS, MessagesRequest, type MessagesTool } from './text/messages-request.js';
export { namesOutput, PRICED, PRICED_BETAS, PRICED_CONFIG, textFieldNames } from './text/priced-fields.js';
export { isKnownItem, type ResponsesBlock, type ResponsesItem, type ResponsesMessage } from './text/responses-items.js';
export { RESPONSES_LIMITS, ResponsesRequest } from './text/responses-request.js';
export {
  flatFunction,
  isCustomTool,
  isFunctionTool,
  isNamespace,
  isRemoteMcp,
  type ResponsesTool,
} from './text/responses-tools.js';
export type { StopSignal } from './text/stop-signal.js';
export type {
  GeminiAnswer,
  GeminiFinishReason,
  GeminiReplyPart,
  GeminiUsage,
  MessagesAnswer,
  MessagesHostedBlock,
  MessagesReplyBlock,
  MessagesStopReason,
  MessagesUsage,
  ResponsesAnswer,
  ResponsesHostedItem,
  ResponsesOutcome,
  ResponsesOutputItem,
  ResponsesOutputPart,
  ResponsesUsage,
  SpecifiedResponse,
} from './text/text-answers.js';
export { errorInStyle, statusInStyle } from './text/text-errors.js';
export {
  type CollectedReply,
  eventText,
  type FinishEvent,
  type FinishReason,
  type ReplyBlock,
  type TextEvent,
  type TextUsage,
  type UnpricedUnit,
  type UsageSource,
} from './text/text-event.js';
export { asksForThinking, SPECIFIED_TEXT_MODELS } from './text/text-models.js';
export type {
  EventsReply,
  NativeBody,
  RelayedStream,
  RelayOutcome,
  ReplyProgress,
  TextCall,
  TextProvider,
  TextReply,
} from './text/text-provider.js';
export type {
  AssistantPart,
  CallPart,
  FilePart,
  FunctionTool,
  HostedTool,
  ImagePart,
  MediaSource,
  OutputFormat,
  ReasoningEffort,
  ReasoningPart,
  ReasoningRequest,
  ResultPart,
  ReturnedPart,
  TextPart,
  TextRequest,
  ToolChoice,
  Turn,
  UserPart,
} from './text/text-request.js';
export type { MessagesStreamEvent, ResponsesStreamEvents } from './text/text-stream-events.js';
export { REDACTED, TEXT_PROTOCOLS, TEXT_STYLES, type TextProtocol, type TextStyle } from './text/text-style.js';
export {
  type Citation,
  type FileSearchStep,
  type FoundPage,
  type FoundPassage,
  type HostedKind,
  type ListedTool,
  type McpApprovalStep,
  type McpCallStep,
  type McpListStep,
  TOOL_UNITS,
  type ToolStep,
  type ToolUnit,
  type ToolUses,
  type WebSearchStep,
} from './text/tool-step.js';
export { type NamedUrl, type RequestUses, requestUses } from './text/unpriced-uses.js';
export {
  ALLOW_UNPRICED,
  allows,
  isOptionalTool,
  LACKING_TOOLS,
  type LackingTools,
  permits,
  REFUSE_UNPRICED,
  toolName,
  type UnpricedUse,
  type UpstreamPolicy,
} from './text/upstream-policy.js';
export { excerpt, hasAtMostCharacters, isStorable, STORABLE_RULE, unstorableField } from './unicode-text.js';
export { textModelElsewhere, unknownTextModel, WHERE_TEXT_IS } from './where-served.js';
export { wireNames } from './wire-names.js';
