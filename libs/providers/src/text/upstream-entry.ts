import { Transform, Type } from 'class-transformer';
import {
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import {
  type JsonObject,
  LACKING_TOOLS,
  type LackingTools,
  type ModelTraits,
  TEXT_PROTOCOLS,
  type TextProtocol,
  type UpstreamPolicy,
} from '#contracts';
import { IsPassedHeaders } from './upstream/passed-headers.js';
import { IsSettings, IsUpstreamAddress, IsUpstreamName, RoutedEntry } from '../routed-entry.js';
import { COST_REPORTS, type CostReport } from './text-costs.js';

const LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

/** Whether conversations stay at an upstream. */
const STICKY = [true, false, 'forced'] as const;

/** The party that fetches the URLs in requests: the vendor from its own network, or a server in the operator's. */
export const FETCHES_URLS = ['vendor', 'self'] as const;

/** How long an upstream may take, in seconds. */
export class UpstreamTimeoutsEntry {
  @IsNumber()
  @Min(0.1)
  @Max(120)
  connect_seconds = 5;

  /** Until the reply begins; a model may think for minutes. */
  @IsNumber()
  @Min(0.1)
  @Max(3_600)
  first_byte_seconds = 600;

  /** Between two pieces of a reply. */
  @IsNumber()
  @Min(0.1)
  @Max(3_600)
  idle_seconds = 300;
}

/** A list of names, `*` in it or `all` in its place for all of them. */
const IsNameList = (): PropertyDecorator => (target, property) => {
  Transform(({ value }: { value: unknown }) => (value === 'all' ? ['*'] : value))(target, property);
  IsArray()(target, property);
  Matches(/^[\w.*:-]{1,128}$/, {
    each: true,
    message: '$property must be a list of names of letters, digits, "_", "-", "." and ":", or "all"',
  })(target, property);
};

/** What may be asked of an upstream although the gateway has no price for it. Nothing, where a list is left out. */
export class UpstreamPolicyEntry implements UpstreamPolicy {
  /** Tools that the vendor runs, without the date behind their name: `web_search`, `mcp`, `googleSearch`. */
  @IsNameList()
  tools: string[] = [];

  /** Values of `service_tier`: `auto`, `priority`, `flex`. */
  @IsNameList()
  service_tiers: string[] = [];

  /** Fields with ids of what the vendor keeps for the operator's account: `file_id`, `container`, `cachedContent`. */
  @IsNameList()
  account_ids: string[] = [];

  /** Further fields of the body: `speed`, `inference_geo`, `generationConfig.newField`. */
  @IsNameList()
  fields: string[] = [];

  /** Values of the header `anthropic-beta`. */
  @IsNameList()
  betas: string[] = [];
}

/** When an upstream of the chat protocol is sent the reasoning of earlier turns. */
const REPLAYED_REASONING = ['with_calls', 'always', 'never'] as const;

/** Whether it is passed on to an upstream that a caller wants no reasoning. */
const NO_REASONING = ['told', 'left_out'] as const;

/** How models of the messages protocol are asked to think. */
const THINKING = ['budget', 'effort'] as const;

/** Whether words for how to sample reach an upstream. */
const SAMPLING = ['sent', 'left_out'] as const;

/** Where system messages in the middle of a conversation go for an upstream of the chat protocol. */
const SYSTEM_MESSAGES = ['in_place', 'in_front'] as const;

/** How requests of other interfaces are put into words for an upstream. */
export class UpstreamTranslationEntry {
  /**
   * How to handle tools that a caller only offers (`web_search` and its like) and that the upstream lacks or may not run.
   * Left out: `drop` for what is translated, `refuse` for what passes through.
   */
  @IsOptional()
  @IsIn(LACKING_TOOLS)
  lacking_tools?: LackingTools;

  /**
   * Chat protocol: `with_calls` sends a vendor's own reasoning back beside the calls that followed it; `always` sends any
   * reasoning with every turn, an empty one where there is none; `never` sends none.
   */
  @IsIn(REPLAYED_REASONING)
  reasoning: (typeof REPLAYED_REASONING)[number] = 'with_calls';

  /**
   * Whether it is passed on to the vendor that a caller wants no reasoning: many reasoning models have no field for it and refuse it.
   * Unless it is set, `told` on the gemini protocol and where the caller of a responses upstream used its word; else `left_out`.
   */
  @IsOptional()
  @IsIn(NO_REASONING)
  no_reasoning?: (typeof NO_REASONING)[number];

  /**
   * Chat protocol: where system messages in the middle of a conversation go. `in_front` for models whose
   * templates take one system message, the first.
   */
  @IsIn(SYSTEM_MESSAGES)
  system_messages: (typeof SYSTEM_MESSAGES)[number] = 'in_place';

  /**
   * Messages protocol: whether models are asked to think with a number of tokens (`budget`) or with an effort, as newer ones want
   * it. Unless it is set, by what the upstream's name of a model tells.
   */
  @IsOptional()
  @IsIn(THINKING)
  thinking?: (typeof THINKING)[number];

  /**
   * Whether `temperature`, `top_p`, `top_k` and penalties are sent on, which newer models refuse. Unless it is set, they are to models
   * that are not known for that by the upstream's name of them.
   */
  @IsOptional()
  @IsIn(SAMPLING)
  sampling?: (typeof SAMPLING)[number];

  /**
   * Responses protocol: names the conversation to the vendor in `prompt_cache_key` where the caller does not, by which it finds its
   * prompt cache.
   */
  @IsBoolean()
  cache_key = false;

  /** Messages protocol: marks the beginning that turns of an agent have in common for the vendor's prompt cache. */
  @IsBoolean()
  prompt_cache = true;
}

const MOST_TOKENS = 10_000_000;

/** The operator's limits of one model, in tokens. Without it the gateway uses what it knows about the public name. */
export class ModelLimitsEntry {
  /** The longest reply, reasoning included: what a request without a limit is sent on with. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MOST_TOKENS)
  max_output_tokens?: number;

  /** The most it reads, which a file of unknown length may fill. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MOST_TOKENS)
  context_tokens?: number;

  /** What an image costs at most. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MOST_TOKENS)
  image_tokens?: number;
}

/** One upstream, in UPSTREAMS_FILE and in the admin API alike. */
export class UpstreamEntry extends RoutedEntry {
  @IsIn(TEXT_PROTOCOLS)
  protocol!: TextProtocol;

  /**
   * Address that the protocol's paths are appended to, version included, for example `https://api.vendor.example/v1`.
   */
  @ValidateIf((entry: UpstreamEntry) => entry.protocol !== 'sandbox')
  @IsUpstreamAddress()
  base_url!: string;

  /**
   * What proofs of reasoning and the prompt cache belong to: entries of one organisation of a vendor, of which each can read what
   * the others made, have one name. Absent: the entry's own id.
   */
  @IsOptional()
  @IsUpstreamName()
  vendor_account?: string;

  /**
   * Whether conversations stay where they began, for the sake of the vendor's prompt cache: `false` where the vendor has none;
   * `forced`: a conversation goes to no other vendor account while this upstream cools down, and gets 503 instead.
   */
  @IsIn(STICKY)
  sticky: boolean | 'forced' = true;

  /** Public model name to the upstream's own name for it. */
  @IsObject()
  models!: Record<string, string>;

  /** Public name of an embedding model to the upstream's own: it is asked for them at `/embeddings`. Of the chat protocol only. */
  @IsObject()
  embedding_models: Record<string, string> = {};

  @IsSettings(() => UpstreamTimeoutsEntry)
  timeouts = new UpstreamTimeoutsEntry();

  @IsSettings(() => UpstreamPolicyEntry)
  allow = new UpstreamPolicyEntry();

  @IsSettings(() => UpstreamTranslationEntry)
  translation = new UpstreamTranslationEntry();

  /**
   * Headers of callers that are sent on where the request is of the upstream's own protocol. Absent: those by which agents name
   * their conversations; an empty list: none.
   */
  @IsPassedHeaders()
  pass_headers?: string[];

  /**
   * Chat and messages protocol: whether a reply that passes through, calls functions and says that it ended by itself (`stop`, `end_turn`) is
   * told as one that called (`tool_calls`, `tool_use`). Agents stop at the other. In translation it always is.
   */
  @IsBoolean()
  mends_finish_reason = false;

  /** `self`: names in URLs are resolved before they are sent, and must lead to public addresses. */
  @IsIn(FETCHES_URLS)
  fetches_urls: (typeof FETCHES_URLS)[number] = 'vendor';

  /** What the vendor calls the output limit; only the chat protocol has two names for it. */
  @IsIn(LIMIT_FIELDS)
  output_limit_field: (typeof LIMIT_FIELDS)[number] = 'max_tokens';

  /** Public model name to what the model takes and gives at most. */
  @IsObject()
  model_limits: Record<string, ModelLimitsEntry> = {};

  /**
   * What the vendor takes: `unit`, `per_quantity`, `factor` (what this account pays of the figures), `rates` (what one of a unit is worth in
   * the unit of balances), and for each model amounts by unit, or a list of them by `from_input_tokens` and `tier`.
   */
  @IsObject()
  costs: JsonObject = {};

  /** Whose fields in a reply say what it cost; they count before `costs`. Absent: none. */
  @IsOptional()
  @IsIn(COST_REPORTS)
  reports_cost?: CostReport;

  /** Whether the upstream is passed over for models whose price does not cover what it costs here. */
  @IsBoolean()
  refuse_below_cost = false;

  /**
   * What holds for a model, by its public name or the upstream's, or by a pattern of such names in which `*` stands for any letters.
   * It takes the place of what the gateway knows by the upstream's name, field by field; names come before patterns.
   */
  @IsObject()
  model_traits: Record<string, Partial<ModelTraits>> = {};
}

export class UpstreamsFile {
  @IsArray()
  @ArrayMinSize(1)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => UpstreamEntry)
  upstreams!: UpstreamEntry[];
}
