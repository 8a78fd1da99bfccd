import { createHash, randomUUID } from 'node:crypto';
import {
  type FunctionTool,
  GatewayError,
  isTextType,
  type JsonObject,
  type JsonValue,
  type MediaSource,
  type ModelTraits,
  namedTools,
  type ReasoningEffort,
  type ReasoningRequest,
  takenEffort,
  type TextProtocol,
  type TextRequest,
} from '#contracts';
import { parsedObject } from '#platform';

/** The list itself, or undefined when it is empty: most interfaces refuse empty lists. */
export const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);

/** The list with each entry as `change` has it; the same list where it changes none. */
export function mapped<T>(list: readonly T[], change: (entry: T) => T): readonly T[] {
  const changed = list.map(change);
  return changed.every((entry, place) => entry === list[place]) ? list : changed;
}

/** The longest name of a user, or key of the prompt cache, that two of the interfaces take, in characters. */
const LONGEST = 64;

/** The longest name of a user that messages vendors take. */
const LONGEST_OF_MESSAGES = 256;

/** Messages vendors refuse names by which a person could be reached. */
const REACHES_PERSON = /@|^\+?[\d\s().-]{7,}$/;

/** Always the same, so that a vendor goes on telling users apart and finds its prompt cache. */
const hashed = (label: string): string => createHash('sha256').update(label).digest('hex');

/** What a chat or responses vendor is sent for a label of the caller's: its hash where it is too long, as those of agents are. */
export const acceptedLabel = (label: string | undefined): string | undefined =>
  label === undefined || label.length <= LONGEST ? label : hashed(label);

/** What a messages vendor is sent for the name of a user. */
export const acceptedUserId = (user: string): string =>
  user.length > LONGEST_OF_MESSAGES || REACHES_PERSON.test(user) ? hashed(user) : user;

/** The lowest output limit that a protocol takes, in tokens. A lower one of the caller's is sent as this. */
export const leastOutputLimit = (protocol: TextProtocol): number => (protocol === 'responses' ? 16 : 1);

type Sampling = Pick<TextRequest, 'temperature' | 'topP' | 'topK'>;

/** The words for how to sample that a model takes of a request which is sent with an effort, or without one. */
export function takenSampling(
  asked: Sampling,
  { sampling }: Pick<ModelTraits, 'sampling'>,
  effort: JsonValue | undefined,
): Sampling {
  if (sampling === 'none') return {};
  if (sampling === 'at_no_effort' && effort !== 'none') return {};
  if (sampling === 'unless_thinking' && effort !== undefined && effort !== 'none') return {};
  if (sampling !== 'one' || asked.temperature === undefined) return asked;
  const { temperature, topK } = asked;
  return { temperature, ...(topK !== undefined && { topK }) };
}

/** An image or file as one string: its URL, or a data URI. */
export const mediaAddress = (source: MediaSource): string =>
  source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;

/** Endings of names that tell a vendor what is in a file. */
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/^text\/markdown/, 'md'],
  [/^text\/csv/, 'csv'],
  [/^text\/html/, 'html'],
  [/[/+]json$/, 'json'],
  [/[/+]xml$/, 'xml'],
  [/[/+-]yaml$/, 'yaml'],
];

/** The name of a file: its own, or one with an ending of its type, by which vendors tell what to read. */
export const fileName = (name: string | undefined, mediaType: string): string =>
  name ??
  `document.${ENDINGS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? (isTextType(mediaType) ? 'txt' : 'pdf')}`;

/** What a function returned, for protocols that have no other field to mark a failure. */
export const failedText = (text: string, isError: boolean): string =>
  isError && !/^\W*error/i.test(text) ? `Error: ${text}` : text;

/**
 * Which ids of calls are accepted: by a protocol, all that its own vendors give, so that theirs stay as they are; by models over chat,
 * those that they take.
 */
const ACCEPTED_IDS = {
  messages: /^[a-zA-Z0-9_-]{1,64}$/,
  responses: /^.{1,64}$/su,
  forty_characters: /^.{1,40}$/su,
  nine_letters: /^[a-zA-Z0-9]{9}$/,
} as const;

export type CallIdRule = keyof typeof ACCEPTED_IDS;

/** The id under which a call and its result are sent: a hash of its vendor's where that one would be refused. */
export function acceptedCallId(rule: CallIdRule, id: string): string {
  if (ACCEPTED_IDS[rule].test(id)) return id;
  // The same in every turn, so that a prompt cache stays valid.
  const hash = createHash('sha256').update(id).digest('hex');
  return rule === 'nine_letters' ? hash.slice(0, 9) : `call_${hash.slice(0, 24)}`;
}

/** Some vendors write nothing for a call without arguments, and others read arguments as JSON. */
export const argumentsAsJson = (json: string): string => (json.trim() === '' ? '{}' : json);

/**
 * Arguments for vendors that take objects alone. What a model wrote instead, or was cut off in, stands in a field of its own:
 * the result speaks of that mistake, and a model that is shown no arguments cannot mend them.
 */
export const argumentsAsObject = (json: string): JsonObject =>
  parsedObject(argumentsAsJson(json)) ?? { rawInvalidInput: json };

/** The arguments that an upstream wrote as a text, as the object itself, or not at all. */
export function argumentsText(sent: JsonValue | undefined): string {
  if (typeof sent === 'string') return sent;
  return sent === undefined || sent === null ? '' : JSON.stringify(sent);
}

/** An id for a call whose upstream gave none. */
export const newCallId = (): string => `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;

/**
 * The functions that an upstream is offered. A choice among several names is said by leaving the others out.
 *
 * @param hosted the tools that the upstream runs itself.
 * @throws GatewayError `unsupported_parameter` for a call that must be made of what is not there: vendors refuse it, and
 * without the choice the reply would be one to another question.
 */
export function offeredTools(
  { tools, toolChoice }: Pick<TextRequest, 'tools' | 'toolChoice'>,
  hosted: readonly unknown[],
): readonly FunctionTool[] {
  if (toolChoice.mode !== 'required') return tools;
  const { names, param = 'tool_choice' } = toolChoice;
  if (tools.length === 0 && hosted.length === 0)
    throw unmadeCall(param, 'demands a call, and the request offers no tool: add one, or leave the demand out');
  const offered = new Set(tools.map(({ name }) => name));
  if (names.some((wanted) => !offered.has(wanted)))
    throw unmadeCall(param, 'names a function that the request does not offer: add it to the tools, or name another');
  return names.length < 2 ? tools : namedTools(tools, names);
}

/** Another upstream that runs tools of its own may be able to. */
const unmadeCall = (param: string, why: string): GatewayError =>
  new GatewayError('unsupported_parameter', `${param} ${why}.`, { param });

/** Tokens to think with, for vendors that want a number instead of a word. */
const BUDGET_TOKENS: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 63_999,
};

/** The caller's own budget, or the one its effort stands for; undefined when it asked for neither. */
export function reasoningBudget({ budgetTokens, effort }: ReasoningRequest): number | undefined {
  return budgetTokens ?? (effort === undefined ? undefined : BUDGET_TOKENS[effort]);
}

/** Whether the caller wants no reasoning, by the word or by a budget of nothing. */
export const wantsNoReasoning = ({ budgetTokens, effort }: ReasoningRequest): boolean =>
  effort === 'none' || (effort === undefined && budgetTokens === 0);

/** The effort that a model is sent: the caller's own, or the one that its budget stands for, as far as the model has it. */
export function reasoningEffort(
  { budgetTokens, effort }: ReasoningRequest,
  traits: Pick<ModelTraits, 'efforts'>,
): ReasoningEffort | undefined {
  if (effort !== undefined) return takenEffort(effort, traits);
  if (budgetTokens === undefined) return undefined;
  // Most models refuse the levels beyond these, and the caller named none.
  const word = (['low', 'medium'] as const).find((word) => budgetTokens <= BUDGET_TOKENS[word]) ?? 'high';
  return takenEffort(word, traits);
}
