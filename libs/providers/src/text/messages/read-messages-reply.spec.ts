import type { TextEvent } from '#contracts';
import { asStream, decoded, joined, readWhole, usageOf } from '../testing/decoded.js';
import { messagesCodec } from './messages-codec.js';

const START = {
  type: 'message_start',
  message: { usage: { input_tokens: 8, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, output_tokens: 1 } },
};
const begin = (content_block: object, index = 0): object => ({ type: 'content_block_start', index, content_block });
const grow = (delta: object, index = 0): object => ({ type: 'content_block_delta', index, delta });
const CLOSE = { type: 'content_block_stop', index: 0 };
const ended = (stop_reason: string, more: object = {}): object[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
const USAGE = usageOf({ inputTokens: 13, cachedInputTokens: 3, cacheWriteTokens: 2, outputTokens: 7 });
const STOP: TextEvent = { type: 'finish', reason: 'stop', usage: USAGE };
const CALLED: TextEvent = { ...STOP, reason: 'tool-calls' };
const CALL: TextEvent = { type: 'call', id: 'toolu_1', name: 'get_weather' };
const TOOL = { type: 'tool_use', id: 'toolu_1', name: 'get_weather' };

const CITED = { type: 'web_search_result_location', url: 'https://a.example/', title: 'A', cited_text: 'Paris it is' };
const PAGE = { url: CITED.url, title: CITED.title, text: CITED.cited_text };
const CITATION: TextEvent = {
  type: 'citation',
  citation: { start: 6, end: 11, text: 'Paris', index: 0, source: { kind: 'page', page: PAGE } },
};

const read = (...events: (object | string)[]): TextEvent[] => joined(decoded(messagesCodec, asStream(events)));

describe('A messages stream', () => {
  it.each<[string, object[], TextEvent[]]>([
    [
      'brings text in pieces that the network cut inside a character',
      [
        begin({ type: 'text', text: '' }),
        grow({ type: 'text_delta', text: 'é猫' }),
        grow({ type: 'text_delta', text: '😀' }),
        CLOSE,
        ...ended('end_turn'),
      ],
      [{ type: 'text', text: 'é猫😀' }, STOP],
    ],
    [
      'brings the proof that came with the beginning of its thinking behind it, once',
      [
        begin({ type: 'thinking', thinking: '', signature: 'proof' }),
        grow({ type: 'thinking_delta', thinking: 'Hm' }),
        grow({ type: 'signature_delta', signature: '' }),
        CLOSE,
        begin({ type: 'thinking', thinking: '', signature: 'first' }, 1),
        grow({ type: 'thinking_delta', thinking: 'So' }, 1),
        grow({ type: 'signature_delta', signature: 'last' }, 1),
        { ...CLOSE, index: 1 },
        ...ended('end_turn'),
      ],
      [
        { type: 'reasoning', text: 'Hm' },
        { type: 'signature', signature: 'messages:proof' },
        { type: 'reasoning', text: 'So' },
        { type: 'signature', signature: 'messages:last' },
        STOP,
      ],
    ],
    [
      'brings thinking, then the proof of it, marked as this vendor’s',
      [
        begin({ type: 'thinking', thinking: '', signature: '' }),
        grow({ type: 'thinking_delta', thinking: 'Hm' }),
        grow({ type: 'signature_delta', signature: 'proof' }),
        CLOSE,
        ...ended('end_turn'),
      ],
      [{ type: 'reasoning', text: 'Hm' }, { type: 'signature', signature: 'messages:proof' }, STOP],
    ],
    [
      'searches between two texts, which stay two, and cites pages in pieces of one',
      [
        begin({ type: 'text', text: '' }),
        grow({ type: 'text_delta', text: 'I search.' }),
        CLOSE,
        begin({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
        CLOSE,
        begin({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
        CLOSE,
        begin({ type: 'text', text: '' }),
        grow({ type: 'text_delta', text: 'It is ' }),
        CLOSE,
        begin({ type: 'text', text: '', citations: [] }),
        grow({ type: 'citations_delta', citation: CITED }),
        grow({ type: 'text_delta', text: 'Par' }),
        grow({ type: 'text_delta', text: 'is' }),
        CLOSE,
        begin({ type: 'text', text: '' }),
        grow({ type: 'text_delta', text: '.' }),
        CLOSE,
        ...ended('end_turn'),
      ],
      [
        { type: 'text', text: 'I search.' },
        { type: 'break' },
        { type: 'text', text: 'It is Paris' },
        CITATION,
        { type: 'text', text: '.' },
        STOP,
      ],
    ],
    [
      'brings thinking that the vendor sealed',
      [begin({ type: 'redacted_thinking', data: 'sealed' }), CLOSE, ...ended('end_turn')],
      [{ type: 'signature', signature: 'messages:redacted:sealed' }, STOP],
    ],
    [
      'brings the proof of thinking whose words the vendor does not show, as no sealed thinking',
      [
        begin({ type: 'thinking', thinking: '', signature: '' }),
        grow({ type: 'signature_delta', signature: 'proof' }),
        CLOSE,
        ...ended('end_turn'),
      ],
      [{ type: 'signature', signature: 'messages:proof' }, STOP],
    ],
    [
      'brings arguments in pieces, the empty ones left out',
      [
        begin({ ...TOOL, input: {} }),
        grow({ type: 'input_json_delta', partial_json: '' }),
        grow({ type: 'input_json_delta', partial_json: '{"city":' }),
        grow({ type: 'input_json_delta', partial_json: '"Paris"}' }),
        CLOSE,
        ...ended('tool_use'),
      ],
      [CALL, { type: 'arguments', json: '{"city":"Paris"}' }, CALLED],
    ],
    [
      'brings all arguments with the beginning of the call',
      [begin({ ...TOOL, input: { city: 'Paris' } }), CLOSE, ...ended('tool_use')],
      [CALL, { type: 'arguments', json: '{"city":"Paris"}' }, CALLED],
    ],
    [
      'brings a call without arguments',
      [begin({ ...TOOL, input: {} }), CLOSE, ...ended('tool_use')],
      [CALL, { type: 'arguments', json: '{}' }, CALLED],
    ],
    [
      'brings steps of the vendor’s own tools, which are not calls of the client',
      [
        begin({ type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }),
        grow({ type: 'input_json_delta', partial_json: '{"query":"x"}' }),
        CLOSE,
        begin({ type: 'web_search_tool_result', content: [] }, 1),
        CLOSE,
        begin({ type: 'text', text: 'Found.' }, 2),
        CLOSE,
        ...ended('end_turn'),
      ],
      [{ type: 'text', text: 'Found.' }, STOP],
    ],
    [
      'brings pings, unknown events and citations in between',
      [
        { type: 'ping' },
        begin({ type: 'text', text: 'Hi' }),
        { type: 'something_new', value: 1 },
        grow({ type: 'citations_delta', citation: { url: 'https://a.example' } }),
        grow({ type: 'text_delta', text: '' }),
        CLOSE,
        ...ended('end_turn'),
      ],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
  ])('%s', (_what, events, expected) => {
    expect(read(START, ...events)).toEqual(expected);
  });

  it.each([
    ['end_turn', {}, 'stop'],
    ['max_tokens', {}, 'length'],
    ['model_context_window_exceeded', {}, 'length'],
    ['refusal', {}, 'content-filter'],
    ['a_reason_of_tomorrow', {}, 'stop'],
    ['stop_sequence', { stop_sequence: 'END' }, 'stop-sequence'],
  ])('that ended by %s', (sent, more, reason) => {
    const sequence = 'stop_sequence' in more ? { stopSequence: 'END' } : {};
    expect(read(START, ...ended(sent, more)).at(-1)).toEqual({ type: 'finish', reason, ...sequence, usage: USAGE });
  });

  it('takes the last figures of usage, and those of the beginning where the end leaves some out', () => {
    const last = { input_tokens: 20, cache_read_input_tokens: null, output_tokens: 9 };
    const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: last }, { type: 'message_stop' }];
    const usage = usageOf({ inputTokens: 25, cachedInputTokens: 3, cacheWriteTokens: 2, outputTokens: 9 });
    expect(read(START, ...end)).toEqual([{ type: 'finish', reason: 'stop', usage }]);
  });

  it('reports the input tokens at once', () => {
    expect(messagesCodec.decoder().push(JSON.stringify(START))).toEqual([{ type: 'start', inputTokens: 13 }]);
  });

  it.each([
    ['breaks off before its end', [START, begin({ type: 'text', text: 'Hi' })], 'upstream_error'],
    ['reports that the vendor is overloaded', [{ type: 'error', error: { type: 'overloaded_error' } }], 'overloaded'],
    ['reports a limit', [{ type: 'error', error: { type: 'rate_limit_error' } }], 'upstream_rate_limited'],
    ['reports a timeout', [{ type: 'error', error: { type: 'timeout_error' } }], 'upstream_timeout'],
    ['reports nothing in particular', [{ type: 'error' }], 'upstream_error'],
    ['holds no JSON', ['{"type":'], 'upstream_error'],
  ])('fails when it %s', (_what, events, code) => {
    expect(() => read(...events)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    [{}],
    [{ output_tokens: -7 }],
    [{ output_tokens: '7' }],
    [{ output_tokens: 0.5 }],
    [{ output_tokens: 1e300 }],
  ])('does not take the output of its beginning for that of the whole when it ends with the usage %j', (usage) => {
    const events = [
      begin({ type: 'text', text: '' }),
      grow({ type: 'text_delta', text: 'Many words' }),
      CLOSE,
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    const finish = read(START, ...events).find(({ type }) => type === 'finish');
    expect(finish).toMatchObject({ usage: { inputTokens: 13, outputTokens: 0 } });
  });
});

describe('A turn that its vendor paused', () => {
  const USAGE = { input_tokens: 8, output_tokens: 7 };
  const BODY = { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] };
  type Keep = (bytes: number) => void;
  /** Memory for a megabyte. */
  const room = (): Keep => {
    let left = 1024 * 1024;
    return (bytes) => {
      left -= bytes;
      if (left < 0) throw new Error('there is too little');
    };
  };
  const paused = (events: readonly object[], usage: object = USAGE, keep: Keep | null = room()) => {
    const decoder = messagesCodec.decoder(keep ?? undefined);
    const end = { type: 'message_delta', delta: { stop_reason: 'pause_turn' }, usage };
    for (const event of [START, ...events, end, { type: 'message_stop' }]) decoder.push(JSON.stringify(event));
    return decoder.continuation?.(BODY);
  };
  const SEARCH = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
  const open = (block: object) => ({ type: 'content_block_start', index: 0, content_block: block });
  const piece = (delta: object) => ({ type: 'content_block_delta', index: 0, delta });
  const called = (json: string) => [open(SEARCH), piece({ type: 'input_json_delta', partial_json: json }), CLOSE];

  /** Pages of 200 KB that a tool of the vendor read. */
  const found = (pages: number) =>
    Array.from({ length: pages }, () => [
      open({ type: 'web_fetch_tool_result', tool_use_id: 's', content: 'x'.repeat(200_000) }),
      CLOSE,
    ]).flat();

  it('goes on from as much as there is memory for', () => {
    expect(JSON.stringify(paused(found(4))).length).toBeGreaterThan(800_000);
  });

  it('goes on from the blocks of its vendor, with what is left of the limit', () => {
    expect(paused([...called('{"query":"x"}'), open({ type: 'text', text: '' }), CLOSE])).toEqual({
      max_tokens: 43,
      messages: [...BODY.messages, { role: 'assistant', content: [{ ...SEARCH, input: { query: 'x' } }] }],
    });
  });

  it.each<[string, ReturnType<typeof paused>]>([
    ['its arguments are no JSON', paused(called('{"query'))],
    ['a piece has no known place', paused([open(SEARCH), piece({ type: 'delta_of_tomorrow', words: 'x' }), CLOSE])],
    ['it said nothing', paused([])],
    ['its usage is not known', paused(called('{}'), {})],
    ['nothing is left of the limit', paused(called('{}'), { ...USAGE, output_tokens: 50 })],
    ['nobody asked for it', paused(called('{}'), USAGE, null)],
    ['there is too little memory for what it found', paused(found(6))],
  ])('does not go on where %s', (_why, continuation) => {
    expect(continuation).toBeUndefined();
  });
});

it('A whole message reads as its stream would', () => {
  const reply = {
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 'proof' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'Let me see.' },
      { type: 'text', text: '' },
      { ...TOOL, input: { city: 'Paris' } },
      { type: 'a_block_of_tomorrow' },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 8, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, output_tokens: 7 },
  };
  expect(readWhole(messagesCodec, reply)).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'signature', signature: 'messages:proof' },
    { type: 'signature', signature: 'messages:redacted:sealed' },
    { type: 'text', text: 'Let me see.' },
    CALL,
    { type: 'arguments', json: '{"city":"Paris"}' },
    CALLED,
  ]);
});

it('A whole message has its citations behind what they are about, and texts that its vendor searched between stay two', () => {
  const content = [
    { type: 'text', text: 'I search.' },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    { type: 'text', text: 'It is ' },
    { type: 'text', text: 'Paris', citations: [CITED, { type: 'char_location', document_index: 0, cited_text: 'x' }] },
    { type: 'text', text: '.' },
  ];
  expect(readWhole(messagesCodec, { content, stop_reason: 'end_turn' }).slice(0, -1)).toEqual([
    { type: 'text', text: 'I search.' },
    { type: 'break' },
    { type: 'text', text: 'It is Paris' },
    CITATION,
    { type: 'text', text: '.' },
  ]);
});

it('The usage holds every round of the vendor, a compaction too, which stands beside the other counts', () => {
  const iterations = [
    { type: 'compaction', input_tokens: 90_000, output_tokens: 3_000 },
    { type: 'message', input_tokens: 4_000, output_tokens: 50, cache_read_input_tokens: 10 },
  ];
  const usage = { input_tokens: 4_000, output_tokens: 50, cache_read_input_tokens: 10, iterations };
  const message = { content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn', usage };
  expect(messagesCodec.read(message).at(-1)).toMatchObject({
    usage: { inputTokens: 94_010, cachedInputTokens: 10, outputTokens: 3_050 },
  });
});
