import type { TextStyle } from './text-style.js';

/** What of a style's own interface costs nothing but the tokens it uses. */
export interface PricedFields {
  /** Fields of the body that may pass. What is not listed is left out, so that no field of tomorrow costs money. */
  readonly fields: ReadonlySet<string>;
  /** Fields that change the price and are refused by name, rather than left out. */
  readonly extraCost: ReadonlySet<string>;
  /** Service tiers at the price of the price book. */
  readonly tiers: ReadonlySet<string>;
  /** The tier that is a setting of the vendor's account: left out unless an upstream allows it, for it asks for nothing itself. */
  readonly accountTier?: string;
  /** Tools that the caller runs. All others are run by the vendor, or may be. */
  readonly callersTools: RegExp;
}

/** What a policy calls sound in a request, however its style writes it. */
export const INPUT_AUDIO = 'input_audio';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''));

/** For each style: what is known to be charged in full by its tokens. */
export const PRICED: Readonly<Record<TextStyle, PricedFields>> = {
  responses: {
    fields: words(`
      model input instructions temperature top_p max_output_tokens max_tokens max_completion_tokens stream tools
      tool_choice parallel_tool_calls max_tool_calls text reasoning previous_response_id store stop metadata user
      safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options include truncation service_tier
      top_logprobs presence_penalty frequency_penalty stream_options background conversation prompt client_metadata
      context_management moderation diagnostics
    `),
    extraCost: words('modalities audio speed inference_geo web_search_options'),
    tiers: words('default standard'),
    accountTier: 'auto',
    callersTools: /^(function|custom|namespace|local_shell|apply_patch)$/,
  },
  messages: {
    fields: words(`
      model messages max_tokens system temperature top_p top_k stream stop_sequences metadata tools tool_choice thinking
      output_config output_format service_tier cache_control context_management container mcp_servers
      compaction diagnostics thread
    `),
    extraCost: words('speed inference_geo fallbacks fallback_credit_token'),
    tiers: words('standard_only standard default'),
    accountTier: 'auto',
    callersTools: /^(custom|bash|text_editor|memory)$/,
  },
  gemini: {
    fields: words(`
      model contents generationConfig safetySettings systemInstruction tools toolConfig cachedContent labels serviceTier
      continuationToken store
    `),
    extraCost: words('speed inferenceGeo'),
    tiers: words('standard default unspecified service_tier_unspecified service_tier_standard'),
    callersTools: /^functionDeclarations$/,
  },
  chat: {
    // Those of the interface first, then what its many vendors add to it.
    fields: words(`
      model messages stream stream_options temperature top_p n stop max_tokens max_completion_tokens presence_penalty
      frequency_penalty logit_bias logprobs top_logprobs seed tools tool_choice parallel_tool_calls functions function_call
      response_format reasoning_effort verbosity modalities user safety_identifier metadata store prompt_cache_key
      prompt_cache_retention prompt_cache_options service_tier moderation
      top_k min_p top_a typical_p repetition_penalty length_penalty ignore_eos min_tokens stop_token_ids bad_words
      skip_special_tokens include_stop_str_in_output chat_template_kwargs guided_json guided_regex guided_choice
      guided_grammar structured_outputs reasoning include_reasoning reasoning_format reasoning_split thinking
      enable_thinking thinking_budget preserve_thinking safe_prompt random_seed prompt_mode cache_control
    `),
    extraCost: words(`
      audio web_search_options prediction speed inference_geo models route provider plugins search_parameters
      search_domain_filter search_mode enable_search search_options deferred
    `),
    tiers: words('default standard'),
    accountTier: 'auto',
    callersTools: /^(function|custom)$/,
  },
};

/**
 * Names that some interface or vendor has for the most tokens of a reply, or for how many replies there are. What a style
 * does not call so itself is never sent, whatever an upstream's policy lists: a vendor that obeys it would write more than
 * is held for.
 */
const OUTPUT_NAMES = words(`
  max_tokens max_completion_tokens max_output_tokens max_tokens_to_sample max_new_tokens max_gen_tokens max_generated_tokens
  max_length max_gen_len n_predict num_predict num_tokens n best_of candidate_count num_return_sequences num_generations num_completions
`);
const camelCase = (name: string): string => name.replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
const ANY_OUTPUT_NAMES: ReadonlySet<string> = new Set([...OUTPUT_NAMES].flatMap((name) => [name, camelCase(name)]));

/** Whether a field of a body, or of an object in it, may say how much is written. */
export const namesOutput = (path: string): boolean => ANY_OUTPUT_NAMES.has(path.slice(path.lastIndexOf('.') + 1));

/** Values of `anthropic-beta` that change no price: fields that agents send mean nothing, or are refused, without them. */
export const PRICED_BETAS: ReadonlySet<string> = words(`
  claude-code-20250219 interleaved-thinking-2025-05-14 fine-grained-tool-streaming-2025-05-14
  token-efficient-tools-2025-02-19 token-counting-2024-11-01 prompt-caching-2024-07-31 pdfs-2024-09-25
  output-128k-2025-02-19 max-tokens-3-5-sonnet-2024-07-15 context-management-2025-06-27
  structured-outputs-2025-09-17 structured-outputs-2025-11-13 effort-2025-11-24 tool-examples-2025-10-29
  advanced-tool-use-2025-11-20 model-context-window-exceeded-2025-08-26 thinking-token-count-2026-05-13
  mid-conversation-tool-changes-2026-07-01 inline-tools-2026-09-15 thinking-binding-controls-2026-08-01
`);

/** The same for `generationConfig`, where the gemini style has its switches. */
export const PRICED_CONFIG = {
  fields: words(`
    temperature topP topK maxOutputTokens stopSequences candidateCount seed presencePenalty frequencyPenalty
    responseMimeType responseSchema responseJsonSchema responseFormat responseModalities responseLogprobs logprobs thinkingConfig
    mediaResolution audioTimestamp enableEnhancedCivicAnswers
  `),
  // `routingConfig` and `modelSelectionConfig` put another model in place of the one that is paid for.
  extraCost: words('speechConfig imageConfig routingConfig modelSelectionConfig modelConfig'),
};

export const textFieldNames = (style: TextStyle): readonly string[] => [...PRICED[style].fields];
