import fc from 'fast-check';
import { type JsonBounds, JsonScan } from '#platform';
import { readJson } from './json-body.middleware.js';

const WIDE: JsonBounds = { maxValues: 100_000, maxKeys: 30_000 };

/** Reads a text as the server does: looked through in pieces, then parsed. */
async function read(text: string | Buffer, pieceBytes = 65_536): Promise<unknown> {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(WIDE);
  for (let from = 0; from < bytes.length; from += pieceBytes) scan.push(bytes.subarray(from, from + pieceBytes));
  scan.end();
  return readJson(bytes, 0, scan);
}

const refusal = (words: string) => ({ code: 'invalid_json', message: expect.stringContaining(words) });

/** Spaces in front of a text, so that it is read in steps. */
const LARGE = ' '.repeat(1_100_000);

/** An object of so many different keys. */
const different = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, 1]));

describe('Reading JSON', () => {
  it('reads what JSON.parse reads, in any pieces, small or large', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 1, max: 40 }), async (value, piece) => {
        const text = JSON.stringify(value);
        if (text.includes('__proto__')) return;
        const expected: unknown = JSON.parse(text);
        expect(await read(text, piece)).toEqual(expected);
        expect(await read(LARGE + text)).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  it('lets other work run between parsing many keys and what is done with them', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other work'));
    await read(JSON.stringify(different(9_000)));
    order.push('checks');
    expect(order).toEqual(['other work', 'checks']);
  });

  it('refuses many keys before what is no JSON as no JSON', async () => {
    const keys = '"same":1,'.repeat(10_001);
    for (const end of ['""'.repeat(400_000), '"" 1', '"', '"x', ''])
      await expect(read(`[{${keys}${end}`)).rejects.toMatchObject(
        refusal(/^"x?$/.test(end) ? 'a string in it is not closed' : 'not valid JSON'),
      );
  });

  it('takes many keys of which few are different, and texts that look like keys', async () => {
    const calls = Array.from({ length: 14_000 }, () => ({ name: 'a', 'x:y': 'a":b' }));
    for (const value of [{ calls }, different(10_000), Object.values(different(50_000)).map((_, at) => `"k${at}":`)])
      expect(await read(JSON.stringify(value))).toEqual(value);
  });

  it.each([
    ['plain', 'x'],
    ['escapes', '\u0000'],
    ['backslashes and quotes', '\\"'],
    ['one backslash in many', '\\a'],
    ['two-byte characters', 'é'],
    ['pairs of surrogates', '😀a'],
  ])('restores long texts unchanged: %s', async (_kind, unit) => {
    for (const length of [511, 512, 513, 700_000, 1_300_001]) {
      const value = { a: [unit.repeat(length), { b: unit.repeat(600) }], c: unit, '7': 'x'.repeat(300_000) };
      expect(await read(JSON.stringify(value))).toEqual(value);
      expect(await read(JSON.stringify(value).replaceAll('😀', String.raw`\ud83d\ude00`))).toEqual(value);
    }
  });

  it.each(['{"a":1', '{"a":"x', '["\n"]', '{"a":01}', '[1,]', '{"a" 1}', '["\\x"]', '"a" "b"', '{]', 'nul'])(
    'refuses invalid JSON: %j',
    async (text) => {
      await expect(read(text)).rejects.toMatchObject(refusal('not valid JSON'));
      await expect(read(LARGE + text)).rejects.toMatchObject(refusal('not valid JSON'));
    },
  );

  it('refuses long texts with characters not allowed in JSON, without showing internal markers', async () => {
    for (const wrong of ['\n', '\\x', '\\u12'])
      await expect(read(`{"a":"${'y'.repeat(900_000)}${wrong}"}`)).rejects.toMatchObject(refusal('not valid JSON'));
    const bytes = Buffer.concat([Buffer.from(`{"a":"${'y'.repeat(900_000)}`), Buffer.from([0xff]), Buffer.from('"}')]);
    await expect(read(bytes)).rejects.toMatchObject(refusal('UTF-8'));
    await expect(read(`[${JSON.stringify('y'.repeat(900_000))} 1]`)).rejects.not.toThrow(/~[0-9a-f]{8}/);
  });

  it.each([
    ['values', `[${'{},'.repeat(100_000)}{}]`, '100000 values'],
    ['keys', `[${'{"a":1},'.repeat(30_000)}{"a":1}]`, '30000 keys'],
    ['different keys', JSON.stringify(different(10_001)), '10000 different keys'],
    ['different keys in a large body', LARGE + JSON.stringify(different(10_001)), '10000 different keys'],
    ['depth', '['.repeat(1_000_000), 'deeper than 200'],
    ['a long number', `[${'9'.repeat(1_000_000)}]`, '400 characters'],
    ['a long key', `{"${'k'.repeat(600)}":1}`, 'no key of 512 bytes'],
    ['white space', ' '.repeat(5_000_000), '4194304 bytes'],
    ['an open text', `["${'x'.repeat(5_000_000)}`, 'is not closed'],
  ])('refuses too many %s, naming them', async (_what, text, words) => {
    await expect(read(text)).rejects.toMatchObject(refusal(words));
  });

  it.each([
    ['{"model":"a","model":"b"}', 'The key "model" stands twice'],
    ['{"a":[{},{"b":{"c":1,"d":2,"c":3}}]}', 'The key "c" (a[1].b.c) stands twice'],
    [String.raw`{"model":"a","mod\u0065l":"b"}`, 'The key "model" is written with escaped letters'],
    [String.raw`{"mod\u0065l":"b"}`, 'escaped letters'],
    [String.raw`{"\u005f\u005fproto__":{}}`, 'escaped letters'],
    ['{"a":{"__proto__":{"b":1}}}', 'The key "__proto__" (a.__proto__) cannot be the name'],
    [String.raw`{"a\n":1,"a\n":1}`, 'stands twice'],
    [String.raw`{"é":1,"\u00e9":1}`, 'stands twice'],
  ])('refuses ambiguous keys: %s', async (text, words) => {
    await expect(read(text)).rejects.toMatchObject(refusal(words));
    await expect(read(LARGE + text)).rejects.toMatchObject(refusal(words));
  });

  it.each([
    '{"a":"__proto__","b":["constructor"],"constructor":1}',
    '[{"a":1},{"a":1}]',
    '{"Model":1,"model":2}',
    String.raw`{"\u00e9":1,"a\"b":2,"<\u003e":3,"\\u0065":4}`,
    '{"a":{"a":{"a":1}}}',
  ])('accepts keys that only look ambiguous: %s', async (text) => {
    expect(await read(text)).toEqual(JSON.parse(text));
    expect(await read(LARGE + text)).toEqual(JSON.parse(text));
  });
});
