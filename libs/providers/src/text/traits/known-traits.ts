import type { ModelTraits, TextProtocol } from '#contracts';
import type { Generation, ModelFamilyName } from './model-names.js';

/** What an upstream that is no sandbox speaks. */
export type AskedProtocol = Exclude<TextProtocol, 'sandbox'>;

/** A fact about some models, where it was read and when. */
export interface TraitRow {
  readonly family: ModelFamilyName;
  readonly from?: Generation;
  readonly before?: Generation;
  /** One of the words of the name; any model of the family, unless it is set. */
  readonly lines?: readonly string[];
  /** Words of a name that the fact does not hold for. */
  readonly except?: readonly string[];
  /** The protocols that it holds over; any, unless it is set. */
  readonly protocols?: readonly AskedProtocol[];
  /** The servers that it holds for, by the end of their names; any, unless it is set: a reseller may lift a rule of a server. */
  readonly servers?: readonly string[];
  /** Where it was read. */
  readonly source: string;
  /** The day on which it was read, or tried. */
  readonly asOf: string;
  readonly traits: Partial<ModelTraits>;
}

const CLAUDE_DOCS = 'https://platform.claude.com/docs/en';
const OPUS_5_5 = `${CLAUDE_DOCS}/models/opus-5-5/whats-new-opus-5-5`;
const SONNET_5_5 = `${CLAUDE_DOCS}/models/sonnet-5-5/whats-new-sonnet-5-5`;
const HAIKU_5_5 = `${CLAUDE_DOCS}/models/haiku-5-5/whats-new-haiku-5-5`;
const USING_GPT_6 = 'https://developers.openai.com/api/docs/guides/latest-model?model=gpt-6.1-sol';
const OPENAI_REASONING = 'https://developers.openai.com/api/docs/guides/reasoning';
const GEMINI_4 = 'https://ai.google.dev/gemini-api/docs/generate-content/latest-model';
const GEMINI_THINKING = 'https://ai.google.dev/gemini-api/docs/thinking';
const GEMINI_PROOFS = 'https://ai.google.dev/gemini-api/docs/thought-signatures';
const LONG_DECODE = 'https://ai.google.dev/gemini-api/docs/generate-content/long-decode';

/**
 * What is known of models by their names, from the general to the particular: a later row takes the place of an earlier one, field by
 * field. It ages: an operator says otherwise in `model_traits` of an upstream.
 */
export const KNOWN_TRAITS: readonly TraitRow[] = [
  // Claude, over any protocol.
  {
    family: 'claude',
    from: [4, 1],
    source: `${CLAUDE_DOCS}/about-claude/models/migration-guide`,
    asOf: '2026-11-26',
    traits: { sampling: 'one' },
  },
  {
    family: 'claude',
    from: [4, 6],
    source: `${CLAUDE_DOCS}/about-claude/models/migration-guide`,
    asOf: '2026-11-26',
    traits: { thinking: 'effort' },
  },
  {
    family: 'claude',
    from: [4, 7],
    source: `${CLAUDE_DOCS}/about-claude/models/migration-guide`,
    asOf: '2026-11-26',
    traits: { sampling: 'none', efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  },
  {
    family: 'claude',
    from: [4, 8],
    except: ['sonnet', 'haiku'],
    protocols: ['messages'],
    source: `${CLAUDE_DOCS}/build-with-claude/mid-conversation-system-messages`,
    asOf: '2026-11-27',
    traits: { system_messages: 'in_place' },
  },
  {
    family: 'claude',
    from: [5, 5],
    protocols: ['messages'],
    source: 'https://github.com/langchain-ai/langchainjs/releases/tag/%40langchain%2Fanthropic%401.5.13',
    asOf: '2026-11-27',
    traits: { system_messages: 'in_place' },
  },
  {
    family: 'claude',
    from: [5, 0],
    source: OPUS_5_5,
    asOf: '2026-11-27',
    traits: { thinks_unasked: 'yes' },
  },
  {
    family: 'claude',
    from: [5, 0],
    lines: ['opus'],
    source: OPUS_5_5,
    asOf: '2026-11-27',
    traits: { max_output_tokens: 128_000, context_tokens: 1_000_000 },
  },
  {
    family: 'claude',
    from: [5, 0],
    lines: ['fable', 'mythos'],
    source: `${CLAUDE_DOCS}/about-claude/models/migration-guide`,
    asOf: '2026-11-26',
    traits: { thinking_off: 'refused' },
  },
  {
    family: 'claude',
    from: [5, 1],
    lines: ['fable', 'mythos'],
    source: OPUS_5_5,
    asOf: '2026-11-27',
    traits: { forced_tools: 'refused', thinking_bound: 'conversation' },
  },
  {
    family: 'claude',
    from: [5, 5],
    source: OPUS_5_5,
    asOf: '2026-11-27',
    traits: {
      forced_tools: 'refused',
      thinking_off: 'refused',
      thinking_bound: 'conversation',
      text_between_tools: 'thought',
    },
  },
  {
    family: 'claude',
    from: [5, 5],
    lines: ['sonnet'],
    source: SONNET_5_5,
    asOf: '2026-11-27',
    traits: { thinking_off: 'between_tools' },
  },
  {
    family: 'claude',
    from: [5, 5],
    lines: ['haiku'],
    source: HAIKU_5_5,
    asOf: '2026-11-27',
    traits: {
      forced_tools: 'taken',
      thinking_off: 'taken',
      text_between_tools: 'said',
      max_output_tokens: 128_000,
      context_tokens: 1_000_000,
    },
  },

  // OpenAI's models.
  {
    family: 'gpt',
    source: 'https://developers.openai.com/api/reference/resources/chat',
    asOf: '2026-11-26',
    traits: { call_ids: 'forty_characters' },
  },
  {
    family: 'o',
    source: OPENAI_REASONING,
    asOf: '2026-11-26',
    traits: {
      call_ids: 'forty_characters',
      sampling: 'none',
      penalties: 'refused',
      output_limit_field: 'max_completion_tokens',
    },
  },
  {
    family: 'gpt',
    from: [5, 0],
    except: ['chat'],
    source: OPENAI_REASONING,
    asOf: '2026-11-26',
    traits: { sampling: 'none', penalties: 'refused', output_limit_field: 'max_completion_tokens' },
  },
  {
    family: 'gpt',
    from: [5, 1],
    except: ['chat'],
    source: 'https://github.com/vercel/ai/issues/10932',
    asOf: '2026-11-26',
    traits: { sampling: 'unless_thinking', penalties: 'taken' },
  },
  {
    family: 'gpt',
    from: [5, 4],
    except: ['chat'],
    servers: ['openai.com', 'openai.azure.com'],
    source: 'https://community.openai.com/t/1386454',
    asOf: '2026-11-26',
    traits: { tools_over_chat: 'refused' },
  },
  {
    family: 'gpt',
    from: [5, 6],
    except: ['chat'],
    source: USING_GPT_6,
    asOf: '2026-11-27',
    traits: {
      sampling: 'at_no_effort',
      efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    },
  },
  {
    family: 'gpt',
    from: [6, 0],
    lines: ['astra'],
    source: USING_GPT_6,
    asOf: '2026-11-27',
    traits: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  },
  {
    family: 'gpt',
    from: [6, 1],
    lines: ['sol'],
    source: USING_GPT_6,
    asOf: '2026-11-27',
    traits: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  },

  // Gemini.
  {
    family: 'gemini',
    from: [2, 5],
    before: [3, 0],
    lines: ['pro'],
    source: GEMINI_THINKING,
    asOf: '2026-11-26',
    traits: { thinking_off: 'refused' },
  },
  {
    family: 'gemini',
    from: [3, 0],
    source: GEMINI_THINKING,
    asOf: '2026-11-26',
    traits: {
      thinking: 'effort',
      thinking_off: 'refused',
      efforts: ['low', 'medium', 'high'],
    },
  },
  {
    family: 'gemini',
    from: [3, 0],
    protocols: ['gemini'],
    source: GEMINI_PROOFS,
    asOf: '2026-11-28',
    traits: { call_proofs: 'needed' },
  },
  {
    family: 'gemini',
    from: [3, 0],
    protocols: ['chat'],
    servers: ['googleapis.com'],
    source: GEMINI_PROOFS,
    asOf: '2026-11-28',
    traits: { call_proofs: 'needed' },
  },
  {
    family: 'gemini',
    from: [3, 0],
    before: [3, 1],
    lines: ['pro'],
    source: GEMINI_THINKING,
    asOf: '2026-11-26',
    traits: { efforts: ['low', 'high'] },
  },
  {
    family: 'gemini',
    from: [3, 0],
    before: [4, 0],
    lines: ['flash'],
    source: GEMINI_THINKING,
    asOf: '2026-11-26',
    traits: { efforts: ['minimal', 'low', 'medium', 'high'] },
  },
  {
    family: 'gemini',
    from: [4, 0],
    source: GEMINI_4,
    asOf: '2026-11-27',
    traits: { penalties: 'refused', several_replies: 'refused' },
  },
  {
    family: 'gemini',
    from: [4, 0],
    source: LONG_DECODE,
    asOf: '2026-11-27',
    traits: {
      max_output_tokens: 65_536,
      unstreamed_output_tokens: 32_768,
      context_tokens: 1_048_576,
    },
  },

  // Mistral, whose own servers and templates are stricter than those of all others.
  {
    family: 'mistral',
    source: 'https://docs.mistral.ai/capabilities/function_calling',
    asOf: '2026-11-26',
    traits: { call_ids: 'nine_letters', user_after_result: 'refused' },
  },
];

const EVERY_PROTOCOL = {
  forced_tools: 'taken',
  several_replies: 'taken',
  tools_over_chat: 'taken',
  sampling: 'all',
  penalties: 'taken',
  thinking_off: 'taken',
  thinks_unasked: 'yes',
  text_between_tools: 'said',
  thinking_bound: 'no',
  call_proofs: 'unneeded',
  system_role: 'developer',
  user_after_result: 'taken',
  call_ids: 'any',
  output_limit_field: 'max_tokens',
} as const satisfies Partial<ModelTraits>;

/** Of a model that nothing more is known of, by the protocol that it is asked in. */
export const USUAL_TRAITS: Readonly<Record<AskedProtocol, ModelTraits>> = {
  chat: {
    ...EVERY_PROTOCOL,
    thinking: 'effort',
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    system_messages: 'in_place',
  },
  responses: {
    ...EVERY_PROTOCOL,
    thinking: 'effort',
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    system_messages: 'in_place',
  },
  messages: {
    ...EVERY_PROTOCOL,
    thinking: 'budget',
    efforts: ['low', 'medium', 'high', 'max'],
    thinks_unasked: 'no',
    system_messages: 'in_front',
  },
  gemini: {
    ...EVERY_PROTOCOL,
    thinking: 'budget',
    efforts: ['low', 'medium', 'high'],
    system_messages: 'in_front',
  },
};
