import fc from 'fast-check';
import { type ChatAnswer, type ChatRequest, GatewayError, type TextEvent, type TextUsage } from '#contracts';
import { ReplyCollector } from '../collect-reply.js';
import { chatStyle, withoutUsageChunk } from './chat-style.js';
import { chatAnswer } from './write-chat-answer.js';

const USAGE: TextUsage = {
  inputTokens: 20,
  cachedInputTokens: 3,
  cacheWriteTokens: 2,
  imageInputTokens: 4,
  outputTokens: 9,
  reasoningTokens: 5,
  source: 'upstream',
};
const BODY = { model: 'vendor-5', messages: [{ role: 'user' as const, content: 'x' }] };
const context = (body: ChatRequest = BODY) => ({
  requestId: 'req_1',
  model: 'vendor-5',
  body,
  createdSeconds: 1_795_190_389,
  estimatedInputTokens: 17,
  onAnswer: () => {},
});

const words = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('é猫😀', '"\\\n', 'data: x\n\n', '\u2028'));
const step: fc.Arbitrary<TextEvent[]> = fc.oneof(
  words.map((text): TextEvent[] => [{ type: 'text', text }]),
  words.map((text): TextEvent[] => [{ type: 'refusal', text }]),
  words.map((text): TextEvent[] => [{ type: 'reasoning', text }]),
  fc.constant<TextEvent[]>([{ type: 'signature', signature: 'messages:proof' }]),
  words.map((text): TextEvent[] => [{ type: 'break' }, { type: 'text', text }]),
  fc.constant<TextEvent[]>([{ type: 'call', id: 'call_1', name: 'get_time' }]),
  fc.constant<TextEvent[]>([
    { type: 'call', id: 'call_2', name: 'get_weather' },
    { type: 'arguments', json: '{"ci' },
    { type: 'arguments', json: 'ty":"Paris"}' },
  ]),
);

type Message = ChatAnswer['choices'][number]['message'];
interface Chunk {
  readonly choices: readonly { readonly delta: Delta; readonly finish_reason: string | null }[];
  readonly usage?: object | null;
}
interface Delta {
  readonly role?: 'assistant';
  readonly content?: string | null;
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly object[];
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly type?: string;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

const chunksOf = (stream: string): Chunk[] =>
  stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);

/** The message that a client makes of the deltas. */
function rebuilt(chunks: readonly Chunk[]): object {
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const joined = (field: 'content' | 'refusal' | 'reasoning_content'): string =>
    deltas.map((delta) => delta[field] ?? '').join('');
  const details = deltas.flatMap((delta) => delta.reasoning_details ?? []);
  const calls: Called[] = [];
  for (const { index, ...piece } of deltas.flatMap((delta) => delta.tool_calls ?? []))
    calls[index] = grown(calls[index], piece);
  const [content, refusal, reasoning] = [joined('content'), joined('refusal'), joined('reasoning_content')];
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

type Called = Omit<NonNullable<Delta['tool_calls']>[number], 'index'>;
const grown = (call: Called | undefined, piece: Called): Called =>
  call
    ? { ...call, function: { ...call.function, arguments: call.function.arguments + piece.function.arguments } }
    : piece;

describe('A chat completions stream', () => {
  it('adds up to the whole answer, whatever the reply contains', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const events: TextEvent[] = [...steps.flat(), { type: 'finish', reason: 'stop', usage: USAGE }];
        const collector = new ReplyCollector();
        const encoder = chatStyle.stream(context({ ...BODY, stream_options: { include_usage: true } }));
        let stream = '';
        for (const event of events) {
          collector.add(event);
          stream += encoder.write(event);
        }
        stream += encoder.end();
        const whole = chatAnswer(collector.reply(), context());
        const chunks = chunksOf(stream);
        const message: Message | undefined = whole.choices[0]?.message;
        expect(rebuilt(chunks)).toEqual(message);
        expect(chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? []))).toEqual([
          'stop',
        ]);
        expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
        expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
        expect(chunks.filter(({ choices }) => choices[0]?.delta.role)).toHaveLength(1);
        expect(stream.endsWith('data: [DONE]\n\n')).toBe(true);
      }),
    );
  });

  it('reports its failure in the form that client libraries throw', () => {
    const encoder = chatStyle.stream(context());
    const [piece = ''] = encoder.fail(new GatewayError('upstream_error', 'It broke.'));
    expect(JSON.parse(piece.slice('data: '.length))).toMatchObject({
      error: { message: 'It broke.', type: 'server_error', code: 'upstream_error', param: null },
    });
  });
});

describe('A stream that passes through', () => {
  const chunk = (fields: object, line = '\n\n') => `data: ${JSON.stringify(fields)}${line}`;
  const WORD = chunk({ choices: [{ index: 0, delta: { content: '"choices":[]' } }], usage: null });
  const FOUND = chunk({ choices: [], prompt_filter_results: [] });

  it.each(['\n\n', '\r\n\r\n'])('loses the usage chunk and no other byte (lines end in %j)', (line) => {
    const usage = chunk({ choices: [], usage: { prompt_tokens: 1 } }, line);
    const events = FOUND + WORD + usage + 'data: [DONE]\n\n';
    expect(Buffer.from(withoutUsageChunk(Buffer.from(events))).toString()).toBe(FOUND + WORD + 'data: [DONE]\n\n');
  });

  it('loses a usage chunk however its JSON is spaced', () => {
    const usage = chunk({ choices: [], usage: { prompt_tokens: 1 } }).replace('"choices":[]', '"choices" : [ ]');
    expect(Buffer.from(withoutUsageChunk(Buffer.from(WORD + usage))).toString()).toBe(WORD);
  });

  it('is unchanged where it has none', () => {
    const events = Buffer.from(WORD);
    expect(withoutUsageChunk(events)).toBe(events);
  });
});

describe('Reasoning that a client sends back', () => {
  const CALL = { id: 'c', function: { name: 'f', arguments: '{}' } };
  const read = (message: object) =>
    chatStyle.read(
      { ...BODY, messages: [{ role: 'assistant' as const, content: null, tool_calls: [CALL], ...message }] },
      'vendor-5',
      false,
    ).turns[0]?.parts;
  const called = { type: 'call', id: 'c', name: 'f', arguments: '{}' };
  const extra_content = { google: { thought_signature: 'messages:proof' } };

  it.each([
    [
      'the details',
      {
        reasoning_content: 'deep',
        reasoning_details: [{ type: 'reasoning.text', text: 'deep', signature: 'messages:p' }],
      },
      [{ type: 'reasoning', text: 'deep', signature: 'messages:p' }],
    ],
    [
      'a sealed detail',
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'gemini:p' }] },
      [{ type: 'reasoning', text: '', signature: 'gemini:p' }],
    ],
    [
      'the text, and the proof at a call',
      { reasoning_content: 'deep', tool_calls: [{ ...CALL, extra_content }] },
      [{ type: 'reasoning', text: 'deep', signature: 'messages:proof' }],
    ],
    [
      'the proof alone',
      { tool_calls: [{ ...CALL, extra_content }] },
      [{ type: 'reasoning', text: '', signature: 'messages:proof' }],
    ],
    ['the text alone', { reasoning: 'deep' }, [{ type: 'reasoning', text: 'deep' }]],
    ['nothing', {}, []],
  ])('is read where it keeps %s', (_what, message, reasoning) => {
    expect(read(message)).toEqual([...reasoning, called]);
  });

  it('stays at the call that one vendor proves it with, also after a text', () => {
    const second = { ...CALL, id: 'd', extra_content: { google: { thought_signature: 'gemini:2' } } };
    const first = { ...CALL, extra_content: { google: { thought_signature: 'gemini:1' } } };
    const proof = (signature: string) => ({ type: 'reasoning', text: '', signature });
    expect(read({ content: 'Well', tool_calls: [first, second] })).toEqual([
      { type: 'text', text: 'Well' },
      proof('gemini:1'),
      called,
      proof('gemini:2'),
      { ...called, id: 'd' },
    ]);
  });

  it('equals what the response gave, whichever field it keeps', () => {
    const collector = new ReplyCollector();
    const events: TextEvent[] = [
      { type: 'reasoning', text: 'deep' },
      { type: 'signature', signature: 'messages:proof' },
      { type: 'call', id: 'c', name: 'f' },
      { type: 'finish', reason: 'tool-calls', usage: USAGE },
    ];
    for (const event of events) collector.add(event);
    const message = chatAnswer(collector.reply(), context()).choices[0]?.message ?? {};
    const thought = { type: 'reasoning', text: 'deep', signature: 'messages:proof' };
    expect(read(message)).toEqual([thought, called]);
    expect(read({ ...message, reasoning_details: undefined })).toEqual([thought, called]);
  });

  it.each<[object, object | undefined]>([
    [{}, undefined],
    [{ reasoning_effort: 'max' }, { effort: 'max', visible: true }],
    [{ reasoning_effort: 'none' }, { effort: 'none', visible: false }],
    [{ reasoning_effort: 'default' }, { visible: true }],
    [{ reasoning: { max_tokens: 2_000, exclude: true } }, { budgetTokens: 2_000, visible: false }],
    [{ reasoning: { enabled: false } }, { budgetTokens: 0, visible: false }],
    [{ thinking: { type: 'enabled', budget_tokens: 3_000 } }, { budgetTokens: 3_000, visible: true }],
    [{ thinking: { type: 'disabled' } }, { budgetTokens: 0, visible: false }],
    [
      { enable_thinking: true, thinking_budget: 500 },
      { budgetTokens: 500, visible: true },
    ],
    [{ enable_thinking: false }, { budgetTokens: 0, visible: false }],
    [{ chat_template_kwargs: { enable_thinking: false } }, { budgetTokens: 0, visible: false }],
    [{ chat_template_kwargs: { thinking: true } }, { visible: true }],
    [
      { enable_thinking: false, reasoning_effort: 'none' },
      { effort: 'none', visible: false },
    ],
  ])('can be requested in the form of any vendor: %j', (more, reasoning) => {
    expect(chatStyle.read({ ...BODY, ...more }, 'vendor-5', false).reasoning).toEqual(reasoning);
  });
});

describe('A reply to a caller that offers functions in the legacy form', () => {
  const body: ChatRequest = { ...BODY, functions: [{ name: 'get_weather' }] };
  const reply = (...events: TextEvent[]) => {
    const collector = new ReplyCollector();
    const encoder = chatStyle.stream(context(body));
    let stream = '';
    for (const event of [...events, { type: 'finish', reason: 'tool-calls', usage: USAGE } as const]) {
      collector.add(event);
      stream += encoder.write(event);
    }
    const choices = chunksOf(stream).flatMap((chunk) => chunk.choices);
    return { whole: chatAnswer(collector.reply(), context(body)).choices[0], choices };
  };

  it.each<[string, TextEvent[], string[]]>([
    [
      'one',
      [
        { type: 'arguments', json: '{"ci' },
        { type: 'arguments', json: 'ty":"Paris"}' },
      ],
      ['{"ci', 'ty":"Paris"}'],
    ],
    ['one without arguments', [], ['{}']],
    [
      'the first of several',
      [
        { type: 'arguments', json: '{"a":1}' },
        { type: 'call', id: 'call_2', name: 'get_time' },
        { type: 'arguments', json: '{"b":2}' },
      ],
      ['{"a":1}'],
    ],
  ])('has the call in that form, whole and streamed: %s', (_what, rest, pieces) => {
    const { whole, choices } = reply({ type: 'call', id: 'call_1', name: 'get_weather' }, ...rest);
    expect(whole).toMatchObject({
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        function_call: { name: 'get_weather', arguments: pieces.join('') },
      },
      finish_reason: 'function_call',
    });
    expect(whole?.message).not.toHaveProperty('tool_calls');
    expect(choices.map(({ delta, finish_reason: end }) => end ?? delta)).toEqual([
      { role: 'assistant', content: null },
      { function_call: { name: 'get_weather', arguments: '' } },
      ...pieces.map((json) => ({ function_call: { arguments: json } })),
      'function_call',
    ]);
  });
});
