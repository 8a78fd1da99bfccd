import type { JsonObject } from '#contracts';
import { asStream, decoded, joined } from '../testing/decoded.js';
import { parseReply } from './codec-failures.js';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { RelayTap } from './relay-tap.js';
import { EventSplitter } from './server-sent-events.js';

/** The word "Hi" and the end of the reply, in each protocol. */
const STREAMS = {
  chat: [{ choices: [{ delta: { content: 'Hi' } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }],
  responses: [
    { type: 'response.output_text.delta', delta: 'Hi' },
    { type: 'response.completed', response: { output: [] } },
  ],
  messages: [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'H' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'i' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ],
  gemini: [
    { candidates: [{ content: { parts: [{ text: 'H' }] } }] },
    { candidates: [{ content: { parts: [{ text: 'i' }] }, finishReason: 'STOP' }] },
  ],
} as const;

/** An event as a server repeats it that says only how the reply ended. */
const withoutWords = (event: object): object =>
  JSON.parse(JSON.stringify(event).replace('"text":"i"', '"text":""')) as object;

type Protocol = keyof typeof STREAMS;

const PROTOCOLS = Object.keys(STREAMS) as Protocol[];

describe.each(PROTOCOLS)('A stream over %s', (protocol) => {
  const stream = asStream(STREAMS[protocol]);
  const said = (sent: string): unknown => joined(decoded(PROTOCOL_CODECS[protocol], sent))[0];

  it.each([
    ['begins with the mark of its byte order', `\uFEFF${stream}`],
    ['ends with the word of another protocol', `${stream}data: [DONE]\n\n`],
    ['breaks its lines in another way', stream.replaceAll('\n', '\r\n')],
    ['breaks its lines in ways of several servers', stream.replaceAll('\n\n', '\n\r\n')],
    ['breaks its lines in other ways of several servers', stream.replaceAll('\n\n', '\r\n\n')],
    [
      'says its end twice',
      `${stream}${asStream(STREAMS[protocol].slice(protocol === 'messages' ? -2 : -1).map(withoutWords))}`,
    ],
    ['holds comments and events of tomorrow', `: wait\n\n${asStream([{ type: 'an_event_of_tomorrow' }])}${stream}`],
  ])('is read to its end where it %s', (_how, sent) => {
    expect(said(sent)).toEqual({ type: 'text', text: 'Hi' });
  });
});

/** The word "Hi" by servers that never name why they ended, and what else they leave out of the end. */
const UNNAMED_ENDS: readonly (readonly [Protocol, readonly (object | string)[]])[] = [
  ['chat', [{ choices: [{ delta: { content: 'Hi' }, finish_reason: null }] }, '[DONE]']],
  ['responses', [...STREAMS.responses.slice(0, -1), '[DONE]']],
  ['messages', STREAMS.messages.slice(0, -1)],
  ['messages', [...STREAMS.messages.slice(0, 2), { type: 'content_block_stop', index: 0 }, { type: 'message_stop' }]],
  ['messages', [...STREAMS.messages.slice(0, 2), '[DONE]']],
  ['gemini', [{ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }, '[DONE]']],
];

describe('A stream whose server leaves out a part of its end, and says that it is over', () => {
  it.each(UNNAMED_ENDS)('is whole over %s: %j', (protocol, events) => {
    expect(joined(decoded(PROTOCOL_CODECS[protocol], asStream(events)))).toEqual([
      { type: 'text', text: 'Hi' },
      expect.objectContaining({ type: 'finish', reason: 'stop' }),
    ]);
  });

  it.each(UNNAMED_ENDS)('is whole where it passes through, over %s: %j', (protocol, events) => {
    const tap = new RelayTap(PROTOCOL_CODECS[protocol]);
    for (const event of events) tap.see(Buffer.from(asStream([event])));
    tap.end();
    expect(tap.finishReason).toBe('stop');
  });

  it.each(PROTOCOLS)('is cut off where it does not say so, over %s', (protocol) => {
    const [first = {}] = UNNAMED_ENDS.find(([of]) => of === protocol)?.[1] ?? [];
    expect(() => decoded(PROTOCOL_CODECS[protocol], asStream([first]))).toThrow(/broke off/);
  });

  it.each<[Protocol, object]>([
    ['responses', { type: 'response.created', response: { output: [] } }],
    ['messages', { type: 'message_start', message: {} }],
    ['gemini', { candidates: [{ content: { parts: [] } }] }],
  ])('is no reply where it said nothing, over %s', (protocol, begun) => {
    expect(() => decoded(PROTOCOL_CODECS[protocol], asStream([begun, '[DONE]']))).toThrow(/broke off/);
  });

  it('is whole over gemini in one piece, too', () => {
    const reply = { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] };
    expect(PROTOCOL_CODECS.gemini.read(reply).at(-1)).toEqual({ type: 'finish', reason: 'stop' });
  });
});

it('A stream of mixed line ends is passed on as it comes', () => {
  const splitter = new EventSplitter();
  expect(splitter.push(Buffer.from('data: 1\n\r\ndata: 2\r\n')).toString()).toBe('data: 1\n\r\n');
  expect(splitter.push(Buffer.from('\ndata: 3')).toString()).toBe('data: 2\r\n\n');
});

it('A responses stream whose items are never said to be done loses none of them', () => {
  const said = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] });
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' };
  const alone = asStream([
    { type: 'response.output_item.added', output_index: 0, item: { ...call, arguments: '' } },
    { type: 'response.completed', response: { output: [call] } },
  ]);
  expect(joined(decoded(PROTOCOL_CODECS.responses, alone))[1]).toEqual({ type: 'arguments', json: '{"a":1}' });
  const stream = asStream([
    { type: 'response.output_item.added', output_index: 0, item: said('') },
    { type: 'response.output_text.delta', output_index: 0, delta: 'Hi' },
    { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a"' },
    { type: 'response.output_item.added', output_index: 2, item: said('') },
    { type: 'response.output_text.delta', output_index: 2, delta: 'there' },
    { type: 'response.completed', response: { output: [said('Hi'), call, said('there')] } },
  ]);
  expect(joined(decoded(PROTOCOL_CODECS.responses, stream))).toEqual([
    { type: 'text', text: 'Hi' },
    { type: 'call', id: 'c', name: 'f' },
    { type: 'arguments', json: '{"a":1}' },
    { type: 'text', text: 'there' },
    { type: 'finish', reason: 'tool-calls' },
  ]);
});

const BUSY = { type: 'overloaded_error', message: 'Busy.' };

/** Bodies that come with the status 200, and what they are. */
const NO_REPLIES: readonly (readonly [Protocol, object, code: string])[] = [
  ...PROTOCOLS.flatMap((protocol): [Protocol, object, string][] => [
    [protocol, {}, 'upstream_error'],
    [protocol, { error: BUSY }, 'overloaded'],
    [protocol, { error: 'Busy.' }, 'upstream_error'],
    [protocol, { code: 500, msg: 'Busy.', success: false }, 'upstream_error'],
  ]),
  ['messages', { type: 'error', error: BUSY }, 'overloaded'],
  ['messages', { type: 'message', content: [] }, 'upstream_error'],
  ['messages', { type: 'message', content: null, stop_reason: 'end_turn' }, 'upstream_error'],
  ...['cancelled', 'in_progress', 'queued'].map(
    (status) => ['responses', { status, output: [] }, 'upstream_error'] as const,
  ),
  ['responses', { output: [] }, 'upstream_error'],
];

describe('What came with the status 200 and is no reply', () => {
  it.each(NO_REPLIES)('is a failure, whole and streamed, over %s: %j', (protocol, body, code) => {
    const codec = PROTOCOL_CODECS[protocol];
    for (const read of [() => codec.read(body as JsonObject), () => decoded(codec, asStream([body]))])
      expect(read).toThrow(expect.objectContaining({ code }));
  });

  it.each<[Protocol, object]>([
    ['chat', { choices: [{ message: { content: '' }, finish_reason: 'stop' }] }],
    ['responses', { status: 'completed', output: [] }],
    ['responses', { output: [{ type: 'message', content: [] }] }],
    ['messages', { content: [], stop_reason: 'end_turn' }],
    ['messages', { content: [{ type: 'text', text: '' }] }],
    ['gemini', { candidates: [{ finishReason: 'STOP' }] }],
  ])('is told from a reply without words over %s: %j', (protocol, body) => {
    expect(PROTOCOL_CODECS[protocol].read(body as JsonObject)).toEqual([{ type: 'finish', reason: 'stop' }]);
  });
});

it('A whole reply may begin with the mark of its byte order', () => {
  expect(parseReply('\uFEFF{"x":1}')).toEqual({ x: 1 });
});

describe('A messages stream whose blocks interleave', () => {
  const start = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
  const json = (index: number, partial_json: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const END = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }];
  const called = (id: string, arguments_: string) => [
    { type: 'call', id, name: id },
    { type: 'arguments', json: arguments_ },
  ];
  const call = (index: number, id: string) => start(index, { type: 'tool_use', id, name: id, input: {} });
  const pieces = [call(0, 'a'), call(1, 'b'), json(1, '{"b":'), json(0, '{"a":1}'), call(2, 'c'), json(1, '2}')];

  it.each<[string, object[]]>([
    ['in the order of their ends', [...pieces, stop(0), stop(1), stop(2)]],
    ['where the first ends last', [...pieces, stop(2), stop(1), stop(0)]],
    ['where none is said to end', pieces],
  ])('gives every call its own arguments, %s', (_how, events) => {
    const isEnded = events.length > pieces.length;
    expect(joined(decoded(PROTOCOL_CODECS.messages, asStream([...events, ...END])))).toEqual([
      ...called('a', '{"a":1}'),
      ...called('b', '{"b":2}'),
      ...(isEnded ? called('c', '{}') : [{ type: 'call', id: 'c', name: 'c' }]),
      expect.objectContaining({ type: 'finish', reason: 'tool-calls' }),
    ]);
  });

  it('is read at one pass, however many are open at once and in what order they end', () => {
    const places = Array.from({ length: 20_000 }, (_, index) => index);
    const calls = places.map((index) => call(index, `c${index}`));
    for (const ends of [places.map(stop), places.toReversed().map(stop), []]) {
      const decoder = PROTOCOL_CODECS.messages.decoder();
      const read = [...calls, ...ends, ...END].flatMap((event) => decoder.push(JSON.stringify(event)));
      expect(read.filter(({ type }) => type === 'call')).toHaveLength(places.length);
    }
  }, 10_000);

  it('counts what is held back of them', () => {
    const decoder = PROTOCOL_CODECS.messages.decoder();
    for (const event of pieces) decoder.push(JSON.stringify(event));
    expect(decoder.heldBack?.()).toBe('{"b":2}');
  });
});

it('A call of a content-generation vendor whose arguments are null has none', () => {
  const events = [
    { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: null } }] }, finishReason: 'STOP' }] },
  ];
  expect(decoded(PROTOCOL_CODECS.gemini, asStream(events))).toContainEqual({ type: 'arguments', json: '{}' });
});

it('A failure that a chat server writes without an error around it says what it is', () => {
  const report = { object: 'error', message: 'Too long.', type: 'BadRequestError', param: null, code: 400 };
  expect(() => decoded(PROTOCOL_CODECS.chat, asStream([report, '[DONE]']))).toThrow(
    expect.objectContaining({ code: 'invalid_parameter' }),
  );
});
