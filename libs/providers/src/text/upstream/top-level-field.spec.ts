import fc from 'fast-check';
import { replaceTopLevelString } from './top-level-field.js';

const replacedIn = (json: string, value: string): string =>
  Buffer.concat(replaceTopLevelString(Buffer.from(json), 'model', value)).toString('utf8');

describe('replaceTopLevelString', () => {
  it('changes exactly the named top-level field of any object, and nothing else', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constant('"model":"trap"'), fc.constant({ model: 'nested' }));
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), value),
        fc.string(),
        fc.string(),
        fc.constantFrom(0, 2),
        (others, before, after, indent) => {
          const json = JSON.stringify({ ...others, model: before }, undefined, indent);
          const replaced = replacedIn(json, after);
          expect(JSON.parse(replaced)).toEqual({ ...(JSON.parse(json) as object), model: after });
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"a":{"model":"x"}}', '{"a":{"model":"x"}}'],
    ['{"model":5}', '{"model":5}'],
    ['{"prompt":"\\"model\\":\\"x\\"","model" : "old"}', '{"prompt":"\\"model\\":\\"x\\"","model" : "new"}'],
    ['{"model":"a","model":"b"}', '{"model":"a","model":"new"}'],
  ])('%s', (json, expected) => {
    expect(replacedIn(json, 'new')).toBe(expected);
  });
});
