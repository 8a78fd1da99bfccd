export { CATALOG, familiesAt, familyOf, MODEL_IDS, type ModelId } from './catalog/catalog.js';
export { fieldTable, type FieldTableRow } from './catalog/field-table.js';
export { MAX_URL_LENGTH } from './catalog/file-source.js';
export {
  type Billing,
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
export { type ErrorCode, ERRORS, type FieldError, GatewayError } from './errors.js';
export { isJsonObject, type JsonObject, type JsonValue } from './json.js';
export { type Book, type BookMove, entrySql, kindSql, LEDGER_KINDS, type LedgerKind } from './ledger/ledger.js';
export {
  type MediaOrder,
  type MediaProvider,
  type Operation,
  type OperationState,
  ProviderError,
  type ProviderOutput,
  TASK_FAILURES,
  type TaskFailureCode,
} from './media-provider.js';
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
  isFinal,
  PUBLIC_STATUSES,
  publicStatusOf,
  type PublicTaskStatus,
  type QueueName,
  TASK_TRANSITIONS,
  type TaskCancellation,
  type TaskFileView,
  type TaskJob,
  type TaskState,
  type TaskView,
} from './task.js';
export { checkBody, type LongTextRule } from './text/body-check.js';
export {
  camelCaseGemini,
  GEMINI_METHODS,
  type GeminiContent,
  type GeminiMethod,
  type GeminiPart,
  GeminiRequest,
  type GeminiTool,
} from './text/gemini-request.js';
export { isIdentifier } from './text/identifier.js';
export type { MessagesBlock, MessagesDocumentBlock, MessagesImageBlock } from './text/messages-blocks.js';
export { CountTokensRequest, DEFAULT_MAX_TOKENS, MessagesRequest, type MessagesTool } from './text/messages-request.js';
export { isKnownItem, type ResponsesBlock, type ResponsesItem, type ResponsesMessage } from './text/responses-items.js';
export { RESPONSES_LIMITS, ResponsesRequest } from './text/responses-request.js';
export { flatFunction, isFunctionTool, isRemoteMcp, type ResponsesTool } from './text/responses-tools.js';
export type {
  GeminiAnswer,
  GeminiFinishReason,
  GeminiReplyPart,
  GeminiUsage,
  MessagesAnswer,
  MessagesReplyBlock,
  MessagesStopReason,
  MessagesUsage,
  ResponsesAnswer,
  ResponsesOutcome,
  ResponsesOutputItem,
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
  TextPart,
  TextRequest,
  ToolChoice,
  Turn,
  UserPart,
} from './text/text-request.js';
export type { MessagesStreamEvent, ResponsesStreamEvents } from './text/text-stream-events.js';
export { TEXT_PROTOCOLS, type TextProtocol, type TextStyle } from './text/text-style.js';
export { type NamedUrl, type RequestUses, requestUses } from './text/unpriced-uses.js';
export {
  ALLOW_UNPRICED,
  allows,
  permits,
  REFUSE_UNPRICED,
  type UnpricedUse,
  type UpstreamPolicy,
} from './text/upstream-policy.js';
export { textModelElsewhere, unknownTextModel } from './text/where-served.js';
export { wireNames } from './wire-names.js';
