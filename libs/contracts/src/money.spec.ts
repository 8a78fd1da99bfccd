import fc from 'fast-check';
import { formatMicros, MAX_MICROS, parseMicros, shortDecimal } from './money.js';

const micros = fc.bigInt({ min: -MAX_MICROS, max: MAX_MICROS });

describe('Money as text', () => {
  it('comes back exact from six places, at any size', () => {
    fc.assert(fc.property(micros, (amount) => expect(parseMicros(formatMicros(amount))).toBe(amount)));
  });

  it('comes back exact from the shortest form', () => {
    fc.assert(fc.property(micros, (amount) => expect(parseMicros(shortDecimal(amount))).toBe(amount)));
  });

  it.each([
    [0n, '0'],
    [-1_000_000n, '-1'],
    [10_000_000_000n, '10000'],
    [1_250_000n, '1.25'],
    [1n, '0.000001'],
    [9_007_199_254_740_993_000_001n / 1_000n, '9007199254740.993'],
    [MAX_MICROS, '9223372036854.775807'],
  ])('writes %d micros as %s', (amount, text) => {
    expect(shortDecimal(amount)).toBe(text);
  });

  it.each(['', '1.', '.5', '1e3', '+1', '1,5', ' 1', '0.0000001', 'NaN', '0x10', '12345678901234'])(
    'refuses %j instead of guessing',
    (text) => {
      expect(() => parseMicros(text)).toThrow(RangeError);
    },
  );

  it('refuses what the database cannot hold', () => {
    expect(() => parseMicros('9223372036854.775808')).toThrow(/largest amount/);
  });
});
