import { thinksUnasked } from './strict-models.js';
import { callsOf, pieces, VENDOR_USAGE, type VendorRequest, type VendorScript } from './vendor-script.js';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly { readonly text?: string }[];
}

interface MessagesBody {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly tool_choice?: { readonly type: string };
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly model?: string;
  readonly thinking?: { readonly type: string; readonly display?: string };
  readonly output_config?: { readonly format?: object };
}

const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

export function readMessages(body: MessagesBody): VendorRequest {
  const users = body.messages.filter(({ role }) => role === 'user');
  const last = blocksOf(users.at(-1)?.content ?? '');
  const results = last.filter(({ type }) => type === 'tool_result');
  const texts = users.flatMap(({ content }) => blocksOf(content)).filter(({ type }) => type === 'text');
  return {
    text: texts.at(-1)?.text ?? '',
    images: users.flatMap(({ content }) => blocksOf(content)).filter(({ type }) => type === 'image').length,
    toolNames: (body.tools ?? []).map(({ name }) => name),
    result: results.length > 0 ? results.map(({ content }) => textOf(content)).join('') : undefined,
    mustCall: ['any', 'tool'].includes(body.tool_choice?.type ?? ''),
    stream: body.stream ?? false,
    thinks: body.thinking === undefined ? thinksUnasked(body.model) : body.thinking.type !== 'disabled',
    json: body.output_config?.format !== undefined,
    maxTokens: body.max_tokens,
  };
}

/** What is shown of a reply: newer models keep their thinking to themselves unless it is asked for. */
export const shown = (script: VendorScript, { model, thinking }: MessagesBody): VendorScript =>
  script.reasoning === undefined || !thinksUnasked(model) || thinking?.display === 'summarized'
    ? script
    : { ...script, reasoning: '' };

const textOf = (content: Block['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');

const usage = {
  input_tokens: VENDOR_USAGE.input - VENDOR_USAGE.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: VENDOR_USAGE.cached,
  output_tokens: VENDOR_USAGE.output,
};

const MESSAGE = { id: 'msg_v1', type: 'message', role: 'assistant', model: 'vendor-messages', stop_sequence: null };

const stopOf = ({ call, isCut }: VendorScript): string => (isCut ? 'max_tokens' : call ? 'tool_use' : 'end_turn');

export function wholeMessage(script: VendorScript, signature = 'proof'): object {
  const { reasoning, text, call } = script;
  const thinking = reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature }];
  const said = call
    ? callsOf(script).map(({ id, name, args: input }) => ({ type: 'tool_use', id, name, input }))
    : [{ type: 'text', text }];
  return { ...MESSAGE, content: [...thinking, ...said], stop_reason: stopOf(script), usage };
}

export function streamMessage(script: VendorScript, signature = 'proof'): string[] {
  const { reasoning, text, call } = script;
  const event = (body: { type: string } & Record<string, unknown>): string =>
    `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
  let index = -1;
  const block = (start: object, deltas: readonly object[]): string[] => {
    index += 1;
    const place = { index };
    return [
      event({ type: 'content_block_start', ...place, content_block: start }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', ...place, delta })),
      event({ type: 'content_block_stop', ...place }),
    ];
  };
  const start = { ...MESSAGE, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return [
    event({ type: 'message_start', message: start }),
    event({ type: 'ping' }),
    ...(reasoning === undefined
      ? []
      : block({ type: 'thinking', thinking: '', signature: '' }, [
          ...pieces(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature },
        ])),
    ...(call
      ? callsOf(script).flatMap(({ id, name, args }) =>
          block(
            { type: 'tool_use', id, name, input: {} },
            pieces(JSON.stringify(args)).map((json) => ({ type: 'input_json_delta', partial_json: json })),
          ),
        )
      : block(
          { type: 'text', text: '' },
          pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
        )),
    event({
      type: 'message_delta',
      delta: { stop_reason: stopOf(script), stop_sequence: null },
      usage,
    }),
    event({ type: 'message_stop' }),
  ];
}
