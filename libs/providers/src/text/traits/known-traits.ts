import type { ModelTraits, TextProtocol } from '#contracts';
import type { Generation, ModelFamilyName } from './model-names.js';

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

/** Where facts were read, and the day on which they were read, or tried. */
type Read = Pick<TraitRow, 'source' | 'asOf'>;
const read = (asOf: string, source: string): Read => ({ source, asOf });

const CLAUDE_DOCS = 'https://platform.claude.com/docs/en';
const GEMINI_DOCS = 'https://ai.google.dev/gemini-api/docs';
const OPENAI_DOCS = 'https://developers.openai.com/api';
const CLAUDE_MIGRATION = read('2026-11-26', `${CLAUDE_DOCS}/about-claude/models/migration-guide`);
const CLAUDE_SYSTEM_MESSAGES = read('2026-11-27', `${CLAUDE_DOCS}/build-with-claude/mid-conversation-system-messages`);
const LANGCHAIN_ANTHROPIC = read(
  '2026-11-27',
  'https://github.com/langchain-ai/langchainjs/releases/tag/%40langchain%2Fanthropic%401.5.13',
);
const OPUS_5_5 = read('2026-11-27', `${CLAUDE_DOCS}/models/opus-5-5/whats-new-opus-5-5`);
const SONNET_5_5 = read('2026-11-27', `${CLAUDE_DOCS}/models/sonnet-5-5/whats-new-sonnet-5-5`);
const HAIKU_5_5 = read('2026-11-27', `${CLAUDE_DOCS}/models/haiku-5-5/whats-new-haiku-5-5`);
const OPENAI_CHAT = read('2026-11-26', `${OPENAI_DOCS}/reference/resources/chat`);
const OPENAI_REASONING = read('2026-11-26', `${OPENAI_DOCS}/docs/guides/reasoning`);
const AI_SDK_10932 = read('2026-11-26', 'https://github.com/vercel/ai/issues/10932');
const OPENAI_FORUM_1386454 = read('2026-11-26', 'https://community.openai.com/t/1386454');
const USING_GPT_6 = read('2026-11-27', `${OPENAI_DOCS}/docs/guides/latest-model?model=gpt-6.1-sol`);
const GEMINI_THINKING = read('2026-11-26', `${GEMINI_DOCS}/thinking`);
const GEMINI_PROOFS = read('2026-11-28', `${GEMINI_DOCS}/thought-signatures`);
const GEMINI_4 = read('2026-11-27', `${GEMINI_DOCS}/generate-content/latest-model`);
const LONG_DECODE = read('2026-11-27', `${GEMINI_DOCS}/generate-content/long-decode`);
const MISTRAL_TOOLS = read('2026-11-26', 'https://docs.mistral.ai/capabilities/function_calling');

const fact = (where: Read, whose: Omit<TraitRow, keyof Read | 'traits'>, traits: TraitRow['traits']): TraitRow => ({
  ...whose,
  ...where,
  traits,
});

/**
 * What is known of models by their names, from the general to the particular: a later row takes the place of an earlier one, field by
 * field. It ages: an operator says otherwise in `model_traits` of an upstream.
 */
export const KNOWN_TRAITS: readonly TraitRow[] = [
  // Claude, over any protocol.
  fact(CLAUDE_MIGRATION, { family: 'claude', from: [4, 1] }, { sampling: 'one' }),
  fact(CLAUDE_MIGRATION, { family: 'claude', from: [4, 6] }, { thinking: 'effort' }),
  fact(
    CLAUDE_MIGRATION,
    { family: 'claude', from: [4, 7] },
    { sampling: 'none', efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  ),
  fact(
    CLAUDE_SYSTEM_MESSAGES,
    { family: 'claude', from: [4, 8], except: ['sonnet', 'haiku'], protocols: ['messages'] },
    { system_messages: 'in_place' },
  ),
  fact(
    LANGCHAIN_ANTHROPIC,
    { family: 'claude', from: [5, 5], protocols: ['messages'] },
    { system_messages: 'in_place' },
  ),
  fact(OPUS_5_5, { family: 'claude', from: [5, 0] }, { thinks_unasked: 'yes' }),
  fact(
    OPUS_5_5,
    { family: 'claude', from: [5, 0], lines: ['opus'] },
    { max_output_tokens: 128_000, context_tokens: 1_000_000 },
  ),
  fact(CLAUDE_MIGRATION, { family: 'claude', from: [5, 0], lines: ['fable', 'mythos'] }, { thinking_off: 'refused' }),
  fact(
    OPUS_5_5,
    { family: 'claude', from: [5, 1], lines: ['fable', 'mythos'] },
    { forced_tools: 'refused', thinking_bound: 'conversation' },
  ),
  fact(
    OPUS_5_5,
    { family: 'claude', from: [5, 5] },
    { forced_tools: 'refused', thinking_off: 'refused', thinking_bound: 'conversation', text_between_tools: 'thought' },
  ),
  fact(SONNET_5_5, { family: 'claude', from: [5, 5], lines: ['sonnet'] }, { thinking_off: 'between_tools' }),
  fact(
    HAIKU_5_5,
    { family: 'claude', from: [5, 5], lines: ['haiku'] },
    {
      forced_tools: 'taken',
      thinking_off: 'taken',
      text_between_tools: 'said',
      max_output_tokens: 128_000,
      context_tokens: 1_000_000,
    },
  ),

  // OpenAI's models.
  fact(OPENAI_CHAT, { family: 'gpt' }, { call_ids: 'forty_characters' }),
  fact(
    OPENAI_REASONING,
    { family: 'o' },
    {
      call_ids: 'forty_characters',
      sampling: 'none',
      penalties: 'refused',
      output_limit_field: 'max_completion_tokens',
    },
  ),
  fact(
    OPENAI_REASONING,
    { family: 'gpt', from: [5, 0], except: ['chat'] },
    { sampling: 'none', penalties: 'refused', output_limit_field: 'max_completion_tokens' },
  ),
  fact(
    AI_SDK_10932,
    { family: 'gpt', from: [5, 1], except: ['chat'] },
    { sampling: 'unless_thinking', penalties: 'taken' },
  ),
  fact(
    OPENAI_FORUM_1386454,
    { family: 'gpt', from: [5, 4], except: ['chat'], servers: ['openai.com', 'openai.azure.com'] },
    { tools_over_chat: 'refused' },
  ),
  fact(
    USING_GPT_6,
    { family: 'gpt', from: [5, 6], except: ['chat'] },
    { sampling: 'at_no_effort', efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
  ),
  fact(
    USING_GPT_6,
    { family: 'gpt', from: [6, 0], lines: ['astra'] },
    { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  ),
  fact(
    USING_GPT_6,
    { family: 'gpt', from: [6, 1], lines: ['sol'] },
    { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  ),

  // Gemini.
  fact(
    GEMINI_THINKING,
    { family: 'gemini', from: [2, 5], before: [3, 0], lines: ['pro'] },
    { thinking_off: 'refused' },
  ),
  fact(
    GEMINI_THINKING,
    { family: 'gemini', from: [3, 0] },
    { thinking: 'effort', thinking_off: 'refused', efforts: ['low', 'medium', 'high'] },
  ),
  fact(GEMINI_PROOFS, { family: 'gemini', from: [3, 0], protocols: ['gemini'] }, { call_proofs: 'needed' }),
  fact(
    GEMINI_PROOFS,
    { family: 'gemini', from: [3, 0], protocols: ['chat'], servers: ['googleapis.com'] },
    { call_proofs: 'needed' },
  ),
  fact(
    GEMINI_THINKING,
    { family: 'gemini', from: [3, 0], before: [3, 1], lines: ['pro'] },
    { efforts: ['low', 'high'] },
  ),
  fact(
    GEMINI_THINKING,
    { family: 'gemini', from: [3, 0], before: [4, 0], lines: ['flash'] },
    { efforts: ['minimal', 'low', 'medium', 'high'] },
  ),
  fact(GEMINI_4, { family: 'gemini', from: [4, 0] }, { penalties: 'refused', several_replies: 'refused' }),
  fact(
    LONG_DECODE,
    { family: 'gemini', from: [4, 0] },
    { max_output_tokens: 65_536, unstreamed_output_tokens: 32_768, context_tokens: 1_048_576 },
  ),

  // Mistral, whose own servers and templates are stricter than those of all others.
  fact(MISTRAL_TOOLS, { family: 'mistral' }, { call_ids: 'nine_letters', user_after_result: 'refused' }),
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

const OPENAI_TRAITS: ModelTraits = {
  ...EVERY_PROTOCOL,
  thinking: 'effort',
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  system_messages: 'in_place',
};

/** Of a model that nothing more is known of, by the protocol that it is asked in. */
export const USUAL_TRAITS: Readonly<Record<AskedProtocol, ModelTraits>> = {
  chat: OPENAI_TRAITS,
  responses: OPENAI_TRAITS,
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
