import type { TextEvent } from '#contracts';
import { asStream, decoded, joined } from '../testing/decoded.js';
import { chatCodec } from './chat-codec.js';

const delta = (fields: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});

const read = (...events: object[]): TextEvent[] => joined(decoded(chatCodec, asStream(events)));

it.each([
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['sensitive', 'content-filter'],
  ['end_turn', 'stop'],
  ['eos', 'stop'],
])('A chat reply that ends for the reason %s, in the words of one vendor, ends for: %s', (sent, reason) => {
  expect(read(delta({ content: 'Hi' }), delta({}, sent)).at(-1)).toEqual({ type: 'finish', reason });
});

it('Reasoning in a field of one vendor alone is read', () => {
  expect(read(delta({ reasoning_text: 'Hm' }), delta({ content: 'Hi' }), delta({}, 'stop')).slice(0, 2)).toEqual([
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'Hi' },
  ]);
});

describe('A chat reply that its server lost', () => {
  it.each<[string, object[], string]>([
    ...['error', 'network_error', 'insufficient_system_resource', 'abort'].map((reason): [string, object[], string] => [
      `ends for the reason ${reason}`,
      [delta({ content: 'Hi' }), delta({}, reason)],
      'upstream_error',
    ]),
    [
      'ends well for one server and not for the one behind it',
      [
        delta({ content: 'Hi' }),
        { choices: [{ delta: {}, finish_reason: 'stop', native_finish_reason: 'network_error' }] },
      ],
      'upstream_error',
    ],
    [
      'reports an overload beside its choice',
      [{ choices: [{ delta: { content: '' }, error: { code: 503, message: 'Overloaded' }, finish_reason: 'error' }] }],
      'overloaded',
    ],
  ])('is no good one when it %s', (_what, events, code) => {
    expect(() => read(...events)).toThrow(expect.objectContaining({ code }));
  });
});
