import { GatewayError, type FinishReason, type TextEvent, type TextUsage } from '#contracts';
import fc from 'fast-check';
import { ReplyCollector } from './collect-reply.js';
import { chatStyle } from './chat/chat-style.js';
import { chatAnswer } from './chat/write-chat-answer.js';
import { geminiArrayStyle, geminiEventStyle } from './gemini/gemini-style.js';
import { geminiAnswer } from './gemini/write-gemini-answer.js';
import { messagesStyle } from './messages/messages-style.js';
import { messagesAnswer } from './messages/write-messages-answer.js';
import { responsesStyle } from './responses/responses-style.js';
import { responsesAnswer } from './responses/write-responses-answer.js';
import { parsedStream, rebuiltBlocks, rebuiltItems, rebuiltParts, type StreamedEvent } from './testing/rebuilt.js';
import type { TextStreamEncoder } from './text-style-codec.js';

const USAGE: TextUsage = {
  inputTokens: 20,
  cachedInputTokens: 3,
  cacheWriteTokens: 2,
  imageInputTokens: 4,
  outputTokens: 9,
  reasoningTokens: 5,
  source: 'upstream',
};
const context = <Body extends object>(body: Body) => ({
  requestId: 'req_1',
  model: 'vendor-5',
  body,
  createdSeconds: 1_795_190_389,
  estimatedInputTokens: 17,
  onAnswer: () => {},
});
const RESPONSES = context({ model: 'vendor-5', input: 'x' });
const MESSAGES = context({ model: 'vendor-5', messages: [] });
const GEMINI = context({ contents: [] });

const words = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('é猫😀', '"\\\n', 'data: x\n\n', '\u2028'));
const call = fc.constantFrom<TextEvent[]>(
  [{ type: 'call', id: 'call_1', name: 'get_time' }],
  [
    { type: 'call', id: 'call_2', name: 'get_weather' },
    { type: 'arguments', json: '{"ci' },
    { type: 'arguments', json: '' },
    { type: 'arguments', json: 'ty":"Paris"}' },
  ],
);
const step: fc.Arbitrary<TextEvent[]> = fc.oneof(
  words.map((text): TextEvent[] => [{ type: 'text', text }]),
  words.map((text): TextEvent[] => [{ type: 'reasoning', text }]),
  fc.constant<TextEvent[]>([{ type: 'signature', signature: 'messages:proof' }]),
  words.map((text): TextEvent[] => [{ type: 'break' }, { type: 'text', text }]),
  fc.constant<TextEvent[]>([
    { type: 'text', text: 'So' },
    { type: 'arguments', json: '{}' },
  ]),
  call,
);
/** Whatever a decoder may tell, in any order: pieces of arguments that belong to no call are dropped. */
const reply: fc.Arbitrary<TextEvent[]> = fc
  .tuple(fc.array(step, { maxLength: 8 }), fc.boolean())
  .map(([steps, starts]) => [
    ...(starts ? [{ type: 'start' as const, inputTokens: 12 }] : []),
    ...steps.flat(),
    { type: 'finish', reason: 'stop', usage: USAGE },
  ]);

function collected(events: readonly TextEvent[]) {
  const collector = new ReplyCollector();
  for (const event of events) collector.add(event);
  return collector.reply();
}

const written = (encoder: TextStreamEncoder, events: readonly TextEvent[]): string =>
  events.map((event) => encoder.write(event)).join('') + encoder.end();

const anyId = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, entry: unknown) => (key === 'id' || key === 'item_id' ? 'any' : entry)));

describe('A responses stream', () => {
  it('adds up to the whole answer, its sequence without a gap, one item open at a time', () => {
    fc.assert(
      fc.property(reply, (events) => {
        const stream = parsedStream(written(responsesStyle.stream(RESPONSES), events));
        const response = stream.at(-1)?.response;
        expect(response?.output).toEqual(rebuiltItems(stream));
        const whole = responsesAnswer(collected(events), RESPONSES);
        expect(anyId({ ...response, completed_at: 0 })).toEqual(anyId({ ...whole, completed_at: 0 }));
      }),
    );
  });

  it('gives a call without arguments an empty object, whole and streamed', () => {
    const events: TextEvent[] = [
      { type: 'call', id: 'call_1', name: 'get_time' },
      { type: 'finish', reason: 'tool-calls', usage: USAGE },
    ];
    expect(responsesAnswer(collected(events), RESPONSES).output).toMatchObject([{ arguments: '{}' }]);
    const stream = parsedStream(written(responsesStyle.stream(RESPONSES), events));
    expect(stream.map(({ type, delta }) => [type, delta])).toContainEqual([
      'response.function_call_arguments.delta',
      '{}',
    ]);
  });

  it.each<[FinishReason, string, object | null]>([
    ['stop', 'response.completed', null],
    ['stop-sequence', 'response.completed', null],
    ['tool-calls', 'response.completed', null],
    ['length', 'response.incomplete', { reason: 'max_output_tokens' }],
    ['content-filter', 'response.incomplete', { reason: 'content_filter' }],
  ])('that ends by %s reports that', (reason, type, details) => {
    const stream = parsedStream(written(responsesStyle.stream(RESPONSES), [{ type: 'finish', reason, usage: USAGE }]));
    expect(stream.at(-1)).toMatchObject({ type, response: { incomplete_details: details } });
  });
});

describe('A messages stream', () => {
  it('adds up to the whole answer, one block open at a time', () => {
    fc.assert(
      fc.property(reply, (events) => {
        const stream = parsedStream(written(messagesStyle.stream(MESSAGES), events));
        const { content, usage } = messagesAnswer(collected(events), 'vendor-5');
        expect(rebuiltBlocks(stream)).toEqual(content);
        expect(stream.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage });
      }),
    );
  });

  it('reports the best known number of input tokens at once', () => {
    const inputOf = (events: TextEvent[]) => parsedStream(written(messagesStyle.stream(MESSAGES), events))[0];
    expect(inputOf([{ type: 'start', inputTokens: 12 }])).toMatchObject({ message: { usage: { input_tokens: 12 } } });
    expect(inputOf([{ type: 'text', text: 'x' }])).toMatchObject({ message: { usage: { input_tokens: 17 } } });
  });

  it.each<[FinishReason, string, string | null]>([
    ['stop', 'end_turn', null],
    ['stop-sequence', 'stop_sequence', 'END'],
    ['tool-calls', 'tool_use', null],
    ['length', 'max_tokens', null],
    ['content-filter', 'refusal', null],
  ])('that ends by %s reports that', (reason, stop_reason, stop_sequence) => {
    const sequence = stop_sequence === null ? {} : { stopSequence: stop_sequence };
    const stream = parsedStream(written(messagesStyle.stream(MESSAGES), [{ type: 'finish', reason, ...sequence }]));
    expect(stream.at(-2)).toMatchObject({ delta: { stop_reason, stop_sequence } });
  });
});

describe('A content-generation stream', () => {
  it.each([
    ['events', geminiEventStyle, parsedStream],
    ['one JSON array', geminiArrayStyle, (text: string) => JSON.parse(text) as StreamedEvent[]],
  ])('adds up to the whole answer as %s', (_form, style, read) => {
    fc.assert(
      fc.property(reply, (events) => {
        const chunks = read(written(style.stream(GEMINI), events));
        const whole = geminiAnswer(collected(events), 'vendor-5', 'req_1');
        expect(rebuiltParts(chunks)).toEqual(rebuiltParts([whole]));
        const { usageMetadata } = whole;
        expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP', index: 0 }], usageMetadata });
        for (const chunk of chunks) expect(chunk).toMatchObject({ modelVersion: 'vendor-5', responseId: 'req_1' });
      }),
    );
  });

  it('counts thoughts beside the output, and images apart', () => {
    expect(
      geminiAnswer({ blocks: [], finish: { type: 'finish', reason: 'stop', usage: USAGE } }, 'm', 'r'),
    ).toMatchObject({
      usageMetadata: {
        promptTokenCount: 20,
        cachedContentTokenCount: 3,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 5,
        totalTokenCount: 29,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 16 },
          { modality: 'IMAGE', tokenCount: 4 },
        ],
      },
    });
  });

  it.each<[FinishReason, string]>([
    ['stop', 'STOP'],
    ['stop-sequence', 'STOP'],
    ['tool-calls', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['content-filter', 'SAFETY'],
  ])('that ends by %s reports that, and neither form invents a rating', (reason, finishReason) => {
    const finish = { type: 'finish' as const, reason };
    const [last] = parsedStream(written(geminiEventStyle.stream(GEMINI), [finish]));
    expect(last).toMatchObject({ candidates: [{ finishReason }] });
    expect(JSON.stringify(last)).not.toContain('probability');
    expect(geminiAnswer({ blocks: [], finish }, 'm', 'r')).toMatchObject({
      candidates: [{ finishReason, safetyRatings: [] }],
      promptFeedback: { safetyRatings: [] },
    });
  });
});

describe('Two texts that follow each other', () => {
  const source = { kind: 'page' as const, page: { url: 'https://a.example/', title: 'A', text: '' } };
  const events: TextEvent[] = [
    { type: 'text', text: 'Looking.' },
    { type: 'break' },
    { type: 'text', text: 'Done.' },
    { type: 'citation', citation: { start: 0, end: 4, text: 'Done', index: 0, source } },
    { type: 'finish', reason: 'stop', usage: USAGE },
  ];

  it('are two blocks and two messages where the style has them, with citations that count in their own', () => {
    const { content } = messagesAnswer(collected(events), 'vendor-5');
    expect(content).toMatchObject([{ text: 'Looking.' }, { text: 'Done', citations: [{}] }, { text: '.' }]);
    const { output } = responsesAnswer(collected(events), RESPONSES);
    const annotations = [{ start_index: 0, end_index: 4 }];
    expect(output).toMatchObject([{ content: [{ text: 'Looking.' }] }, { content: [{ text: 'Done.', annotations }] }]);
  });

  it('are a blank line apart where clients put all text of a reply together, whole and streamed', () => {
    const annotations = [{ url_citation: { start_index: 10, end_index: 14 } }];
    const chat = context({ model: 'vendor-5', messages: [] });
    expect(chatAnswer(collected(events), chat).choices[0]?.message).toMatchObject({
      content: 'Looking.\n\nDone.',
      annotations,
    });
    const chunks = written(chatStyle.stream(chat), events).split('\n\n');
    expect(chunks.find((chunk) => chunk.includes('annotations'))).toContain('"start_index":10,"end_index":14');
    const whole = geminiAnswer(collected(events), 'vendor-5', 'req_1').candidates[0];
    expect(whole).toMatchObject({
      content: { parts: [{ text: 'Looking.' }, { text: '\n\nDone.' }] },
      groundingMetadata: { groundingSupports: [{ segment: { partIndex: 1, startIndex: 2, endIndex: 6 } }] },
    });
    expect(parsedStream(written(geminiEventStyle.stream(GEMINI), events)).at(-1)).toMatchObject({
      candidates: [{ groundingMetadata: { groundingSupports: [{ segment: { startIndex: 10, endIndex: 14 } }] } }],
    });
  });
});

describe('A failure in the middle', () => {
  const FAILURE = new GatewayError('overloaded', 'The upstream is overloaded.', { log: 'secret' });
  const begun = (encoder: TextStreamEncoder): readonly string[] => {
    encoder.write({ type: 'text', text: 'Hel' });
    return encoder.fail(FAILURE);
  };

  it('is one flat and nested event of a responses stream', () => {
    const [event] = parsedStream(begun(responsesStyle.stream(RESPONSES)).join(''));
    const flat = { code: 'overloaded', message: 'The upstream is overloaded.', param: null };
    expect(event).toEqual({ type: 'error', sequence_number: 5, ...flat, error: { type: 'server_error', ...flat } });
  });

  it('is one event of a messages stream', () => {
    const message = 'The upstream is overloaded.';
    const error = { type: 'overloaded_error', message };
    expect(parsedStream(begun(messagesStyle.stream(MESSAGES)).join(''))).toEqual([
      { type: 'error', error, request_id: 'req_1', message },
    ]);
  });

  it('is written twice to a content-generation stream, for newer and for older clients', () => {
    const error = { code: 503, message: 'The upstream is overloaded.', status: 'UNAVAILABLE', details: [] };
    const [event, bare, ...rest] = begun(geminiEventStyle.stream(GEMINI));
    expect([parsedStream(event ?? ''), JSON.parse(bare ?? ''), rest]).toEqual([[{ error }], { error }, []]);
    const array = geminiArrayStyle.stream(GEMINI);
    const text = array.write({ type: 'text', text: 'Hel' }) + array.fail(FAILURE).join('');
    expect((JSON.parse(text) as object[]).at(-1)).toEqual({ error });
  });
});
