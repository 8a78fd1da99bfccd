import type { WriteRoute } from '../../api/call';
import type { JsonObject, JsonValue } from '../../api/types';

export const TEXT_STYLES = ['responses', 'chat', 'messages'] as const;
export type TextStyle = (typeof TEXT_STYLES)[number];

/** The reply so far: its text, tool calls and usage. */
export interface TextAnswer {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: string }[];
  readonly usage: { readonly input: number; readonly output: number } | null;
}

export const NOTHING_SAID: TextAnswer = { text: '', calls: [], usage: null };

export interface TextInput {
  readonly model: string;
  readonly instructions: string;
  readonly input: string;
  readonly maxTokens: number;
  readonly tools: JsonValue[];
}

interface StyleFacts {
  readonly route: Extract<WriteRoute, `POST /text/${string}`>;
  /** Where programs send the same. */
  readonly path: string;
  readonly body: (input: TextInput) => JsonObject;
  /** What an event of the stream adds. */
  readonly take: (answer: TextAnswer, event: JsonObject) => TextAnswer;
}

const object = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
const list = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.map(object) : []);
const words = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const count = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0);

const say = (answer: TextAnswer, more: string): TextAnswer => ({ ...answer, text: answer.text + more });

/** Adds to the arguments of the newest call of a tool. */
function sayInCall(answer: TextAnswer, more: string): TextAnswer {
  const last = answer.calls.at(-1);
  return last ? { ...answer, calls: [...answer.calls.slice(0, -1), { ...last, input: last.input + more }] } : answer;
}

const callTool = (answer: TextAnswer, name: string, input = ''): TextAnswer => ({
  ...answer,
  calls: [...answer.calls, { name, input }],
});

const withTools = ({ tools }: TextInput): JsonObject => (tools.length > 0 ? { tools } : {});

function takeResponses(answer: TextAnswer, event: JsonObject): TextAnswer {
  switch (event['type']) {
    case 'response.output_text.delta':
      return say(answer, words(event['delta']));
    case 'response.output_item.added': {
      const item = object(event['item']);
      return item['type'] === 'function_call' ? callTool(answer, words(item['name'])) : answer;
    }
    case 'response.function_call_arguments.delta':
      return sayInCall(answer, words(event['delta']));
    case 'response.completed': {
      const usage = object(object(event['response'])['usage']);
      return { ...answer, usage: { input: count(usage['input_tokens']), output: count(usage['output_tokens']) } };
    }
    default:
      return answer;
  }
}

function takeChat(answer: TextAnswer, event: JsonObject): TextAnswer {
  const delta = object(list(event['choices'])[0]?.['delta']);
  const usage = object(event['usage']);
  const said = say(answer, words(delta['content']));
  const called = list(delta['tool_calls']).reduce((before, each) => {
    const tool = object(each['function']);
    return words(tool['name']) === ''
      ? sayInCall(before, words(tool['arguments']))
      : callTool(before, words(tool['name']), words(tool['arguments']));
  }, said);
  if (usage['prompt_tokens'] === undefined) return called;
  return { ...called, usage: { input: count(usage['prompt_tokens']), output: count(usage['completion_tokens']) } };
}

function takeMessages(answer: TextAnswer, event: JsonObject): TextAnswer {
  const delta = object(event['delta']);
  if (event['type'] === 'content_block_start') {
    const block = object(event['content_block']);
    return block['type'] === 'tool_use' ? callTool(answer, words(block['name'])) : answer;
  }
  if (event['type'] === 'content_block_delta')
    return sayInCall(say(answer, words(delta['text'])), words(delta['partial_json']));
  const usage = object(event['type'] === 'message_start' ? object(event['message'])['usage'] : event['usage']);
  if (usage['input_tokens'] === undefined && usage['output_tokens'] === undefined) return answer;
  const input = usage['input_tokens'] === undefined ? (answer.usage?.input ?? 0) : count(usage['input_tokens']);
  return { ...answer, usage: { input, output: count(usage['output_tokens']) } };
}

/** What an upstream reports in the middle of its answer, in the form of any style. */
export function failureIn(event: JsonObject): { readonly code: string; readonly message: string } | null {
  const told = event['type'] === 'response.failed' ? object(event['response'])['error'] : event['error'];
  const error = event['type'] === 'error' && told === undefined ? event : object(told);
  const message = words(error['message']);
  return message === '' ? null : { code: words(error['code']) || words(error['type']), message };
}

const turn = (input: TextInput, instructionsAs: string | null): JsonObject[] => [
  ...(instructionsAs !== null && input.instructions !== ''
    ? [{ role: instructionsAs, content: input.instructions }]
    : []),
  { role: 'user', content: input.input },
];

export const STYLES: Readonly<Record<TextStyle, StyleFacts>> = {
  responses: {
    route: 'POST /text/responses',
    path: '/v1/responses',
    body: (input) => ({
      model: input.model,
      input: input.input,
      ...(input.instructions !== '' && { instructions: input.instructions }),
      max_output_tokens: input.maxTokens,
      ...withTools(input),
      stream: true,
    }),
    take: takeResponses,
  },
  chat: {
    route: 'POST /text/chat/completions',
    path: '/v1/chat/completions',
    body: (input) => ({
      model: input.model,
      messages: turn(input, 'system'),
      max_completion_tokens: input.maxTokens,
      ...withTools(input),
      stream: true,
      stream_options: { include_usage: true },
    }),
    take: takeChat,
  },
  messages: {
    route: 'POST /text/messages',
    path: '/v1/messages',
    body: (input) => ({
      model: input.model,
      ...(input.instructions !== '' && { system: input.instructions }),
      messages: turn(input, null),
      max_tokens: input.maxTokens,
      ...withTools(input),
      stream: true,
    }),
    take: takeMessages,
  },
};
