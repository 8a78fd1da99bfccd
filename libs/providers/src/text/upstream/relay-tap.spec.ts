import { GatewayError, type JsonObject } from '#contracts';
import { asStream, usageOf } from '../testing/decoded.js';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { RelayTap } from './relay-tap.js';

const RESPONSE = { id: 'resp_1', status: 'completed', output: [], usage: { input_tokens: 11, output_tokens: 7 } };

/** The same reply in each protocol that can pass through: its words, its end, and how it would report a failure. */
const REPLIES = {
  responses: {
    word: (text: string) => ({ type: 'response.output_text.delta', delta: text }),
    ending: [{ type: 'response.completed', response: RESPONSE }],
    failure: { type: 'error', error: { type: 'overloaded_error' } },
  },
  messages: {
    word: (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ending: [
      { type: 'message_start', message: { usage: { input_tokens: 11, output_tokens: 1 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ],
    failure: { type: 'error', error: { type: 'overloaded_error' } },
  },
  gemini: {
    word: (text: string) => ({ candidates: [{ content: { parts: [{ text }] } }] }),
    ending: [
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7 },
      },
    ],
    failure: { error: { code: 503, status: 'UNAVAILABLE' } },
  },
  chat: {
    word: (text: string) => ({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }], usage: null }),
    ending: [
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } },
    ],
    failure: { error: { message: 'Overloaded', code: 503 } },
  },
} as const;

const PROTOCOLS = Object.keys(REPLIES) as (keyof typeof REPLIES)[];

describe.each(PROTOCOLS)('A tap on a %s stream', (protocol) => {
  const { word, ending, failure } = REPLIES[protocol];
  const tapOn = (...batches: readonly object[][]): RelayTap => {
    const tap = new RelayTap(PROTOCOL_CODECS[protocol]);
    for (const batch of batches) tap.see(Buffer.from(asStream(batch)));
    return tap;
  };

  it('finds the usage at the end, whatever the words before it say', () => {
    const tap = tapOn([word('Hello')], [word('"error" "usageMetadata" "message_stop"')], [...ending]);
    tap.end();
    const usage = usageOf({ inputTokens: 11, outputTokens: 7 });
    expect(tap.outcome()).toEqual({ usage, produced: '', failure: undefined });
  });

  it('finds the usage however its JSON is spaced', () => {
    const tap = tapOn([word('Hello')]);
    tap.see(Buffer.from(asStream(ending.map((event) => JSON.stringify(event).replaceAll(':', ' :  ')))));
    tap.end();
    expect(tap.outcome().usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
  });

  it('returns the text sent when the caller left before the end', () => {
    const tap = tapOn([word('é猫'), word('😀 ')], [word('there')]);
    expect(tap.outcome()).toEqual({ usage: undefined, produced: 'é猫😀 there', failure: undefined });
  });

  it('also returns the text when the upstream reports only the input', () => {
    const untold = JSON.parse(
      JSON.stringify(ending).replace(/"(output_tokens|completion_tokens|candidatesTokenCount)":\d+/g, '"$1":0'),
    );
    const tap = tapOn([word('Hello')], [word(' there')], untold);
    tap.end();
    expect(tap.outcome()).toMatchObject({ usage: { outputTokens: 0 }, produced: 'Hello there', failure: undefined });
    const silent = tapOn(untold);
    silent.end();
    expect(silent.outcome()).toMatchObject({ usage: { outputTokens: 0 }, produced: '' });
  });

  it('loses no text of a long reply', () => {
    const long = 'x'.repeat(30_000);
    expect(tapOn([word(long)], [word(long)], [word(long)], [word('.')]).outcome().produced).toHaveLength(90_001);
  });

  it('does not treat a broken stream as finished', () => {
    expect(() => tapOn([word('Hello')]).end()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  it('recognizes a failure that the vendor itself reports to the caller', () => {
    const tap = tapOn([word('Hello')], [failure]);
    tap.end();
    expect(tap.outcome()).toEqual({ usage: undefined, produced: 'Hello', failure: expect.any(GatewayError) });
  });

  it('keeps the native answer where the protocol sends one', () => {
    expect(tapOn([word('Hello')], [...ending]).answer).toEqual(protocol === 'responses' ? RESPONSE : undefined);
  });
});

/** What a stream says besides plain words, in every form that a caller can ask a vendor for. */
const UNUSUAL: readonly (readonly [keyof typeof PROTOCOL_CODECS, string, readonly object[]])[] = [
  ['chat', 'several replies', [{ choices: [0, 1, 2].map((index) => ({ index, delta: { content: 'abc' } })) }]],
  [
    'chat',
    'calls side by side',
    [
      ...[0, 1].map((index) => called({ index, id: `c${index}`, function: { name: 'f', arguments: '' } })),
      ...[0, 1].map((index) => called({ index, function: { arguments: 'abc' } })),
      called({ index: 1, function: { arguments: 'def' } }),
    ],
  ],
  ['chat', 'a call of a free form', [called({ index: 0, custom: { name: 'f', input: 'abcdefghi' } })]],
  [
    'chat',
    'a call of the former form',
    [{ choices: [{ delta: { function_call: { name: 'f', arguments: 'abcdefghi' } } }] }],
  ],
  ['responses', 'a call of a free form', [{ type: 'response.custom_tool_call_input.delta', delta: 'abcdefghi' }]],
  [
    'responses',
    'items that interleave',
    [
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message' } },
      { type: 'response.output_item.added', output_index: 1, item: { type: 'message' } },
      { type: 'response.output_text.delta', output_index: 1, delta: 'abcdefghi' },
    ],
  ],
  [
    'responses',
    'an item that comes whole',
    [{ type: 'response.output_item.done', item: { type: 'custom_tool_call', call_id: 'c', input: 'abcdefghi' } }],
  ],
  [
    'responses',
    'parts and items that come whole',
    [
      { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'abc' },
      { type: 'response.content_part.done', output_index: 0, content_index: 0, part: { text: 'abc' } },
      { type: 'response.output_item.done', output_index: 0, item: { content: [{ text: 'abc' }] } },
      { type: 'response.custom_tool_call_input.done', output_index: 1, input: 'def' },
      { type: 'response.function_call_arguments.delta', output_index: 2, delta: 'ghi' },
      { type: 'response.function_call_arguments.done', output_index: 2, arguments: 'ghi' },
    ],
  ],
  [
    'messages',
    "a call of a tool of the vendor's",
    [
      { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', name: 'f', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: 'abcdefghi' } },
    ],
  ],
  [
    'gemini',
    'several candidates',
    [{ candidates: ['abc', 'def', 'ghi'].map((text) => ({ content: { parts: [{ text }] } })) }],
  ],
  ...(
    [
      { reasoning_text: 'abcdefghi' },
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'abcde' },
          { type: 'reasoning.summary', summary: 'fghi' },
        ],
      },
      { reasoning: 'abcdefghi', reasoning_details: [{ type: 'reasoning.text', text: 'abcdefghi' }] },
      { reasoning_content: 'abcdefghi', reasoning: 'abcdefghi' },
      { reasoning_content: '', reasoning: 'abcdefghi' },
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'abcdefghi' }] }] },
      {
        content: 'abc',
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'sealed' }, { text: 'defghi' }, null],
      },
    ] satisfies JsonObject[]
  ).map((delta) => ['chat', `thoughts once, ${JSON.stringify(delta)}`, [{ choices: [{ index: 0, delta }] }]] as const),
  ['responses', 'thoughts', [{ type: 'response.reasoning.delta', delta: 'abcdefghi' }]],
  [
    'responses',
    'thoughts that come whole',
    [{ type: 'response.reasoning_text.done', output_index: 0, text: 'abcdefghi' }],
  ],
  ['responses', 'a refusal', [{ type: 'response.refusal.delta', delta: 'abcdefghi' }]],
  ['gemini', 'a thought', [{ candidates: [{ content: { parts: [{ text: 'abcdefghi', thought: true }] } }] }]],
  ['gemini', 'a program', [{ candidates: [{ content: { parts: [{ executableCode: { code: 'abcdefghi' } }] } }] }]],
];

function called(call: object): object {
  return { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
}

it.each(UNUSUAL)('A tap on a %s stream counts %s of a caller that leaves', (protocol, _what, events) => {
  const tap = new RelayTap(PROTOCOL_CODECS[protocol]);
  tap.see(Buffer.from(asStream(events)));
  expect(tap.outcome().produced).toHaveLength(9);
});

it('A decoder returns text it holds back, for counting', () => {
  const chat = PROTOCOL_CODECS.chat.decoder();
  for (const index of [0, 1])
    chat.push(JSON.stringify(called({ index, id: `c${index}`, function: { name: 'f', arguments: '{"a":' } })));
  expect(chat.heldBack?.()).toBe('{"a":');
  const responses = PROTOCOL_CODECS.responses.decoder();
  for (const event of UNUSUAL.find(([, what]) => what === 'items that interleave')?.[2] ?? [])
    responses.push(JSON.stringify(event));
  expect(responses.heldBack?.()).toBe('abcdefghi');
});

describe('A tap on a chat stream whose finish reason stays null', () => {
  const usage = { choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } };
  const tapOn = (events: readonly (object | string)[]): RelayTap => {
    const tap = new RelayTap(PROTOCOL_CODECS.chat);
    for (const event of events) tap.see(Buffer.from(asStream([event])));
    return tap;
  };

  it.each([
    ['words', REPLIES.chat.word('Hello')],
    ['calls', called({ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } })],
  ])('treats it as finished after %s where the stream says so', (_what, said) => {
    const tap = tapOn([said, usage, '[DONE]']);
    tap.end();
    expect(tap.outcome()).toMatchObject({ usage: { outputTokens: 7 }, failure: undefined });
  });

  it('treats it as broken where the stream does not say so', () => {
    const tap = tapOn([REPLIES.chat.word('say [DONE]'), usage]);
    expect(() => tap.end()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });
});
