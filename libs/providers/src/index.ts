export { checkMediaUpstream } from './media/check-media-upstreams.js';
export type { VendorProtocol } from './media/media-protocols.js';
export { MediaUpstreamEntry } from './media/media-upstream-entry.js';
export {
  type ConfiguredMediaUpstream,
  type MediaAllowance,
  openMediaUpstreams,
  type OpenMediaUpstreams,
} from './media/open-media-upstreams.js';
export { ProviderUpstream } from './media/provider-upstream.js';
export { SandboxConfig } from './media/sandbox/sandbox.config.js';
export { runSmoke } from './media/smoke/run-smoke.js';
export { VERIFY_REMEDIES, type VerifyProblem } from './media/verify-remedies.js';
export { accessFingerprint, IsUpstreamKey } from './routed-entry.js';
export { accountIn, callProofIn, isBehindCall } from './text/chat/chat-proofs.js';
export { checkUpstream, fieldName, type UpstreamMistake } from './text/check-upstreams.js';
export { DEFAULT_MODEL_LIMITS, knownLimits, type ModelLimits } from './text/model-limits.js';
export {
  type LeavingLimits,
  type OpenTextProvider,
  type OpenTextProviders,
  openTextProviders,
} from './text/open-text-providers.js';
export { TextConfig } from './text/text.config.js';
export { UpstreamEntry } from './text/upstream-entry.js';
export { PROTOCOL_CODECS } from './text/upstream/protocol-codecs.js';
export { leastOutputLimit } from './text/upstream/request-fields.js';
export { type MarkedProof, markedProof } from './text/upstream/signatures.js';
export { countableText, loadTokenCounter, type TokenCounter } from './text/upstream/token-counter.js';
export { addToTopLevelObject } from './text/upstream/top-level-field.js';
export { McpConnection } from './tools/mcp/mcp-connection.js';
export { McpFailure } from './tools/mcp/mcp-failure.js';
export type { McpResult } from './tools/mcp/mcp-result.js';
export { type OpenTools, openTools } from './tools/open-tools.js';
export { ToolsConfig } from './tools/tools.config.js';
export { sandboxSearch } from './tools/web-search/sandbox-search.js';
export { type WebSearch, WebSearchFailure } from './tools/web-search/web-search.js';
