import { pieces, VENDOR_USAGE, type VendorRequest, type VendorScript } from './vendor-script.js';

interface ChatBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null | readonly { readonly type: string; readonly text?: string }[];
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly tool_choice?: unknown;
  readonly stream?: boolean;
  readonly reasoning_effort?: string;
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
    toolNames: (body.tools ?? []).map((entry) => entry.function.name),
    result: last?.role === 'tool' || last === undefined ? textOf(tool?.content ?? '') : undefined,
    mustCall: body.tool_choice === 'required' || typeof body.tool_choice === 'object',
    stream: body.stream ?? false,
    thinks: body.reasoning_effort !== undefined,
    json: body.response_format !== undefined && body.response_format.type !== 'text',
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

export function wholeChat({ reasoning, text, call }: VendorScript): object {
  const calls = call && [
    { id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } },
  ];
  const message = {
    role: 'assistant',
    content: call ? null : text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls && { tool_calls: calls }),
  };
  const finish = call ? 'tool_calls' : 'stop';
  return { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage };
}

export function streamChat({ reasoning, text, call }: VendorScript): string[] {
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const toolCall = (fields: object): string => chunk({ tool_calls: [{ index: 0, ...fields }] });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(reasoning === undefined ? [] : pieces(reasoning).map((piece) => chunk({ reasoning_content: piece }))),
    ...(call
      ? [
          toolCall({ id: call.id, type: 'function', function: { name: call.name, arguments: '' } }),
          ...pieces(JSON.stringify(call.args)).map((piece) => toolCall({ function: { arguments: piece } })),
        ]
      : pieces(text).map((piece) => chunk({ content: piece }))),
    chunk({}, call ? 'tool_calls' : 'stop'),
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ];
}
