export { CATALOG, familiesAt, familyOf, MODEL_IDS, type ModelId } from './catalog/catalog.js';
export { alternatives } from './catalog/field-check.js';
export { FIELD_GROUPS, fieldTable } from './catalog/field-table.js';
export { type Field, fieldsOf, type Scalar } from './catalog/field.js';
export { fileUrls, hasParsableHost, isParsableUrl, MAX_URL_LENGTH } from './catalog/file-source.js';
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
  ConsoleDeliveryAttempt,
  ConsoleInvitation,
  ConsoleKey,
  ConsoleModel,
  ConsolePerson,
  ConsolePrompt,
  ConsolePromptEntry,
  ConsolePromptLog,
  ConsolePromptLogSettings,
  ConsoleWebhookEndpoint,
} from './console/account.js';
export type {
  AdminPriceList,
  AdminPriceListSummary,
  AdminPriceProposal,
  AdminPriceSimulation,
  AdminItemPrice,
  AdminProposalItem,
} from './console/admin-prices.js';
export type { AdminConversations, AdminMargins, AdminUpstream, AdminUpstreamProof } from './console/admin-upstreams.js';
export type {
  AdminConcern,
  AdminHealth,
  AdminOverview,
  AdminPerson,
  AdminReconciliation,
  AdminTaskDetails,
} from './console/admin.js';
export { CONSOLE_ACCESS, type ConsoleAccess, type ConsoleApi, type ConsoleWarning } from './console/api.js';
export { CONSOLE_VERSION, type ConsoleFailure, type ConsoleProblem } from './console/common.js';
export type {
  AdminAgentSession,
  AdminSessionRequest,
  ConsoleAgentSession,
  ConsoleBalance,
  ConsoleChargeLine,
  ConsoleEntry,
  ConsoleEntryExplained,
  ConsolePrice,
  ConsoleQuote,
  ConsoleSpendLimit,
  ConsoleUsage,
  ConsoleUsageRecord,
  ConsoleTagLimit,
} from './console/money.js';
export type {
  ConsoleMembership,
  ConsolePasskey,
  ConsoleSession,
  ConsoleSessionRow,
  InvitationPreview,
  SignInMethod,
} from './console/session.js';
export { type ConsoleTask, type ConsoleTaskDetails, type ConsoleTaskEvent, TASK_EVENT_NAMES } from './console/tasks.js';
export { type ErrorCode, ERRORS, type FieldError, GatewayError, shuttingDown, UNPAID_CODES } from './errors.js';
export {
  type FileAttributes,
  type Passage,
  passesFilter,
  type RankWeights,
  readRankWeights,
  readSearchFilter,
  type SearchFilter,
} from './file-search.js';
export { isJsonObject, type JsonObject, type JsonValue, omitUndefined, wireNames } from './json.js';
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
  type CallbackRequest,
  type CallFacts,
  type CallPlan,
  type CannotMake,
  type MediaOrder,
  type MediaUpstream,
  type ModelTrait,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type UpstreamOutput,
  type ReferenceFile,
  type ReferenceFiles,
  type ResultLink,
  type ResultSpool,
  type Started,
  TASK_FAILURES,
  type TaskFailureCode,
  type UpstreamCallRef,
  type UndeliveredOutput,
  type UpstreamTraits,
  type VendorCall,
  type VendorCost,
  type Verified,
} from './media-upstream.js';
export {
  BALANCE_UNITS,
  type BalanceUnit,
  type Decimal,
  dividedHalfUp,
  formatMicros,
  MAX_MICROS,
  type Micros,
  MICROS_PER_UNIT,
  parseMicros,
  readDecimal,
  shortDecimal,
  timesWhole,
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
export {
  asksForThinking,
  SPECIFIED_TEXT_MODELS,
  textModelElsewhere,
  unknownTextModel,
  WHERE_TEXT_IS,
} from './text-models.js';
export { checkBody, type LongTextRule, otherConversation } from './text/body-check.js';
export type {
  ChatAnswer,
  ChatFinishReason,
  ChatReasoningDetail,
  ChatReplyCall,
  ChatUsage,
} from './text/chat-answer.js';
export {
  CHAT_LIMITS,
  type ChatFunctionTool,
  type ChatMessage,
  type ChatNamedTool,
  type ChatPart,
  ChatRequest,
  type ChatTool,
  type ChatToolCall,
  isChatCustomTool,
  isCustomCall,
} from './text/chat-request.js';
export { EMBEDDINGS_FIELDS, type EmbeddingsInput, EmbeddingsRequest } from './text/embeddings-request.js';
export { isIdentifier } from './text/field-checks.js';
export {
  GEMINI_METHODS,
  type GeminiContent,
  type GeminiMethod,
  type GeminiPart,
  GeminiRequest,
  type GeminiTool,
} from './text/gemini-request.js';
export { camelCaseGemini } from './text/gemini-spelling.js';
export {
  CountTokensRequest,
  DEFAULT_MAX_TOKENS,
  type MessagesBlock,
  type MessagesDocumentBlock,
  type MessagesImageBlock,
  MessagesRequest,
  type MessagesSearchResultBlock,
  type MessagesTool,
} from './text/messages-request.js';
export { type ModelTraits, takenEffort, TRAIT_LIMITS, TRAITS } from './text/model-traits.js';
export { namesOutput, PRICED, PRICED_BETAS, PRICED_CONFIG, textFieldNames } from './text/priced-fields.js';
export {
  flatFunction,
  isCustomTool,
  isFunctionTool,
  isKnownItem,
  isNamespace,
  isRemoteMcp,
  ITEM_TYPES,
  RESPONSES_LIMITS,
  type ResponsesBlock,
  type ResponsesItem,
  type ResponsesMessage,
  ResponsesRequest,
  type ResponsesTool,
} from './text/responses-request.js';
export {
  canAskForTier,
  FEE_UNITS,
  type FeeUnit,
  type OpenedUnit,
  type ReportedUnit,
  type ReportedUnits,
  SERVICE_TIERS,
  serviceTierOf,
  TOKEN_UNITS,
  type TokenUnit,
} from './text/sold-units.js';
export type {
  GeminiAnswer,
  GeminiFinishReason,
  GeminiReplyPart,
  GeminiUsage,
  MessagesAnswer,
  MessagesHostedBlock,
  MessagesReplyBlock,
  MessagesStopReason,
  MessagesStreamEvent,
  MessagesUsage,
  ResponsesAnswer,
  ResponsesHostedItem,
  ResponsesOutcome,
  ResponsesOutputItem,
  ResponsesOutputPart,
  ResponsesStreamEvents,
  ResponsesUsage,
  SpecifiedResponse,
} from './text/text-answers.js';
export { errorInStyle, statusInStyle } from './text/text-errors.js';
export {
  type CollectedReply,
  callsOf,
  eventText,
  type FinishEvent,
  type FinishReason,
  NO_USAGE,
  type ReplyBlock,
  type TextCost,
  type TextEvent,
  type TextUsage,
  type UsageSource,
  type VendorCharge,
} from './text/text-event.js';
export type {
  EmbeddingsCall,
  EmbeddingsProvider,
  EmbeddingsReply,
  EventsReply,
  LastPart,
  NamedReply,
  NativeBody,
  RelayedStream,
  RelayOutcome,
  ReplyProgress,
  TextCall,
  TextProvider,
  TextReply,
  VerifiedText,
} from './text/text-provider.js';
export {
  type AssistantPart,
  type CallPart,
  type FilePart,
  type FunctionTool,
  type HostedTool,
  type ImagePart,
  isTextType,
  type MediaSource,
  namedTools,
  type OutputFormat,
  REASONING_EFFORTS,
  type ReasoningEffort,
  type ReasoningPart,
  type ReasoningRequest,
  type ResultPart,
  type ReturnedPart,
  type TextPart,
  type TextRequest,
  type ToolChoice,
  type Turn,
  type UserPart,
} from './text/text-request.js';
export {
  REDACTED,
  type StopSignal,
  TEXT_PROTOCOLS,
  TEXT_STYLES,
  type TextProtocol,
  type TextStyle,
} from './text/text-style.js';
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
  TOOL_ROUNDS_MAX,
  TOOL_UNITS,
  type ToolStep,
  type ToolUnit,
  type ToolUses,
  type WebSearchStep,
} from './text/tool-step.js';
export { carriesFile, isAddress, type NamedUrl, requestUses, type RequestUses } from './text/unpriced-uses.js';
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
