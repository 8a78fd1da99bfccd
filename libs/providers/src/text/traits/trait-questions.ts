import { isJsonObject, type JsonObject, type ModelTraits, REASONING_EFFORTS, TRAITS } from '#contracts';
import type { AskedProtocol } from './known-traits.js';

/** Limits of output, which an answer tells to hold or not; another number no answer tells but by its words. */
type AskedLimit = 'max_output_tokens' | 'unstreamed_output_tokens';

/** Traits that a vendor's answer can tell. */
type AskedTrait = keyof typeof TRAITS | 'efforts' | AskedLimit;

/** One request to a vendor that it takes or refuses, whereby it says what holds for a model. */
export interface TraitQuestion {
  readonly trait: AskedTrait;
  /** What is asked for, in a few words. */
  readonly what: string;
  /** The values of the trait with which it is taken; of a list the one that it must hold. */
  readonly takenWith: readonly string[];
  /** Fields beside those of the least request, or in their place. */
  readonly fields: JsonObject;
  /** What it lets a model write at most, in tokens; undefined for what all questions do. */
  readonly most?: number;
  /** Whether the reply is asked for as a stream. */
  readonly isStreamed?: boolean;
}

export interface TraitAnswer {
  readonly question: TraitQuestion;
  readonly isTaken: boolean;
}

const NAME = 'get_time';
const PARAMETERS: JsonObject = { type: 'object', properties: {} };
const TOOLS: Readonly<Record<AskedProtocol, JsonObject>> = {
  chat: { tools: [{ type: 'function', function: { name: NAME, parameters: PARAMETERS } }] },
  responses: { tools: [{ type: 'function', name: NAME, parameters: PARAMETERS }] },
  messages: { tools: [{ name: NAME, input_schema: PARAMETERS }] },
  gemini: { tools: [{ functionDeclarations: [{ name: NAME }] }] },
};
const FORCED: Readonly<Record<AskedProtocol, JsonObject>> = {
  chat: { tool_choice: 'required' },
  responses: { tool_choice: 'required' },
  messages: { tool_choice: { type: 'any' } },
  gemini: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
};

const inConfig = (fields: JsonObject): JsonObject => ({ generationConfig: fields });

/** An effort, in the words of a protocol; undefined where it has none for it. */
function effortField(protocol: AskedProtocol, effort: string): JsonObject | undefined {
  if (protocol === 'chat') return { reasoning_effort: effort };
  if (protocol === 'responses') return { reasoning: { effort } };
  if (protocol === 'messages')
    return effort === 'none' || effort === 'minimal' ? undefined : { output_config: { effort } };
  return /^(?:minimal|low|medium|high)$/.test(effort)
    ? inConfig({ thinkingConfig: { thinkingLevel: effort } })
    : undefined;
}

/** A chat conversation in which a call of this id was answered. */
const called = (id: string, ...behind: readonly JsonObject[]): JsonObject => ({
  ...TOOLS.chat,
  messages: [
    { role: 'user', content: 'What time is it?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: NAME, arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'Noon.' },
    ...behind,
  ],
});

type Asked = Omit<TraitQuestion, 'trait'>;

/** Asks for a reply with this output limit, streamed or not. */
function withLimit(
  protocol: AskedProtocol,
  { output_limit_field: field }: ModelTraits,
  most: number,
  isStreamed: boolean,
) {
  const limits: Readonly<Record<AskedProtocol, JsonObject>> = {
    chat: { [field]: most, stream: isStreamed },
    responses: { max_output_tokens: most, stream: isStreamed },
    messages: { max_tokens: most, stream: isStreamed },
    gemini: inConfig({ maxOutputTokens: most }),
  };
  return {
    what: `a limit of ${most}${isStreamed ? '' : ', not streamed'}`,
    fields: limits[protocol],
    most,
    isStreamed,
  };
}

/** What a vendor is asked of each trait. Of forms of which a model may take several only the one that is held is asked for. */
const QUESTIONS: Readonly<
  Partial<Record<AskedTrait, (protocol: AskedProtocol, held: ModelTraits) => readonly Asked[]>>
> = {
  forced_tools: (protocol) => [
    { what: 'a demand for a call', takenWith: ['taken'], fields: { ...TOOLS[protocol], ...FORCED[protocol] } },
  ],
  several_replies: (protocol) => {
    const fields = { chat: { n: 2 }, gemini: inConfig({ candidateCount: 2 }) } as const;
    return protocol === 'chat' || protocol === 'gemini'
      ? [{ what: 'two replies', takenWith: ['taken'], fields: fields[protocol] }]
      : [];
  },
  tools_over_chat: (protocol) =>
    protocol === 'chat' ? [{ what: 'a function', takenWith: ['taken'], fields: TOOLS.chat }] : [],
  sampling: (protocol, { sampling, efforts }) => {
    const one = { temperature: 0.5 };
    const both = protocol === 'gemini' ? inConfig({ ...one, topP: 0.9 }) : { ...one, top_p: 0.9 };
    const single = protocol === 'gemini' ? inConfig(one) : one;
    const withEffort = (effort: string): JsonObject => ({ ...effortField(protocol, effort), ...one });
    const isConditional = sampling === 'unless_thinking' || sampling === 'at_no_effort';
    return [
      { what: 'temperature and top_p', takenWith: ['all', 'unless_thinking'], fields: both },
      { what: 'temperature', takenWith: ['all', 'one', 'unless_thinking'], fields: single },
      ...(isConditional && efforts.includes('none')
        ? [
            {
              what: 'temperature with the effort none',
              takenWith: ['all', 'one', 'unless_thinking', 'at_no_effort'],
              fields: withEffort('none'),
            },
            { what: 'temperature with the effort low', takenWith: ['all', 'one'], fields: withEffort('low') },
          ]
        : []),
    ];
  },
  penalties: (protocol) => {
    const fields = { chat: { presence_penalty: 0.1 }, gemini: inConfig({ presencePenalty: 0.1 }) } as const;
    return protocol === 'chat' || protocol === 'gemini'
      ? [{ what: 'a penalty', takenWith: ['taken'], fields: fields[protocol] }]
      : [];
  },
  thinking: (protocol, { thinking }) => {
    const forms: Readonly<Partial<Record<AskedProtocol, Record<typeof thinking, JsonObject>>>> = {
      messages: {
        budget: { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 1_040 },
        effort: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      },
      gemini: {
        budget: inConfig({ thinkingConfig: { thinkingBudget: 512 } }),
        effort: inConfig({ thinkingConfig: { thinkingLevel: 'low' } }),
      },
    };
    const fields = forms[protocol]?.[thinking];
    return fields ? [{ what: `thinking by ${thinking}`, takenWith: [thinking], fields }] : [];
  },
  thinking_off: (protocol, { thinking }) => {
    if (protocol === 'messages')
      return ['disabled', 'between_tools'].map((type) => ({
        what: `thinking ${type}`,
        takenWith: [type === 'disabled' ? 'taken' : type],
        fields: { thinking: { type } },
      }));
    return protocol === 'gemini' && thinking === 'budget'
      ? [{ what: 'no thinking', takenWith: ['taken'], fields: inConfig({ thinkingConfig: { thinkingBudget: 0 } }) }]
      : [];
  },
  efforts: (protocol, { thinking }) =>
    (protocol === 'messages' || protocol === 'gemini') && thinking === 'budget'
      ? []
      : REASONING_EFFORTS.flatMap((effort) => {
          const fields = effortField(protocol, effort);
          return fields ? [{ what: `the effort ${effort}`, takenWith: [effort], fields }] : [];
        }),
  call_proofs: (protocol, { tools_over_chat: tools }) => {
    const contents = [
      { role: 'user', parts: [{ text: 'What time is it?' }] },
      { role: 'model', parts: [{ functionCall: { name: NAME, args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: NAME, response: { output: 'Noon.' } } }] },
    ];
    const fields = {
      chat: tools === 'taken' ? called('abcdefghi') : undefined,
      gemini: { ...TOOLS.gemini, contents },
      messages: undefined,
      responses: undefined,
    }[protocol];
    return fields ? [{ what: 'a call without a proof', takenWith: ['unneeded'], fields }] : [];
  },
  system_messages: (protocol) =>
    protocol === 'messages'
      ? [
          {
            what: 'a system message behind that of the user',
            takenWith: ['in_place'],
            fields: {
              messages: [
                { role: 'user', content: 'Hi' },
                { role: 'system', content: 'Be brief.' },
              ],
            },
          },
        ]
      : [],
  system_role: (protocol) =>
    protocol === 'responses'
      ? [
          {
            what: 'a developer message behind that of the user',
            takenWith: ['developer'],
            fields: {
              input: [
                { role: 'user', content: 'Hi' },
                { role: 'developer', content: 'Be brief.' },
              ],
            },
          },
        ]
      : [],
  user_after_result: (protocol, { tools_over_chat: tools }) =>
    protocol === 'chat' && tools === 'taken'
      ? [
          {
            what: 'a message of the user behind a result',
            takenWith: ['taken'],
            fields: called('abcdefghi', { role: 'user', content: 'Thanks.' }),
          },
        ]
      : [],
  call_ids: (protocol, { tools_over_chat: tools }) =>
    protocol === 'chat' && tools === 'taken'
      ? [
          { what: 'an id of 60 characters', takenWith: ['any'], fields: called('a'.repeat(60)) },
          { what: 'an id of 40 characters', takenWith: ['any', 'forty_characters'], fields: called('a'.repeat(40)) },
        ]
      : [],
  output_limit_field: (protocol, { output_limit_field: field }) =>
    protocol === 'chat' ? [{ what: `a limit in ${field}`, takenWith: [field], fields: { [field]: 16 } }] : [],
  max_output_tokens: (protocol, held) => {
    const { max_output_tokens: most } = held;
    return most === undefined ? [] : [{ ...withLimit(protocol, held, most, true), takenWith: [String(most)] }];
  },
  unstreamed_output_tokens: (protocol, held) => {
    const { unstreamed_output_tokens: most } = held;
    if (most === undefined) return [];
    return [
      { ...withLimit(protocol, held, most, false), takenWith: [String(most)] },
      { ...withLimit(protocol, held, most + 1, false), takenWith: [] },
    ];
  },
};

/**
 * What to ask a vendor of a model, trait by trait. What no single answer tells is not asked, such as what proofs are bound to, nor what takes a
 * prompt as long as the limit that it asks for.
 */
export function traitQuestions(protocol: AskedProtocol, held: ModelTraits): readonly (readonly TraitQuestion[])[] {
  return (Object.keys(QUESTIONS) as AskedTrait[])
    .map((trait) => (QUESTIONS[trait]?.(protocol, held) ?? []).map((asked) => ({ trait, ...asked })))
    .filter((questions) => questions.length > 0);
}

/** A body with the fields of a question: what stands in `generationConfig` beside what is there, all else in its place. */
export function askedBody(least: JsonObject, fields: JsonObject): JsonObject {
  const { generationConfig: config } = fields;
  const { generationConfig: before } = least;
  if (!isJsonObject(config) || !isJsonObject(before)) return { ...least, ...fields };
  return { ...least, ...fields, generationConfig: { ...before, ...config } };
}

/** Whether an answer is the one that the trait, as it is held, leads to expect. */
export function isAsHeld({ question, isTaken }: TraitAnswer, held: ModelTraits): boolean {
  const { trait, takenWith } = question;
  const value: string | number | readonly string[] | undefined = held[trait];
  const fits = Array.isArray(value) ? takenWith.some((one) => value.includes(one)) : takenWith.includes(String(value));
  return fits === isTaken;
}

/** The value of a trait that answers tell, where it is another than the one held; undefined where they fit it, or fit none. */
export function toldValue(answers: readonly TraitAnswer[], held: ModelTraits): string | readonly string[] | undefined {
  if (answers.every((answer) => isAsHeld(answer, held))) return undefined;
  const trait = answers[0]?.question.trait ?? 'efforts';
  if (trait === 'efforts') {
    const taken = answers.filter(({ isTaken }) => isTaken).flatMap(({ question }) => question.takenWith);
    return taken.length > 0 ? taken : undefined;
  }
  const values = isWord(trait) ? TRAITS[trait].values : [];
  const fitting = values.filter((value) =>
    answers.every(({ question, isTaken }) => question.takenWith.includes(value) === isTaken),
  );
  // Values stand from what takes most to what takes least: of those that fit, nothing is read into what was not answered.
  return answers.every(({ isTaken }) => isTaken) ? fitting[0] : fitting.at(-1);
}

const isWord = (trait: AskedTrait): trait is keyof typeof TRAITS => trait in TRAITS;
