import { callsOf, pieces, VENDOR_USAGE, type VendorRequest, type VendorScript } from './vendor-script.js';

interface ChatBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null | readonly { readonly type: string; readonly text?: string }[];
  }[];
  readonly tools?: readonly { readonly function?: { readonly name: string } }[];
  readonly tool_choice?: unknown;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly reasoning_effort?: string;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly response_format?: { readonly type: string };
}

const textOf = (content: ChatBody['messages'][number]['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');

export function readChat(body: ChatBody): VendorRequest {
  const last = body.messages.at(-1);
  const users = body.messages.filter(({ role }) => role === 'user');
  const parts = users.flatMap(({ content }) => (Array.isArray(content) ? [...content] : []));
  const tool = body.messages.findLast(({ role }) => role === 'tool');
  return {
    text: textOf(users.at(-1)?.content ?? ''),
    images: parts.filter(({ type }) => type === 'image_url').length,
    toolNames: (body.tools ?? []).flatMap((entry) => entry.function?.name ?? []),
    result: last?.role === 'tool' || last === undefined ? textOf(tool?.content ?? '') : undefined,
    mustCall: body.tool_choice === 'required' || typeof body.tool_choice === 'object',
    stream: body.stream ?? false,
    thinks: body.reasoning_effort !== undefined,
    json: body.response_format !== undefined && body.response_format.type !== 'text',
    maxTokens: limitOf(body),
  };
}

const usage = {
  prompt_tokens: VENDOR_USAGE.input,
  completion_tokens: VENDOR_USAGE.output,
  total_tokens: VENDOR_USAGE.input + VENDOR_USAGE.output,
  prompt_tokens_details: { cached_tokens: VENDOR_USAGE.cached },
  completion_tokens_details: { reasoning_tokens: VENDOR_USAGE.reasoning },
};
const head = { id: 'chatcmpl-1', created: 1_795_190_389, model: 'vendor-chat' };

const limitOf = ({ max_completion_tokens: limit, max_tokens: formerly }: ChatBody): number | undefined =>
  limit ?? formerly;

const finishOf = ({ call, isCut }: VendorScript): string => (isCut ? 'length' : call ? 'tool_calls' : 'stop');

export function wholeChat(script: VendorScript): object {
  const { reasoning, text, call } = script;
  const calls = callsOf(script).map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message = {
    role: 'assistant',
    content: call ? null : text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(call && { tool_calls: calls }),
  };
  const finish = finishOf(script);
  return { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage };
}

/** Reports the usage of a stream only on request, as vendors do. */
export function streamChat(script: VendorScript, { stream_options: options }: ChatBody): string[] {
  const { reasoning, text, call } = script;
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const toolCall = (index: number, fields: object): string => chunk({ tool_calls: [{ index, ...fields }] });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(reasoning === undefined ? [] : pieces(reasoning).map((piece) => chunk({ reasoning_content: piece }))),
    ...(call
      ? callsOf(script).flatMap(({ id, name, args }, index) => [
          toolCall(index, { id, type: 'function', function: { name, arguments: '' } }),
          ...pieces(JSON.stringify(args)).map((piece) => toolCall(index, { function: { arguments: piece } })),
        ])
      : pieces(text).map((piece) => chunk({ content: piece }))),
    chunk({}, finishOf(script)),
    ...(options?.include_usage
      ? [`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`]
      : []),
    'data: [DONE]\n\n',
  ];
}
