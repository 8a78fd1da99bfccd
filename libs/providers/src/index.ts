export { openMediaProviders } from './media/open-media-providers.js';
export { MediaProviderRegistry } from './media/registry.js';
export { SandboxConfig } from './media/sandbox/sandbox.config.js';
export { checkUpstream, fieldName, type UpstreamMistake } from './text/check-upstreams.js';
export { knownLimits, type ModelLimits } from './text/model-limits.js';
export {
  type LeavingLimits,
  type OpenTextProvider,
  type OpenTextProviders,
  openTextProviders,
} from './text/open-text-providers.js';
export { TextConfig } from './text/text.config.js';
export { IsUpstreamKey, UpstreamEntry } from './text/upstream-entry.js';
export { countableText, loadTokenCounter, type TokenCounter } from './text/upstream/token-counter.js';
export { addToTopLevelObject } from './text/upstream/top-level-field.js';
