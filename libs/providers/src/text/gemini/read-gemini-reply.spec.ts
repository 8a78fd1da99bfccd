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

  it.each([undefined, ''])('gives a call an id when its vendor gave none: %j', (id) => {
    const [call] = read(chunk([{ functionCall: { id, name: 'get_time' } }]), LAST);
    expect(call).toEqual({ type: 'call', id: expect.stringMatching(/^call_[0-9a-f]{24}$/), name: 'get_time' });
  });

  it.each([
    ['breaks off before its end', [chunk([{ text: 'Hi' }])], 'upstream_error'],
    ['reports an overload', [{ error: { code: 503, status: 'UNAVAILABLE' } }], 'overloaded'],
    ['reports a limit', [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }], 'rate_limit_exceeded'],
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
