import fc from 'fast-check';
import { wellFormedJson } from './json-text.js';

const REPLACED = '\ufffd';

/** Texts in which what must be replaced, and what only looks like it, is not rare. */
const anyText = fc
  .array(fc.constantFrom('\0', '\ud83d', '\ude00', '\ud83d\ude00', '\\', '\\u0000', '\\ud800', '"', '\n', 'a', 'é'))
  .map((parts) => parts.join(''));

describe('Well-formed JSON', () => {
  it('equals the value, with U+FFFD for NUL and unpaired surrogates only', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, key) => {
        const clean = (sent: string): string => sent.replaceAll('\0', REPLACED).toWellFormed();
        const written = wellFormedJson(JSON.stringify([text, { [key]: text }]));
        expect(JSON.parse(written)).toEqual([clean(text), { [clean(key)]: clean(text) }]);
      }),
    );
  });

  it('is the same text where there is nothing to replace', () => {
    for (const text of ['plain', 'line\n\tof "code"', 'C:\\users', '\u001b[0m', '😀']) {
      const json = JSON.stringify(text);
      expect(wellFormedJson(json)).toBe(json);
    }
  });
});
