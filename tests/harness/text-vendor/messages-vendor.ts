import { isDeepStrictEqual } from 'node:util';
import { thinksUnasked } from './strict-models.js';
import {
  callsOf,
  pieces,
  VENDOR_USAGE,
  type VendorRequest,
  type VendorScript,
  type VendorWords,
} from './vendor-script.js';

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

/** The usage of the request that asks for a turn to go on for so manieth time, 0 for the first: it reads what was written until then. */
const usageOf = (turn: number) => ({
  input_tokens: VENDOR_USAGE.input - VENDOR_USAGE.cached + turn * VENDOR_USAGE.output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: VENDOR_USAGE.cached,
  output_tokens: VENDOR_USAGE.output,
});

const MESSAGE = { id: 'msg_v1', type: 'message', role: 'assistant', model: 'vendor-messages', stop_sequence: null };

const stopOf = ({ call, isCut }: VendorScript): string => (isCut ? 'max_tokens' : call ? 'tool_use' : 'end_turn');

type Sent = { readonly type: string } & Readonly<Record<string, unknown>>;

const PAGE = {
  type: 'web_search_result_location',
  url: 'https://numbers.example.org/',
  title: 'Numbers',
  cited_text: '1',
};

/** A tool that the vendor ran, what that found, and what the model says of it. */
const searched = (turn: number, text: string): readonly Sent[] => [
  { type: 'server_tool_use', id: `srvtoolu_${turn}`, name: 'web_search', input: { query: `numbers ${turn}` } },
  {
    type: 'web_search_tool_result',
    tool_use_id: `srvtoolu_${turn}`,
    content: [{ type: 'web_search_result', url: PAGE.url, encrypted_content: `sealed-${turn}` }],
  },
  { type: 'text', text, citations: [{ ...PAGE, encrypted_index: `at-${turn}` }] },
];

/** All blocks of a reply, or of one part of a turn that the vendor pauses. */
function blocksOfPart(script: VendorWords, turn: number, signature: string): readonly Sent[] {
  const { reasoning, text, call, continued = [] } = script;
  const thinking: readonly Sent[] =
    reasoning === undefined || turn > 0 ? [] : [{ type: 'thinking', thinking: reasoning, signature }];
  const words = turn === 0 ? text : (continued[turn - 1] ?? '');
  if (turn < continued.length) return [...thinking, ...searched(turn, words)];
  const calls = call && turn === 0 ? callsOf(script) : [];
  const said: readonly Sent[] =
    calls.length > 0
      ? calls.map(({ id, name, args: input }) => ({ type: 'tool_use', id, name, input }))
      : [{ type: 'text', text: words }];
  return [...thinking, ...said];
}

/** How often the turn was paused: its vendor's own calls stand in the last message. */
function pausesIn({ messages }: MessagesBody): number {
  const last = messages.at(-1);
  return last?.role === 'assistant'
    ? blocksOf(last.content).filter(({ type }) => type === 'server_tool_use').length
    : 0;
}

/** The sentence that refuses a turn which does not go on from the very blocks that this vendor sent; undefined for another turn. */
export function brokenPause(body: MessagesBody, scripted: () => VendorWords | undefined): string | undefined {
  const pauses = pausesIn(body);
  const script = pauses === 0 ? undefined : scripted();
  if (!script) return undefined;
  const sent = Array.from({ length: pauses }, (_, turn) => blocksOfPart(script, turn, 'proof')).flat();
  return isDeepStrictEqual(blocksOf(body.messages.at(-1)?.content ?? ''), sent)
    ? undefined
    : 'messages: the paused turn differs from what was sent.';
}

/** What the vendor says now. */
function partOf(script: VendorScript, body: MessagesBody, signature: string) {
  const turn = pausesIn(body);
  const isPaused = turn < (script.continued ?? []).length;
  return {
    blocks: blocksOfPart(script, turn, signature),
    stop: isPaused ? 'pause_turn' : stopOf(script),
    usage: usageOf(turn),
  };
}

export function wholeMessage(script: VendorScript, body: MessagesBody = { messages: [] }, signature = 'proof'): object {
  const { blocks, stop, usage } = partOf(script, body, signature);
  return { ...MESSAGE, content: blocks, stop_reason: stop, usage };
}

/** A block as it begins, and its pieces. */
function streamed({ type, ...block }: Sent): readonly [object, readonly object[]] {
  const { text, thinking, signature, input, citations } = block;
  if (type === 'thinking')
    return [
      { type, thinking: '', signature: '' },
      [
        ...pieces(String(thinking)).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature },
      ],
    ];
  if (type === 'text')
    return [
      { type, text: '' },
      [
        ...pieces(String(text)).map((piece) => ({ type: 'text_delta', text: piece })),
        ...((citations ?? []) as readonly object[]).map((citation) => ({ type: 'citations_delta', citation })),
      ],
    ];
  if (input === undefined) return [{ type, ...block }, []];
  const json = pieces(JSON.stringify(input)).map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  return [{ type, ...block, input: {} }, json];
}

export function streamMessage(
  script: VendorScript,
  body: MessagesBody = { messages: [] },
  signature = 'proof',
): string[] {
  const { blocks, stop, usage } = partOf(script, body, signature);
  const event = (said: { type: string } & Record<string, unknown>): string =>
    `event: ${said.type}\ndata: ${JSON.stringify(said)}\n\n`;
  const start = { ...MESSAGE, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return [
    event({ type: 'message_start', message: start }),
    event({ type: 'ping' }),
    ...blocks.flatMap((sent, index) => {
      const [begun, deltas] = streamed(sent);
      return [
        event({ type: 'content_block_start', index, content_block: begun }),
        ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
        event({ type: 'content_block_stop', index }),
      ];
    }),
    event({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage }),
    event({ type: 'message_stop' }),
  ];
}
