/** What the vendor says it has counted. */
export interface Count {
  readonly input: number;
  readonly output: number;
  /** Part of the output, and hidden from the client. */
  readonly reasoning: number;
  /** What it says beside that, in the words of its protocol. */
  readonly beside?: Readonly<Record<string, unknown>>;
}

/** How one protocol of a vendor writes a reply of one text. */
export interface WireFormat {
  /** Recognises its requests. */
  readonly path: RegExp;
  readonly whole: (text: string, count: Count) => object;
  /** Everything up to the end of the text, and what the protocol tells of tokens before it. */
  readonly textEvents: (text: string, count: Count) => string[];
  /** The rest, with the count. */
  readonly lastEvents: (text: string, count: Count) => string[];
}

const named = (body: { readonly type: string } & Readonly<Record<string, unknown>>): string =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
const unnamed = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;

const NOTHING: Count = { input: 0, output: 0, reasoning: 0 };

const responsesUsage = ({ input, output, reasoning, beside }: Count) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
  ...beside,
});

const responsesItem = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});

const response = (text: string, count: Count) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_190_389,
  status: 'completed',
  model: 'vendor',
  output: [responsesItem(text)],
  usage: responsesUsage(count),
});

const responses: WireFormat = {
  path: /\/responses$/,
  whole: response,
  textEvents: (text) => [
    named({ type: 'response.created', response: { ...response('', NOTHING), status: 'in_progress', output: [] } }),
    named({ type: 'response.output_item.added', output_index: 0, item: { ...responsesItem(''), content: [] } }),
    named({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: text,
    }),
    named({ type: 'response.output_item.done', output_index: 0, item: responsesItem(text) }),
  ],
  lastEvents: (text, count) => [named({ type: 'response.completed', response: response(text, count) })],
};

const messagesUsage = ({ input, output, beside }: Count) => ({
  input_tokens: input,
  output_tokens: output,
  ...beside,
});
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'vendor', stop_sequence: null };

const messages: WireFormat = {
  path: /\/messages$/,
  whole: (text, count) => ({
    ...message,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: messagesUsage(count),
  }),
  textEvents: (text, count) => [
    named({
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: messagesUsage({ ...count, output: 1 }) },
    }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    named({ type: 'content_block_stop', index: 0 }),
  ],
  lastEvents: (_text, count) => [
    named({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: count.output, ...count.beside },
    }),
    named({ type: 'message_stop' }),
  ],
};

const chatUsage = ({ input, output, reasoning, beside }: Count) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  completion_tokens_details: { reasoning_tokens: reasoning },
  ...beside,
});
const chatChunk = (choices: readonly object[], usage?: object) =>
  unnamed({
    id: 'c_1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'vendor',
    choices,
    ...(usage && { usage }),
  });

const chat: WireFormat = {
  path: /\/chat\/completions$/,
  whole: (text, count) => ({
    id: 'c_1',
    object: 'chat.completion',
    created: 1,
    model: 'vendor',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: chatUsage(count),
  }),
  textEvents: (text) => [chatChunk([{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }])],
  lastEvents: (_text, count) => [
    chatChunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chatChunk([], chatUsage(count)),
    'data: [DONE]\n\n',
  ],
};

const geminiUsage = ({ input, output, reasoning, beside }: Count) => ({
  promptTokenCount: input,
  candidatesTokenCount: output - reasoning,
  thoughtsTokenCount: reasoning,
  totalTokenCount: input + output,
  ...beside,
});
const candidate = (text: string, finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) }],
});

const gemini: WireFormat = {
  path: /:(generateContent|streamGenerateContent)/,
  whole: (text, count) => ({ ...candidate(text, 'STOP'), usageMetadata: geminiUsage(count), modelVersion: 'vendor' }),
  textEvents: (text, { input }) => [unnamed({ ...candidate(text), usageMetadata: { promptTokenCount: input } })],
  lastEvents: (_text, count) => [unnamed({ ...candidate('', 'STOP'), usageMetadata: geminiUsage(count) })],
};

/** Every protocol that an upstream can speak. */
export const PROTOCOLS = { responses, messages, chat, gemini } as const;
export type Protocol = keyof typeof PROTOCOLS;
