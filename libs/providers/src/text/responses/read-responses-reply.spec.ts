import type { TextEvent } from '#contracts';
import { asStream, decoded, joined, readWhole, usageOf } from '../testing/decoded.js';
import { responsesCodec } from './responses-codec.js';

const USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 3 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
};
const KNOWN = usageOf({ inputTokens: 11, cachedInputTokens: 3, outputTokens: 7, reasoningTokens: 2 });
const completed = (output: readonly object[] = []): object => ({
  type: 'response.completed',
  response: { status: 'completed', output, usage: USAGE },
});
const STOP: TextEvent = { type: 'finish', reason: 'stop', usage: KNOWN };
const CALLED: TextEvent = { ...STOP, reason: 'tool-calls' };

const added = (item: object, output_index = 0): object => ({ type: 'response.output_item.added', output_index, item });
const done = (item: object, output_index = 0): object => ({ type: 'response.output_item.done', output_index, item });
const delta = (kind: string, text: string, output_index = 0): object => ({
  type: `response.${kind}.delta`,
  output_index,
  delta: text,
});
const message = (...texts: string[]): object => ({
  type: 'message',
  content: texts.map((text) => ({ type: 'output_text', text })),
});
const call = (id: string, city?: string): object => ({
  type: 'function_call',
  call_id: id,
  name: 'get_weather',
  arguments: city === undefined ? '' : `{"city":"${city}"}`,
});
const called = (id: string, city: string): TextEvent[] => [
  { type: 'call', id, name: 'get_weather' },
  { type: 'arguments', json: `{"city":"${city}"}` },
];

const read = (...events: (object | string)[]): TextEvent[] => joined(decoded(responsesCodec, asStream(events)));

describe('A responses stream', () => {
  it('is charged by the last of two reported inputs, and by the larger of two outputs', () => {
    const less = { input_tokens: 1, output_tokens: 1 };
    const again = { type: 'response.completed', response: { status: 'completed', output: [], usage: less } };
    expect(read(completed(), again)).toMatchObject([{ type: 'finish', usage: { inputTokens: 1, outputTokens: 7 } }]);
  });

  it.each<[string, (object | string)[], TextEvent[]]>([
    [
      'brings text in pieces, the empty ones left out',
      [
        { type: 'response.created', response: {} },
        added(message()),
        delta('output_text', ''),
        delta('output_text', '猫'),
        delta('output_text', '😀'),
        done(message('猫😀')),
        completed(),
        '[DONE]',
      ],
      [{ type: 'text', text: '猫😀' }, STOP],
    ],
    [
      'brings an empty message, which is none',
      [added(message()), delta('output_text', ''), done(message('')), completed()],
      [STOP],
    ],
    [
      'brings text only when its item is done',
      [added(message()), done(message('Hi ', 'there')), completed()],
      [{ type: 'text', text: 'Hi there' }, STOP],
    ],
    [
      'announces no item',
      [delta('output_text', 'Hi'), done(message('Hi')), done(call('a', 'Paris'), 1), completed()],
      [{ type: 'text', text: 'Hi' }, ...called('a', 'Paris'), CALLED],
    ],
    [
      'brings two messages, which stay two',
      [
        added(message()),
        delta('output_text', 'Looking.'),
        done(message('Looking.')),
        added(message(), 1),
        delta('output_text', 'Do', 1),
        delta('output_text', 'ne.', 1),
        done(message('Done.'), 1),
        done(message('Really.'), 2),
        completed(),
      ],
      [
        { type: 'text', text: 'Looking.' },
        { type: 'break' },
        { type: 'text', text: 'Done.' },
        { type: 'break' },
        { type: 'text', text: 'Really.' },
        STOP,
      ],
    ],
    [
      'brings a refusal as what it is',
      [delta('refusal', 'No.'), completed()],
      [{ type: 'refusal', text: 'No.' }, STOP],
    ],
    [
      'brings a summary in several parts, then the proof of it',
      [
        added({ type: 'reasoning', summary: [] }),
        { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 },
        delta('reasoning_summary_text', 'Hm'),
        { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 1 },
        delta('reasoning_summary_text', 'Well'),
        done({ type: 'reasoning', summary: [{ text: 'Hm' }, { text: 'Well' }], encrypted_content: 'sealed' }),
        completed(),
      ],
      [{ type: 'reasoning', text: 'Hm\n\nWell' }, { type: 'signature', signature: 'responses:sealed' }, STOP],
    ],
    [
      'brings raw reasoning under either name',
      [delta('reasoning_text', 'Hm'), delta('reasoning', ', well'), completed()],
      [{ type: 'reasoning', text: 'Hm, well' }, STOP],
    ],
    [
      'brings arguments in pieces',
      [
        added(call('a')),
        delta('function_call_arguments', '{"city":'),
        delta('function_call_arguments', '"Paris"}'),
        done(call('a', 'Paris')),
        completed(),
      ],
      [...called('a', 'Paris'), CALLED],
    ],
    [
      'brings arguments only when the call is done',
      [added(call('a')), done(call('a', 'Paris')), completed()],
      [...called('a', 'Paris'), CALLED],
    ],
    [
      'interleaves two calls, which are emitted one after the other',
      [
        added(call('a')),
        delta('function_call_arguments', '{"city":'),
        added(call('b'), 1),
        delta('function_call_arguments', '{"city":', 1),
        delta('function_call_arguments', '"Paris"}'),
        done(call('a', 'Paris')),
        delta('function_call_arguments', '"Rome"}', 1),
        done(call('b', 'Rome'), 1),
        completed(),
      ],
      [...called('a', 'Paris'), ...called('b', 'Rome'), CALLED],
    ],
    [
      'brings steps of the vendor’s own tools',
      [
        added({ type: 'web_search_call' }),
        { type: 'response.web_search_call.searching', output_index: 0 },
        done({ type: 'web_search_call' }),
        added(message(), 1),
        delta('output_text', 'Found.', 1),
        done(message('Found.'), 1),
        completed(),
      ],
      [{ type: 'text', text: 'Found.' }, STOP],
    ],
  ])('%s', (_what, events, expected) => {
    expect(read(...events)).toEqual(expected);
  });

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content-filter'],
  ])('that ended early by %s', (reason, expected) => {
    const response = { status: 'incomplete', incomplete_details: { reason }, usage: USAGE };
    expect(read({ type: 'response.incomplete', response })).toEqual([{ ...STOP, reason: expected }]);
  });

  it('is read from its end where nothing came before', () => {
    const output = [message('Hi'), call('a', 'Paris')];
    const end = { type: 'response.completed', response: { status: 'completed', output, usage: USAGE } };
    expect(read(end, end)).toEqual([{ type: 'text', text: 'Hi' }, ...called('a', 'Paris'), CALLED]);
  });

  it('tells no usage, which is then counted', () => {
    expect(read({ type: 'response.completed', response: { usage: null } })).toEqual([
      { type: 'finish', reason: 'stop' },
    ]);
  });

  it.each([
    ['breaks off before its end', [delta('output_text', 'Hi')], 'upstream_error'],
    [
      'reports a failure',
      [{ type: 'response.failed', response: { error: { code: 'server_error' } } }],
      'upstream_error',
    ],
    ['reports an overload, nested', [{ type: 'error', error: { type: 'overloaded_error' } }], 'overloaded'],
    ['reports a limit, flat', [{ type: 'error', code: 'rate_limit_exceeded' }], 'upstream_rate_limited'],
    ['holds no JSON', ['{"type":'], 'upstream_error'],
  ])('fails when it %s', (_what, events, code) => {
    expect(() => read(...events)).toThrow(expect.objectContaining({ code }));
  });
});

it('A whole response reads as its stream would', () => {
  const output = [
    { type: 'reasoning', summary: [{ text: 'Hm' }, { text: 'Well' }], encrypted_content: 'sealed' },
    message('Let me ', '', 'see.'),
    call('a', 'Paris'),
    { type: 'an_item_of_tomorrow' },
  ];
  expect(readWhole(responsesCodec, { status: 'completed', error: null, output, usage: USAGE })).toEqual([
    { type: 'reasoning', text: 'Hm\n\nWell' },
    { type: 'signature', signature: 'responses:sealed' },
    { type: 'text', text: 'Let me see.' },
    ...called('a', 'Paris'),
    CALLED,
  ]);
  expect(() => readWhole(responsesCodec, { status: 'failed', error: { code: 'server_error' } })).toThrow(
    expect.objectContaining({ code: 'upstream_error' }),
  );
});

it('A whole response shows the reasoning itself where it has no summary of it', () => {
  const output = [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] }];
  expect(readWhole(responsesCodec, { status: 'completed', output, usage: USAGE })).toEqual([
    { type: 'reasoning', text: 'Hm' },
    STOP,
  ]);
});

it.each([null, { reason: 'max_tokens' }])(
  'A response that is incomplete for no reason known here is no whole one: %j',
  (why) => {
    const response = { status: 'incomplete', incomplete_details: why, output: [{ type: 'message', content: [] }] };
    const finish: TextEvent[] = [{ type: 'finish', reason: 'length' }];
    expect(decoded(responsesCodec, asStream([{ type: 'response.incomplete', response }]))).toEqual(finish);
    expect(readWhole(responsesCodec, response)).toEqual(finish);
  },
);

describe('A responses stream that says something only when it is whole', () => {
  const over = (kind: string, fields: object, output_index = 0): object => ({
    type: `response.${kind}.done`,
    output_index,
    ...fields,
  });
  const bare = { type: 'function_call', call_id: 'a', name: 'get_weather' };
  const rome = over('function_call_arguments', { arguments: '{"city":"Rome"}' });
  const summary = (text: string, summary_index = 0): object => over('reasoning_summary_text', { text, summary_index });
  const part = (text: string, content_index = 0): object =>
    over('content_part', { content_index, part: { type: 'output_text', text } });

  it.each<[string, object[], TextEvent[]]>([
    ['arguments', [added(bare), rome, done(bare)], [...called('a', 'Rome'), CALLED]],
    [
      'arguments beside an empty text of them',
      [added(call('a')), rome, done(call('a'))],
      [...called('a', 'Rome'), CALLED],
    ],
    ['arguments of an item that never closes', [added(bare), rome], [...called('a', 'Rome'), CALLED]],
    [
      'arguments once more, behind their pieces',
      [added(bare), delta('function_call_arguments', '{"city":"Rome"}'), rome, done(call('a', 'Rome'))],
      [...called('a', 'Rome'), CALLED],
    ],
    ['arguments of a call that was not announced', [rome, done(bare)], [...called('a', 'Rome'), CALLED]],
    [
      'arguments of two calls side by side',
      [
        added(bare),
        added({ ...bare, call_id: 'b' }, 1),
        over('function_call_arguments', { arguments: '{"city":"Oslo"}' }, 1),
        rome,
        done(bare),
        done({ ...bare, call_id: 'b' }, 1),
      ],
      [...called('a', 'Rome'), ...called('b', 'Oslo'), CALLED],
    ],
    [
      'arguments of two calls that never close',
      [
        added(bare),
        added({ ...bare, call_id: 'b' }, 1),
        over('function_call_arguments', { arguments: '{"city":"Oslo"}' }, 1),
        rome,
      ],
      [...called('a', 'Rome'), ...called('b', 'Oslo'), CALLED],
    ],
    [
      'words',
      [added(message()), over('output_text', { content_index: 0, text: 'Hi' }), done(message())],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    ['words of a part', [added(message()), part('Hi'), done(message())], [{ type: 'text', text: 'Hi' }, STOP]],
    ['words without any item', [over('output_text', { text: 'Hi' })], [{ type: 'text', text: 'Hi' }, STOP]],
    [
      'words again and again, which are said once',
      [
        added(message()),
        delta('output_text', 'Hi'),
        over('output_text', { content_index: 0, text: 'Hi' }),
        part('Hi'),
        done(message('Hi')),
      ],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    [
      'words of a second part, once in the part and once in the item',
      [
        added(message()),
        { ...delta('output_text', 'Hi'), content_index: 0 },
        part('Hi'),
        part(' there', 1),
        done(message('Hi', ' there', '!')),
      ],
      [{ type: 'text', text: 'Hi there!' }, STOP],
    ],
    [
      'a refusal',
      [added(message()), over('refusal', { content_index: 0, refusal: 'No.' }), done(message())],
      [{ type: 'refusal', text: 'No.' }, STOP],
    ],
    [
      'a refusal of a part',
      [added(message()), over('content_part', { part: { type: 'refusal', refusal: 'No.' } })],
      [{ type: 'refusal', text: 'No.' }, STOP],
    ],
    [
      'a summary in two parts',
      [
        added({ type: 'reasoning' }),
        summary('Hm'),
        summary('Well', 1),
        done({ type: 'reasoning', encrypted_content: 'sealed' }),
      ],
      [{ type: 'reasoning', text: 'Hm\n\nWell' }, { type: 'signature', signature: 'responses:sealed' }, STOP],
    ],
    [
      'a part of a summary',
      [
        added({ type: 'reasoning' }),
        over('reasoning_summary_part', { summary_index: 0, part: { type: 'summary_text', text: 'Hm' } }),
      ],
      [{ type: 'reasoning', text: 'Hm' }, STOP],
    ],
    [
      'raw reasoning',
      [over('reasoning_text', { content_index: 0, text: 'Hm' }), over('reasoning', { text: 'Hm' })],
      [{ type: 'reasoning', text: 'Hm' }, STOP],
    ],
  ])('brings %s', (_what, events, expected) => {
    expect(read(...events, completed())).toEqual(expected);
  });

  it('brings a call whose arguments no event names in its last event', () => {
    expect(read(added(bare), done(bare), completed([call('a', 'Rome')]))).toEqual([...called('a', 'Rome'), CALLED]);
    expect(read(added(message()), done(message()), completed([message('Hi')]))).toEqual([
      { type: 'text', text: 'Hi' },
      STOP,
    ]);
  });
});
