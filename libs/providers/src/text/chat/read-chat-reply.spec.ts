import type { TextEvent } from '#contracts';
import { asStream, decoded, joined, readWhole, usageOf } from '../testing/decoded.js';
import { chatCodec } from './chat-codec.js';

const delta = (fields: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const USAGE = {
  prompt_tokens: 11,
  completion_tokens: 7,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const KNOWN = usageOf({ inputTokens: 11, cachedInputTokens: 3, outputTokens: 7, reasoningTokens: 2 });
const COUNTED = { choices: [], usage: USAGE };
const STOP: TextEvent = { type: 'finish', reason: 'stop', usage: KNOWN };
const CALLED: TextEvent = { ...STOP, reason: 'tool-calls' };

const called = (index: number, id: string, city: string): TextEvent[] => [
  { type: 'call', id, name: `tool_${index}` },
  { type: 'arguments', json: `{"city":"${city}"}` },
];
const opening = (index: number, id: string): object => ({
  index,
  id,
  type: 'function',
  function: { name: `tool_${index}`, arguments: '' },
});
const piece = (index: number | undefined, json: string): object => ({
  ...(index === undefined ? {} : { index }),
  function: { arguments: json },
});
const tools = (...tool_calls: object[]): object => delta({ tool_calls });

const read = (...events: (object | string)[]): TextEvent[] => joined(decoded(chatCodec, asStream(events)));

describe('A chat stream', () => {
  it.each<[string, (object | string)[], TextEvent[]]>([
    [
      'brings text in pieces, an empty first one and the usage after the end',
      [
        delta({ role: 'assistant', content: '' }),
        delta({ content: '猫' }),
        delta({ content: '😀' }),
        delta({}, 'stop'),
        COUNTED,
        '[DONE]',
      ],
      [{ type: 'text', text: '猫😀' }, STOP],
    ],
    [
      'brings usage inside the choice',
      [delta({ content: 'Hi' }), { choices: [{ delta: {}, finish_reason: 'stop', usage: USAGE }] }],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    [
      'brings usage whose reasoning stands beside what was written',
      [
        delta({ content: 'Hi' }),
        { ...delta({}, 'stop'), usage: { ...USAGE, completion_tokens: 5, total_tokens: 11 + 5 + 2 } },
      ],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    [
      'brings usage under a vendor’s own name',
      [delta({ content: 'Hi' }), { ...delta({}, 'stop'), x_groq: { usage: USAGE } }],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    [
      'repeats its usage in every chunk, of which the last counts',
      [
        { ...delta({ content: 'Hi' }), usage: { ...USAGE, completion_tokens: 1 } },
        { ...delta({}, 'stop'), usage: USAGE },
      ],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    [
      'brings reasoning under either name, and in parts',
      [
        delta({ reasoning_content: 'Hm' }),
        delta({ reasoning: ', well' }),
        delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: '.' }] }] }),
        delta({ content: [{ type: 'text', text: 'Yes' }] }),
        delta({ content: ' indeed', reasoning_content: null }),
        delta({}, 'stop'),
        COUNTED,
      ],
      [
        { type: 'reasoning', text: 'Hm, well.' },
        { type: 'signature', signature: 'chat:reasoning' },
        { type: 'text', text: 'Yes indeed' },
        STOP,
      ],
    ],
    [
      'brings a refusal as what it is',
      [delta({ refusal: 'No.' }), delta({}, 'content_filter'), COUNTED],
      [
        { type: 'refusal', text: 'No.' },
        { ...STOP, reason: 'content-filter' },
      ],
    ],
    [
      'interleaves arguments of two calls, which are emitted one after the other',
      [
        tools(opening(0, 'a')),
        tools(piece(0, '{"city":')),
        tools(opening(1, 'b'), piece(0, '"Paris"}')),
        tools(piece(1, '{"city":"Rome"}')),
        delta({}, 'tool_calls'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), ...called(1, 'b', 'Rome'), CALLED],
    ],
    [
      'gives all calls the index 0, or none',
      [
        tools({ ...opening(0, 'a'), index: 0 }, piece(0, '{"city":"Paris"}')),
        tools({ id: 'b', function: { name: 'tool_1', arguments: '{"city":' }, index: 0 }),
        tools(piece(undefined, '"Rome"}')),
        delta({}, 'stop'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), ...called(1, 'b', 'Rome'), CALLED],
    ],
    [
      'gives its calls the index null',
      [
        tools({ ...opening(0, 'a'), index: null }),
        tools({ index: null, function: { arguments: '{"city":' } }),
        tools({ index: null, function: { arguments: '"Paris"}' } }),
        delta({}, 'tool_calls'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), CALLED],
    ],
    [
      'writes arguments as an object, or none',
      [
        tools({ index: 0, id: 'a', function: { name: 'tool_0', arguments: { city: 'Paris' } } }),
        tools({ index: 1, id: 'b', function: { name: 'tool_1', arguments: { city: 'Rome' } } }),
        delta({}, 'tool_calls'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), ...called(1, 'b', 'Rome'), CALLED],
    ],
    [
      'brings its call in the legacy form, which has no id',
      [
        delta({ role: 'assistant', content: null, function_call: { name: 'tool_0', arguments: '' } }),
        delta({ function_call: { arguments: '{"city":' } }),
        delta({ function_call: { name: '', arguments: '"Paris"}' } }),
        delta({}, 'function_call'),
        COUNTED,
      ],
      [...called(0, expect.stringMatching(/^call_[0-9a-f]{24}$/) as string, 'Paris'), CALLED],
    ],
    [
      'brings its call in both forms, of which the newer counts',
      [
        tools({ index: 0, id: 'a', function: { name: 'tool_0', arguments: '' } }),
        delta({ tool_calls: [piece(0, '{"city":"Paris"}')], function_call: { arguments: '{"city":"Paris"}' } }),
        delta({ function_call: { name: 'tool_0', arguments: '{"city":"Paris"}' } }, 'tool_calls'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), CALLED],
    ],
    [
      'names the legacy form and says nothing in it',
      [
        delta({ content: 'Hi', function_call: { name: '', arguments: '' } }),
        delta({ function_call: {} }, 'stop'),
        COUNTED,
      ],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    [
      'names a call after it has begun',
      [
        tools({ index: 0, id: 'a', type: 'function' }),
        tools({ index: 0, function: { arguments: '{"city":' } }),
        tools({ index: 0, id: 'a', function: { name: 'tool_0' } }),
        tools(piece(0, '"Paris"}')),
        delta({}, 'tool_calls'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), CALLED],
    ],
    [
      'repeats the name of a call with every piece of it',
      [
        tools({ index: 0, id: 'a', function: { name: 'tool_0', arguments: '{"city":' } }),
        tools({ index: 0, function: { name: 'tool_0', arguments: '"Paris"}' } }),
        tools({ index: 0, function: { name: 'tool_0', arguments: '' } }),
        delta({}, 'tool_calls'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), CALLED],
    ],
    [
      'brings reasoning in details alone',
      [
        delta({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.summary', summary: ', well' }] }),
        delta({ content: 'Yes', reasoning_content: '', reasoning: '' }),
        delta({}, 'stop'),
        COUNTED,
      ],
      [{ type: 'reasoning', text: 'Hm, well' }, { type: 'text', text: 'Yes' }, STOP],
    ],
    [
      'brings a whole call in one chunk and says stop',
      [
        tools({ index: 0, id: 'a', function: { name: 'tool_0', arguments: '{"city":"Paris"}' } }),
        delta({ content: null }, 'stop'),
        COUNTED,
      ],
      [...called(0, 'a', 'Paris'), CALLED],
    ],
    [
      'says which stop sequence ended it',
      [{ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop', stop_reason: 'END' }] }, COUNTED],
      [
        { type: 'text', text: 'Hi' },
        { ...STOP, reason: 'stop-sequence', stopSequence: 'END' },
      ],
    ],
    [
      'reports no usage, which is then counted',
      [delta({ content: 'Hi' }), delta({}, 'length')],
      [
        { type: 'text', text: 'Hi' },
        { type: 'finish', reason: 'length' },
      ],
    ],
  ])('%s', (_what, events, expected) => {
    expect(read(...events)).toEqual(expected);
  });

  it('gives a call an id when its vendor gave none', () => {
    const [call] = read(tools({ index: 0, function: { name: 'tool_0', arguments: '{}' } }), delta({}, 'tool_calls'));
    expect(call).toEqual({ type: 'call', id: expect.stringMatching(/^call_[0-9a-f]{24}$/), name: 'tool_0' });
  });

  it.each([
    ['without an index', ['{"city":"Paris"}', '{"city":"Rome"}'], [undefined, undefined], true],
    ['with the index 0 and no id', ['{"city":"Paris"}', '{"city":"Rome"}'], [0, 0], true],
    ['in one chunk', ['{"city":"Paris"}', '{"city":"Rome"}'], [undefined, undefined], false],
    ['in one chunk and without arguments', ['', ''], [undefined, undefined], false],
  ])('tells two calls of one function apart that come %s', (_how, sent, places, inTwo) => {
    const calls = sent.map((json, at) => ({
      id: '',
      ...(places[at] === undefined ? {} : { index: places[at] }),
      function: { name: 'tool_0', arguments: json },
    }));
    const chunks = inTwo ? calls.map((call) => tools(call)) : [tools(...calls)];
    const events = read(...chunks, delta({}, 'tool_calls'), COUNTED);
    const ids = events.flatMap((event) => (event.type === 'call' ? [event.id] : []));
    expect(new Set(ids).size).toBe(2);
    const told = events.flatMap((event) => (event.type === 'arguments' && event.json !== '' ? [event.json] : []));
    expect(told).toEqual(sent.filter((json) => json !== ''));
  });

  it.each([
    ['breaks off before its end', [delta({ content: 'Hi' })], 'upstream_error'],
    [
      'continues arguments of a call after other text',
      [tools(opening(0, 'a')), delta({ content: 'Hi' }), tools(piece(0, '{}'))],
      'upstream_error',
    ],
    ['reports an overload', [{ error: { code: 503, type: 'overloaded_error' } }], 'overloaded'],
    ['reports a limit', [{ error: { type: 'rate_limit_error' } }], 'upstream_rate_limited'],
    ['holds no JSON', ['<html>'], 'upstream_error'],
    ['holds JSON that is no object', ['[1]'], 'upstream_error'],
  ])('fails when it %s', (_what, events, code) => {
    expect(() => read(...events)).toThrow(expect.objectContaining({ code }));
  });
});

it('A whole chat completion reads as its stream would', () => {
  const tool_calls = [
    { id: 'a', type: 'function', function: { name: 'tool_0', arguments: '{"city":"Paris"}' } },
    { id: 'b', type: 'function', function: { name: 'tool_1', arguments: '{"city":"Rome"}' } },
  ];
  const message = { role: 'assistant', content: 'Let me see.', reasoning_content: 'Hm', tool_calls };
  const reply = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage: USAGE };
  expect(readWhole(chatCodec, reply)).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'signature', signature: 'chat:reasoning_content' },
    { type: 'text', text: 'Let me see.' },
    ...called(0, 'a', 'Paris'),
    ...called(1, 'b', 'Rome'),
    CALLED,
  ]);
});

it.each([
  ['one name', ['tool_0', 'tool_0']],
  ['several names', ['tool_0', 'tool_1']],
])(
  'Calls of %s under one id are calls of their own, whole and streamed, each with an id of its own',
  (_what, names) => {
    const sent = names.map((name, index) => ({
      index,
      id: 'call_0',
      type: 'function',
      function: { name, arguments: `{"city":"${index}"}` },
    }));
    const whole = sent.map(({ index: _index, ...call }) => call);
    const inTwo = (call: (typeof sent)[number]) =>
      [/^.{5}/s, /(?<=^.{5}).+/s].map((half) => ({
        ...call,
        function: { ...call.function, arguments: half.exec(call.function.arguments)?.[0] ?? '' },
      }));
    const message = { role: 'assistant', content: null, tool_calls: whole };
    for (const events of [
      joined(readWhole(chatCodec, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage: USAGE })),
      read(tools(...sent), delta({}, 'tool_calls'), COUNTED),
      read(...sent.map((call) => tools(call)), delta({}, 'tool_calls'), COUNTED),
      read(tools(...whole), delta({}, 'tool_calls'), COUNTED),
      read(...sent.flatMap((call) => inTwo(call).map((half) => tools(half))), delta({}, 'tool_calls'), COUNTED),
    ])
      expect(events).toEqual([
        { type: 'call', id: 'call_0', name: names[0] },
        { type: 'arguments', json: '{"city":"0"}' },
        { type: 'call', id: expect.stringMatching(/^call_[0-9a-f]{24}$/), name: names[1] },
        { type: 'arguments', json: '{"city":"1"}' },
        CALLED,
      ]);
  },
);

it('A chunk of several choices is read with all of them, so that none is produced for nothing', () => {
  const decoder = chatCodec.decoder();
  const choices = ['one', 'two'].map((content, index) => ({ index, delta: { content }, finish_reason: 'stop' }));
  const texts = decoder.push(JSON.stringify({ choices })).map((event) => ('text' in event ? event.text : ''));
  expect(texts).toEqual(['one', 'two']);
});

describe('A chat reply whose vendor never says why it ended', () => {
  const say = [delta({ role: 'assistant', content: 'H' }), delta({ content: 'i' }), COUNTED];

  it.each<[string, (object | string)[], TextEvent[]]>([
    ['words', [...say, '[DONE]'], [{ type: 'text', text: 'Hi' }, STOP]],
    [
      'a call',
      [tools(opening(0, 'a')), tools(piece(0, '{"city":"Rome"}')), COUNTED, '[DONE]'],
      [...called(0, 'a', 'Rome'), CALLED],
    ],
    ['no words at all', [delta({ role: 'assistant', content: '' }), COUNTED, '[DONE]'], [STOP]],
  ])('is complete where the stream says so behind %s', (_what, events, expected) => {
    expect(read(...events)).toEqual(expected);
  });

  it('is broken off where the stream does not say that it is over', () => {
    expect(() => read(...say)).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  it.each([null, undefined, ''])('is complete when it comes whole, with the reason %j', (finish_reason) => {
    const whole = (message: object): TextEvent[] =>
      readWhole(chatCodec, { choices: [{ index: 0, message, finish_reason }], usage: USAGE });
    expect(whole({ role: 'assistant', content: 'Hi' })).toEqual([{ type: 'text', text: 'Hi' }, STOP]);
    const tool_calls = [{ id: 'a', function: { name: 'tool_0', arguments: '{"city":"Rome"}' } }];
    expect(whole({ content: null, tool_calls })).toEqual([...called(0, 'a', 'Rome'), CALLED]);
    const two = ['one', 'two'].map((content, index) => ({ index, message: { content }, finish_reason }));
    expect(readWhole(chatCodec, { choices: two, usage: USAGE })).toEqual([{ type: 'text', text: 'onetwo' }, STOP]);
    expect(() => readWhole(chatCodec, { choices: [{ index: 0, finish_reason }] })).toThrow();
    expect(() => readWhole(chatCodec, { choices: [] })).toThrow();
  });
});
