export { fieldName, type UpstreamMistake } from './check-fields.js';
export { checkMediaUpstream } from './media/check-media-upstreams.js';
export type { VendorProtocol } from './media/media-protocols.js';
export { MediaUpstreamEntry } from './media/media-upstream-entry.js';
export {
  type ConfiguredMediaUpstream,
  type MediaAllowance,
  openMediaUpstreams,
  type OpenMediaUpstreams,
} from './media/open-media-upstreams.js';
export { SandboxConfig } from './media/sandbox/sandbox-upstream.js';
export { runSmoke, VERIFY_REMEDIES } from './media/smoke/run-smoke.js';
export { accessFingerprint, IsUpstreamKey } from './routed-entry.js';
export { runTextSmoke } from './smoke-text.js';
export { accountIn, besideCall, callProofIn, isBehindCall, proofBeside } from './text/chat/chat-proofs.js';
export { checkUpstream } from './text/check-upstreams.js';
export {
  type ConfiguredTextUpstream,
  type LeavingLimits,
  type OpenTextUpstream,
  type OpenTextUpstreams,
  openTextUpstreams,
  PROTOCOL_CODECS,
} from './text/open-text-upstreams.js';
export { type ModelCosts, TextCosts } from './text/text-costs.js';
export { DEFAULT_MODEL_LIMITS, knownLimits, type ModelLimits, TextConfig } from './text/text.config.js';
export { UpstreamEntry } from './text/upstream-entry.js';
export { refusedByModel } from './text/upstream/refused-by-model.js';
export { sumOfCalls } from './text/upstream/reported-usage.js';
export { leastOutputLimit } from './text/upstream/request-fields.js';
export { accountMark, type MarkedProof, markedProof } from './text/upstream/signatures.js';
export { countableText, loadTokenCounter, type TokenCounter } from './text/upstream/token-counter.js';
export { addToTopLevelObject } from './text/upstream/top-level-field.js';
export { McpConnection } from './tools/mcp/mcp-connection.js';
export { McpFailure } from './tools/mcp/mcp-failure.js';
export type { McpResult } from './tools/mcp/mcp-result.js';
export { type OpenTools, openTools, ToolsConfig } from './tools/tools.config.js';
export { sandboxSearch, type WebSearch, WebSearchFailure } from './tools/web-search/web-search.js';
