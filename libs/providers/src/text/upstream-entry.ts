import { Type } from 'class-transformer';
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
import { LACKING_TOOLS, type LackingTools, TEXT_PROTOCOLS, type TextProtocol, type UpstreamPolicy } from '#contracts';
import { IsUpstreamAddress, IsUpstreamName, RoutedEntry } from '../routed-entry.js';

const LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

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

/** A list of names, `*` for all of them. */
const IsNameList = (): PropertyDecorator => (target, property) => {
  IsArray()(target, property);
  Matches(/^[\w.*:-]{1,128}$/, {
    each: true,
    message: '$property must be a list of names of letters, digits, "_", "-", "." and ":", or "*" for all',
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
   * What proofs of reasoning belong to: entries of one organisation of a vendor, of which each can read what the others made, have
   * one name. Absent: the entry's own id.
   */
  @IsOptional()
  @IsUpstreamName()
  vendor_account?: string;

  /** Public model name to the upstream's own name for it. */
  @IsObject()
  models!: Record<string, string>;

  /** Public name of an embedding model to the upstream's own: it is asked for them at `/embeddings`. Of the chat protocol only. */
  @IsObject()
  embedding_models: Record<string, string> = {};

  @ValidateNested({ message: '$property must be an object' })
  @Type(() => UpstreamTimeoutsEntry)
  timeouts = new UpstreamTimeoutsEntry();

  @ValidateNested({ message: '$property must be an object' })
  @Type(() => UpstreamPolicyEntry)
  allow = new UpstreamPolicyEntry();

  @ValidateNested({ message: '$property must be an object' })
  @Type(() => UpstreamTranslationEntry)
  translation = new UpstreamTranslationEntry();

  /** `self`: names in URLs are resolved before they are sent, and must lead to public addresses. */
  @IsIn(FETCHES_URLS)
  fetches_urls: (typeof FETCHES_URLS)[number] = 'vendor';

  /** What the vendor calls the output limit; only the chat protocol has two names for it. */
  @IsIn(LIMIT_FIELDS)
  output_limit_field: (typeof LIMIT_FIELDS)[number] = 'max_tokens';

  /** Public model name to what the model takes and gives at most. */
  @IsObject()
  model_limits: Record<string, ModelLimitsEntry> = {};
}

/** The whole file. */
export class UpstreamsFile {
  @IsArray()
  @ArrayMinSize(1)
  @ValidateNested({ each: true })
  @Type(() => UpstreamEntry)
  upstreams!: UpstreamEntry[];
}
