import fc from 'fast-check';
import { jsonValues } from './json-values.js';

/** The values of parsed JSON that stand so deep, as `jsonValues` gives those of its text. */
function valuesOf(value: unknown, depth: number, path: readonly (string | number)[] = []): unknown[] {
  if (depth === 0) return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  const inner = Array.isArray(value) ? value.map((each, index) => [index, each] as const) : Object.entries(value);
  return inner.flatMap(([key, each]) => valuesOf(each, depth - 1, [...path, key]));
}

const read = (text: string, depth: number): unknown[] =>
  [...jsonValues(text, depth)].map(({ path, json }) => [path, JSON.parse(json)]);

describe('jsonValues', () => {
  it('gives what parsing the whole gives, at any depth and however it is written', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(undefined, 2),
        (value, depth, indent) => {
          const text = JSON.stringify(value, null, indent);
          expect(read(text, depth)).toEqual(valuesOf(JSON.parse(text), depth));
        },
      ),
    );
  });

  it('refuses what is cut off or closes too often', () => {
    expect(() => read('{"a":{"b":1}', 1)).toThrow(SyntaxError);
    expect(() => read('{"a":1}}', 1)).toThrow(SyntaxError);
  });
});
