import fc from 'fast-check';
import { jsonBytes, jsonPieces } from './json-pieces.js';

const LONG = 300_000;

describe('jsonPieces', () => {
  it('write what JSON.stringify writes, of any value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string({ unit: 'binary', minLength: 1 }), async (value, unit) => {
        const long = unit.repeat(Math.ceil(LONG / unit.length));
        const whole = {
          value,
          undefined: undefined,
          empty: {},
          list: [undefined, long, [], value],
          [unit]: long,
          last: 1,
        };
        expect([...jsonPieces(whole)].join('')).toBe(JSON.stringify(whole));
        expect(Buffer.concat(await jsonBytes(whole)).toString('utf8')).toBe(JSON.stringify(whole));
      }),
      { numRuns: 8 },
    );
  });

  it('write what JSON.stringify writes, of a conversation however deep', async () => {
    const part = (depth: number): unknown =>
      depth === 0 ? 'x'.repeat(90) : { type: 'part', content: [part(depth - 1)] };
    for (const depth of [0, 1, 2, 3, 8]) {
      const messages = Array.from({ length: 3_000 }, (_, index) => [part(depth), index, null, undefined]);
      const body = { messages: [...messages, 'y'.repeat(LONG), messages, undefined], left: undefined, last: [[]] };
      expect(Buffer.concat(await jsonBytes(body)).toString('utf8')).toBe(JSON.stringify(body));
    }
  });

  it.each([
    ['pairs of surrogates', `a${'😀'.repeat(LONG)}`],
    ['halves of pairs', '\ud83d'.repeat(LONG)],
    ['escapes', '\\"\n\0'.repeat(LONG)],
  ])('split no text where its encoding would change: %s', (_name, text) => {
    expect([...jsonPieces({ text })].join('')).toBe(JSON.stringify({ text }));
  });

  it.each([
    ['one text', 'x'.repeat(10_000_000)],
    ['many texts', Array.from({ length: 20_000 }, () => 'x'.repeat(500))],
    ['many messages', { messages: Array.from({ length: 20_000 }, () => ({ content: [{ text: 'x'.repeat(500) }] })) }],
    ['many keys', Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, 'x'.repeat(500)]))],
  ])('are short however long the value is: %s', (_name, value) => {
    for (const piece of jsonPieces(value)) expect(piece.length).toBeLessThan(300_000);
  });
});
