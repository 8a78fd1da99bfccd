import type { TextEvent } from '#contracts';
import { asStream, decoded, joined, readWhole, usageOf } from '../testing/decoded.js';
import { geminiCodec } from './gemini-codec.js';

const USAGE = {
  promptTokenCount: 11,
  toolUsePromptTokenCount: 4,
  cachedContentTokenCount: 3,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 5 },
    { modality: 'IMAGE', tokenCount: 6 },
  ],
};
const KNOWN = usageOf({
  inputTokens: 15,
  cachedInputTokens: 3,
  imageInputTokens: 6,
  outputTokens: 7,
  reasoningTokens: 2,
});
const chunk = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts }, index: 0 }],
  ...more,
});
const LAST = {
  candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: USAGE,
};
const ended = (finishReason: string): object => ({ candidates: [{ finishReason }], usageMetadata: USAGE });
const STOP: TextEvent = { type: 'finish', reason: 'stop', usage: KNOWN };
const CALLED: TextEvent = { ...STOP, reason: 'tool-calls' };

const read = (...events: (object | string)[]): TextEvent[] => joined(decoded(geminiCodec, asStream(events)));

describe('A content-generation stream', () => {
  it.each<[string, object[], TextEvent[]]>([
    [
      'brings text in pieces, with a first guess of its usage',
      [chunk([{ text: '猫' }], { usageMetadata: { promptTokenCount: 11 } }), chunk([{ text: '😀' }]), LAST],
      [{ type: 'text', text: '猫😀' }, STOP],
    ],
    [
      'brings thoughts, and their proof on the part that follows',
      [chunk([{ text: 'Hm', thought: true }]), chunk([{ text: 'Yes', thoughtSignature: 'proof' }]), LAST],
      [
        { type: 'reasoning', text: 'Hm' },
        { type: 'signature', signature: 'gemini:proof' },
        { type: 'text', text: 'Yes' },
        STOP,
      ],
    ],
    [
      'runs code between two texts, which stay two',
      [
        chunk([{ text: 'Let me see.' }]),
        chunk([{ executableCode: { code: '1+1' } }, { codeExecutionResult: { output: '2' } }]),
        chunk([{ text: 'Two' }]),
        chunk([{ text: '.' }]),
        LAST,
      ],
      [
        { type: 'text', text: 'Let me see.' },
        { type: 'break' },
        { type: 'break' },
        { type: 'text', text: 'Two.' },
        STOP,
      ],
    ],
    [
      'brings a proof on an empty last part',
      [chunk([{ text: 'Yes' }]), chunk([{ text: '', thoughtSignature: 'proof' }]), LAST],
      [{ type: 'text', text: 'Yes' }, { type: 'signature', signature: 'gemini:proof' }, STOP],
    ],
    [
      'brings calls whole and says STOP',
      [
        chunk([{ functionCall: { id: 'a', name: 'get_weather', args: { city: 'Paris' } } }]),
        chunk([{ functionCall: { id: 'b', name: 'get_time' } }]),
        LAST,
      ],
      [
        { type: 'call', id: 'a', name: 'get_weather' },
        { type: 'arguments', json: '{"city":"Paris"}' },
        { type: 'call', id: 'b', name: 'get_time' },
        { type: 'arguments', json: '{}' },
        CALLED,
      ],
    ],
    [
      'brings an image, which other styles show as Markdown',
      [chunk([{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }]), LAST],
      [{ type: 'text', text: '![image](data:image/png;base64,AAAA)' }, STOP],
    ],
    [
      'brings unknown parts and chunks without candidates',
      [{ usageMetadata: { promptTokenCount: 11 } }, chunk([{ executableCode: { code: '1' } }, { text: 'Hi' }]), LAST],
      [{ type: 'text', text: 'Hi' }, STOP],
    ],
    [
      'was blocked before it began',
      [{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 11 } }],
      [{ type: 'finish', reason: 'content-filter', usage: usageOf({ inputTokens: 11 }) }],
    ],
    [
      'has words and no count of them, which means 0 here',
      [chunk([{ text: 'Hi' }]), { ...ended('STOP'), usageMetadata: { promptTokenCount: 11 } }],
      [
        { type: 'text', text: 'Hi' },
        { type: 'finish', reason: 'stop', usage: usageOf({ inputTokens: 11 }) },
      ],
    ],
  ])('%s', (_what, events, expected) => {
    expect(read(...events)).toEqual(expected);
  });

  it.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content-filter'],
    ['RECITATION', 'content-filter'],
    ['PROHIBITED_CONTENT', 'content-filter'],
    ['LANGUAGE', 'content-filter'],
    ['OTHER', 'content-filter'],
    ['A_REASON_OF_TOMORROW', 'stop'],
  ])('that ended by %s', (sent, reason) => {
    expect(read(chunk([{ text: 'Hi' }]), ended(sent)).at(-1)).toEqual({ type: 'finish', reason, usage: KNOWN });
  });

  it('cites the pages that its vendor says it rests on, whole and streamed', () => {
    const page = (name: string): object => ({ web: { uri: `https://${name}.example/`, title: name } });
    const support = (text: string, startIndex: number | undefined, indices: number[], partIndex?: number): object => ({
      segment: { partIndex, startIndex, endIndex: (startIndex ?? 0) + Buffer.byteLength(text), text },
      groundingChunkIndices: indices,
    });
    const citation = (name: string, index: number, start: number, text: string): TextEvent => ({
      type: 'citation',
      citation: {
        start,
        end: start + text.length,
        text,
        index,
        source: { kind: 'page', page: { url: `https://${name}.example/`, title: name, text: '' } },
      },
    });
    const first = '雪が降る。';
    const second = 'It is cold.';
    const groundingChunks = [page('one'), page('two'), { retrievedContext: { uri: 'gs://bucket/own' } }, page('three')];
    const expected = [
      { type: 'text', text: first + second },
      citation('one', 0, 0, first),
      citation('one', 0, first.length, second),
      citation('two', 1, first.length, second),
      citation('three', 2, (first + second).length, ''),
    ];
    const streamed = [support(first, undefined, [0]), support(second, Buffer.byteLength(first), [0, 1, 7])];
    const noted = (groundingSupports: object[]): object => ({
      groundingMetadata: { groundingChunks, groundingSupports },
    });
    const last = { candidates: [{ finishReason: 'STOP', ...noted(streamed) }], usageMetadata: USAGE };
    expect(read(chunk([{ text: first }]), chunk([{ text: second }]), last).slice(0, -1)).toEqual(expected);
    const parts = [{ text: 'Hm', thought: true }, { text: first }, { text: second }];
    const inParts = noted([support(first, 0, [0], 1), support(second, 0, [0, 1], 2)]);
    const whole = { candidates: [{ content: { parts }, finishReason: 'STOP', ...inParts }], usageMetadata: USAGE };
    expect(readWhole(geminiCodec, whole).slice(1, -1)).toEqual(expected);
  });

  it('cites pages at its end where its vendor names places that the text does not have', () => {
    const odd = [
      { segment: { startIndex: 1, endIndex: 900 }, groundingChunkIndices: [0] },
      { segment: { startIndex: 'x' }, groundingChunkIndices: 'x' },
      { segment: null, groundingChunkIndices: [-1, 0.5, null] },
      null,
    ];
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://one.example/' } }, 3],
      groundingSupports: odd,
    };
    const said = { content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP', groundingMetadata };
    expect(readWhole(geminiCodec, { candidates: [said] }).map(({ type }) => type)).toEqual([
      'text',
      'citation',
      'finish',
    ]);
  });

  it.each([undefined, ''])('gives a call an id when its vendor gave none: %j', (id) => {
    const [call] = read(chunk([{ functionCall: { id, name: 'get_time' } }]), LAST);
    expect(call).toEqual({ type: 'call', id: expect.stringMatching(/^call_[0-9a-f]{24}$/), name: 'get_time' });
  });

  it.each([
    ['breaks off before its end', [chunk([{ text: 'Hi' }])], 'upstream_error'],
    ['reports an overload', [{ error: { code: 503, status: 'UNAVAILABLE' } }], 'overloaded'],
    ['reports a limit', [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }], 'upstream_rate_limited'],
    ['reports a deadline', [{ error: { code: 504, status: 'DEADLINE_EXCEEDED' } }], 'upstream_timeout'],
    ['holds a call that cannot be read', [ended('MALFORMED_FUNCTION_CALL')], 'upstream_error'],
    ['holds an unexpected call', [chunk([{ text: 'Hi' }]), ended('UNEXPECTED_TOOL_CALL')], 'upstream_error'],
    ['ends for no reason before the first word', [ended('OTHER')], 'upstream_error'],
    ['holds no JSON', ['{"candidates":'], 'upstream_error'],
  ])('fails when it %s', (_what, events, code) => {
    expect(() => read(...events)).toThrow(expect.objectContaining({ code }));
  });
});

it('A whole answer reads as its stream would', () => {
  const parts = [
    { text: 'Hm', thought: true },
    { text: 'Let me see.' },
    { functionCall: { id: 'a', name: 'get_weather', args: { city: 'Paris' } }, thoughtSignature: 'proof' },
  ];
  const reply = { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata: USAGE };
  expect(readWhole(geminiCodec, reply)).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'Let me see.' },
    { type: 'signature', signature: 'gemini:proof' },
    { type: 'call', id: 'a', name: 'get_weather' },
    { type: 'arguments', json: '{"city":"Paris"}' },
    CALLED,
  ]);
});

it('A reply of thoughts alone that is to be continued was cut off, and is no failure', () => {
  const content = { parts: [{ text: 'Hm', thought: true }] };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 0, thoughtsTokenCount: 65_536 };
  const reply = { candidates: [{ content, finishReason: 'CONTINUATION', continuationToken: 't' }], usageMetadata };
  expect(geminiCodec.read(reply).at(-1)).toMatchObject({ reason: 'length', usage: { outputTokens: 65_536 } });
});
