import {
  ALLOW_UNPRICED,
  type BalanceUnit,
  type EmbeddingsProvider,
  type LackingTools,
  type ModelTraits,
  type TextProtocol,
  type TextProvider,
  type UpstreamPolicy,
} from '#contracts';
import { type Environment, loadConfig, readTogether, ServerConfig } from '#platform';
import { accessFingerprint } from '../routed-entry.js';
import { type OpenTools, openTools, ToolsConfig } from '../tools/tools.config.js';
import { readUpstreamList, upstreamsText } from '../upstreams-file.js';
import { chatCodec } from './chat/chat-codec.js';
import { checkUpstreamsFile } from './check-upstreams.js';
import { geminiCodec } from './gemini/gemini-codec.js';
import { messagesCodec } from './messages/messages-codec.js';
import { type ModelLimits, TextConfig } from './text.config.js';
import { responsesCodec } from './responses/responses-codec.js';
import { SandboxTextProvider } from './sandbox/sandbox-text.provider.js';
import { TextCosts } from './text-costs.js';
import { upstreamTraits } from './traits/model-traits.js';
import type { ModelLimitsEntry, UpstreamEntry } from './upstream-entry.js';
import { HttpEmbeddings } from './upstream/http-embeddings.js';
import { HttpTextProvider } from './upstream/http-text-provider.js';
import type { ProtocolCodec, ProtocolOptions } from './upstream/protocol-codec.js';
import { UpstreamHttp } from './upstream/upstream-http.js';

/**
 * Reads the list of text upstreams.
 *
 * @param file name of the file, for the messages.
 * @returns undefined when the file only lists upstreams of media.
 * @throws ConfigError with one line for each mistake: file, line, field, rule.
 */
export const readUpstreamsFile = (
  text: string,
  file: string,
  environment?: Environment,
): readonly UpstreamEntry[] | undefined =>
  readUpstreamList({ text, file, environment }, 'upstreams', checkUpstreamsFile);

/** What asks an upstream, with its place in the routing. */
export interface ConfiguredTextUpstream {
  readonly provider: TextProvider;
  /** Public model name to the upstream's own; undefined when it serves every model under its public name. */
  readonly models: ReadonlyMap<string, string> | undefined;
  readonly weight: number;
  readonly priority: number;
  /** Shares its name with those whose prompt cache and proofs of reasoning are the same; the id where it is left out. */
  readonly vendorAccount?: string;
  /** Differs where its key or address does. */
  readonly access?: string;
  /** Whether conversations that began here stay; `forced`: also while it cools down. They do where it is left out. */
  readonly sticky?: boolean | 'forced';
  /** What may be asked of it although the gateway has no price for it; nothing when it is left out. */
  readonly policy?: UpstreamPolicy;
  /** Whether it fetches the URLs of requests from the operator's own network. */
  readonly fetchesUrls?: boolean;
  /** The embeddings that it offers, by public model name; undefined when it offers none. */
  readonly embeddings?: { readonly provider: EmbeddingsProvider; readonly models: ReadonlyMap<string, string> };
  /** How to handle tools that are only offered and that it lacks; undefined: dropped where the request is translated. */
  readonly lackingTools?: LackingTools | undefined;
  /** Public model name to what its operator says of it; the rest is what is known of the name. */
  readonly limits?: ReadonlyMap<string, Partial<ModelLimits>>;
  /** What its models cost; absent: nothing is known of it. */
  readonly costs?: TextCosts;
  /** True: it is passed over for models whose price is below their cost. */
  readonly refusesBelowCost?: boolean;
}

export interface OpenTextUpstream extends ConfiguredTextUpstream {
  /** Closes the connections when the work on them is done. To be called once it gets no more requests. */
  retire(): Promise<void>;
  /** Closes the connections now. */
  close(): Promise<void>;
}

/** How long and how much to read on for callers that have left. Times in milliseconds, sizes in bytes. */
export interface LeavingLimits {
  readonly readMs: number;
  /** The most that is read of a streamed reply. */
  readonly readBytes: number;
  /** How many are read on at a time. */
  readonly requests: number;
  readonly requestsPerAccount: number;
  /** How much of their callers' bodies is kept for it. */
  readonly bodyBytes: number;
  readonly bodyBytesPerAccount: number;
  /** How long a caller may read nothing of an answer that waits for them. */
  readonly stallMs: number;
}

/** What this process knows about text upstreams before it reads the database. */
export interface OpenTextUpstreams {
  /** The entries of UPSTREAMS_FILE; undefined when it is unset. */
  readonly fromFile: readonly UpstreamEntry[] | undefined;
  /** The built-in writer, for every model. */
  readonly sandbox: ConfiguredTextUpstream;
  /** How long a request may look for an upstream that works, in milliseconds. */
  readonly retryBudgetMs: number;
  /** How long it is remembered where a conversation lives; 0: it is not. */
  readonly conversationMinutes: number;
  readonly leaving: LeavingLimits;
  /** What the gateway runs itself where an upstream does not. */
  readonly tools: OpenTools;
  /** Opens an upstream; it connects when it is first asked. */
  open(entry: UpstreamEntry): OpenTextUpstream;
}

/**
 * Reads UPSTREAMS_FILE, if there is one.
 *
 * @throws ConfigError with one line for each mistake.
 */
export function openTextUpstreams(
  config: TextConfig = loadConfig(TextConfig),
  environment?: Environment,
): OpenTextUpstreams {
  const { UPSTREAMS_FILE: file } = config;
  const wordDelayMs = config.SANDBOX_WORD_MS;
  // Together, so that a mistake in one of them hides none in the others.
  const { fromFile, server, tools } = readTogether({
    fromFile: () => (file === undefined ? undefined : readUpstreamsFile(upstreamsText(file), file, environment)),
    server: () => loadConfig(ServerConfig, environment),
    tools: () => loadConfig(ToolsConfig, environment),
  });
  const { BALANCE_UNIT: balanceUnit } = server;
  return {
    fromFile,
    sandbox: {
      provider: new SandboxTextProvider(wordDelayMs),
      models: undefined,
      weight: 1,
      priority: 0,
      policy: ALLOW_UNPRICED,
      fetchesUrls: false,
    },
    retryBudgetMs: config.TEXT_RETRY_SECONDS * 1000,
    conversationMinutes: config.CONVERSATION_MINUTES,
    leaving: leavingLimits(config),
    tools: openTools(tools),
    open: (entry) => openEntry(entry, wordDelayMs, balanceUnit),
  };
}

const MIB = 1024 * 1024;
/** An account has this part of what is common, so that its leaving does not make others pay for theirs. */
const ACCOUNT_SHARE = 8;
const LEFT_BODIES_BYTES = 64 * MIB;

const leavingLimits = (config: TextConfig): LeavingLimits => ({
  readMs: config.DISCONNECT_DRAIN_SECONDS * 1000,
  readBytes: config.DISCONNECT_DRAIN_MB * MIB,
  requests: config.DISCONNECT_DRAINS,
  requestsPerAccount: Math.ceil(config.DISCONNECT_DRAINS / ACCOUNT_SHARE),
  bodyBytes: LEFT_BODIES_BYTES,
  bodyBytesPerAccount: LEFT_BODIES_BYTES / ACCOUNT_SHARE,
  stallMs: config.TEXT_WRITE_STALL_SECONDS * 1000,
});

const limitsOf = (said: ModelLimitsEntry): Partial<ModelLimits> => ({
  ...(said.max_output_tokens !== undefined && { maxOutputTokens: said.max_output_tokens }),
  ...(said.context_tokens !== undefined && { contextTokens: said.context_tokens }),
  ...(said.image_tokens !== undefined && { imageTokens: said.image_tokens }),
});

/** What the settings of an upstream say of all its models, apart from what is usual. */
function settingsOfAll(
  { translation, output_limit_field: field }: UpstreamEntry,
  known: ModelTraits,
): Partial<ModelTraits> {
  const { system_messages: systemMessages, thinking, sampling } = translation;
  return {
    ...(field !== 'max_tokens' && { output_limit_field: field }),
    ...(systemMessages === 'in_front' && { system_messages: systemMessages }),
    ...(thinking && { thinking }),
    ...(sampling === 'left_out' && { sampling: 'none', penalties: 'refused' }),
    ...(sampling === 'sent' && { sampling: known.sampling === 'one' ? 'one' : 'all', penalties: 'taken' }),
  };
}

function openEntry(entry: UpstreamEntry, wordDelayMs: number, balanceUnit: BalanceUnit): OpenTextUpstream {
  const { id, protocol, weight, priority, timeouts } = entry;
  const isSandbox = protocol === 'sandbox';
  const place = {
    models: new Map(Object.entries(entry.models)),
    weight,
    priority,
    vendorAccount: entry.vendor_account ?? id,
    access: accessFingerprint(entry.key, entry.base_url),
    sticky: entry.sticky,
    policy: isSandbox ? ALLOW_UNPRICED : entry.allow,
    fetchesUrls: !isSandbox && entry.fetches_urls === 'self',
    lackingTools: entry.translation.lacking_tools,
    costs: new TextCosts(entry, balanceUnit),
    refusesBelowCost: entry.refuse_below_cost,
    limits: new Map(Object.entries(entry.model_limits).map(([model, said]) => [model, limitsOf(said)])),
  };
  if (isSandbox) {
    const nothing = (): Promise<void> => Promise.resolve();
    return { provider: new SandboxTextProvider(wordDelayMs, id), ...place, retire: nothing, close: nothing };
  }
  const http = new UpstreamHttp(entry.base_url, {
    connectMs: timeouts.connect_seconds * 1000,
    firstByteMs: timeouts.first_byte_seconds * 1000,
    idleMs: timeouts.idle_seconds * 1000,
  });
  const options: ProtocolOptions = {
    traits: upstreamTraits({
      protocol,
      server: new URL(entry.base_url).hostname,
      models: entry.models,
      ofAll: (known) => settingsOfAll(entry, known),
      said: entry.model_traits,
    }),
    lackingTools: entry.translation.lacking_tools,
    replayedReasoning: entry.translation.reasoning,
    marksPromptCache: entry.translation.prompt_cache,
    disablesReasoning: entry.translation.no_reasoning && entry.translation.no_reasoning === 'told',
  };
  const upstream = {
    id,
    codec: PROTOCOL_CODECS[protocol],
    http,
    key: entry.key,
    options,
    policy: entry.allow,
    vendorAccount: entry.vendor_account,
    passHeaders: entry.pass_headers,
    writesCacheKey: entry.translation.cache_key,
    mendsFinish: entry.mends_finish_reason,
  };
  const embeddingModels = new Map(Object.entries(entry.embedding_models));
  return {
    provider: new HttpTextProvider(upstream),
    ...place,
    ...(embeddingModels.size > 0 && {
      embeddings: { provider: new HttpEmbeddings(upstream), models: embeddingModels },
    }),
    retire: () => http.retire(),
    close: () => http.close(),
  };
}

/** Every protocol an HTTP upstream may speak. */
export const PROTOCOL_CODECS: Readonly<Record<Exclude<TextProtocol, 'sandbox'>, ProtocolCodec>> = {
  responses: responsesCodec,
  chat: chatCodec,
  messages: messagesCodec,
  gemini: geminiCodec,
};
