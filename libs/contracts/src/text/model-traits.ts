import { REASONING_EFFORTS, type ReasoningEffort } from './text-request.js';

/** Each thing that text models differ in, with the values it can have, in the words that an operator writes. */
export const TRAITS = {
  forced_tools: {
    values: ['taken', 'in_words', 'refused'],
    about: 'a tool choice that demands a call; `in_words`: asked for in the prompt, and left to the model',
  },
  several_replies: { values: ['taken', 'refused'], about: 'more than one reply to one prompt' },
  tools_over_chat: {
    values: ['taken', 'refused'],
    about: 'functions over the chat protocol, unless the effort is `none`',
  },
  sampling: {
    values: ['all', 'one', 'unless_thinking', 'at_no_effort', 'none'],
    about:
      '`temperature`, `top_p` and `top_k`; `one`: one of the first two; `unless_thinking`: where no effort is asked for; `at_no_effort`: with the effort `none`',
  },
  penalties: { values: ['taken', 'refused'], about: '`presence_penalty` and `frequency_penalty`' },
  thinking: {
    values: ['budget', 'effort'],
    about: 'how it is asked to think: with a number of tokens, or with an effort (over gemini a level)',
  },
  thinking_off: {
    values: ['taken', 'between_tools', 'refused'],
    about:
      'a field that asks for no thinking; `between_tools`: in the form of that name; `refused`: the least effort is asked for',
  },
  thinks_unasked: { values: ['no', 'yes'], about: 'whether it thinks where a request does not ask for it' },
  text_between_tools: {
    values: ['said', 'thought'],
    about: 'what it says between two calls; `thought`: part of its thinking, which is shown on demand',
  },
  thinking_bound: {
    values: ['no', 'account', 'conversation'],
    about:
      'where its thinking can be sent back: only to the account, or only behind the same conversation, that it came from',
  },
  call_proofs: { values: ['unneeded', 'needed'], about: 'a proof at the first call of a turn, over gemini and chat' },
  system_messages: {
    values: ['in_place', 'in_front'],
    about: 'where system messages in the middle of a conversation go',
  },
  system_role: {
    values: ['developer', 'system'],
    about: 'the role of system messages in the middle of a conversation, over responses',
  },
  user_after_result: {
    values: ['taken', 'refused'],
    about: 'a message of the user right behind the result of a function, over chat',
  },
  call_ids: {
    values: ['any', 'forty_characters', 'nine_letters'],
    about: 'the ids of calls that it takes, over chat',
  },
  output_limit_field: {
    values: ['max_tokens', 'max_completion_tokens'],
    about: 'the name of the output limit, over chat',
  },
} as const;

/** Limits of a model, in tokens; absent where they are not known. */
export const TRAIT_LIMITS = {
  max_output_tokens: 'the longest reply, reasoning included',
  unstreamed_output_tokens: 'the highest output limit of a reply that is not streamed',
  context_tokens: 'the most it reads',
  image_tokens: 'the most an image costs',
} as const;

type TraitValues = { readonly [Name in keyof typeof TRAITS]: (typeof TRAITS)[Name]['values'][number] };
type TraitLimits = { readonly [Name in keyof typeof TRAIT_LIMITS]?: number };

/** What holds for one model behind one upstream. */
export type ModelTraits = TraitValues &
  TraitLimits & {
    /** The efforts that it takes, in any order. */
    readonly efforts: readonly ReasoningEffort[];
  };

/** The effort that is sent for one that is asked for: itself, or the next weaker one, or else the weakest that the model has. */
export function takenEffort(asked: ReasoningEffort, { efforts }: Pick<ModelTraits, 'efforts'>): ReasoningEffort {
  if (efforts.includes(asked)) return asked;
  const strength = REASONING_EFFORTS.indexOf(asked);
  // To think a little is not to think at all: only who asks for none gets none.
  const inOrder = REASONING_EFFORTS.filter((effort) => efforts.includes(effort) && effort !== 'none');
  return inOrder.findLast((effort) => REASONING_EFFORTS.indexOf(effort) < strength) ?? inOrder[0] ?? asked;
}
