import { JsonTexts } from '#platform';
import { CallArguments } from './turn-list.js';

const MILLION = 'word '.repeat(200_000);
const TOO_LONG = 'messages: The arguments of all calls in it together may have at most 8388608 characters.';

describe('The arguments of the calls of a conversation', () => {
  const args = (): CallArguments => new CallArguments('messages', new JsonTexts());

  it('are written as JSON, however many there are', () => {
    const calls = args();
    for (let call = 0; call < 8; call += 1)
      expect(calls.written({ text: MILLION, n: [1, null, true] })).toBe(
        JSON.stringify({ text: MILLION, n: [1, null, true] }),
      );
    expect(() => calls.written({ text: MILLION })).toThrow(TOO_LONG);
  });

  it.each([
    ['in a text', { deep: [{ text: MILLION.repeat(9) }] }],
    ['in the name of a field', { [MILLION.repeat(9)]: 1 }],
    ['in many texts', { texts: Array.from({ length: 9 }, () => MILLION) }],
  ])('are refused before they are written where they are longer than any model reads: %s', (_where, value) => {
    expect(() => args().written(value)).toThrow(TOO_LONG);
  });

  it('count together where they come as texts', () => {
    const calls = args();
    const json = JSON.stringify({ text: MILLION.repeat(4) });
    calls.count(json);
    calls.count(json);
    expect(() => calls.count(json)).toThrow(expect.objectContaining({ code: 'invalid_parameter', message: TOO_LONG }));
  });
});
