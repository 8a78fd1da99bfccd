import { JsonTexts, parseBounded, parsedObject } from './bounded-json.js';

const list = (of: string, times: number): string => `{"x":[${`${of},`.repeat(times)}1]}`;

const REFUSED = {
  'empty objects': list('{}', 800_000),
  'empty lists': list('[]', 800_000),
  numbers: list('1', 1_600_000),
  keys: `{${Array.from({ length: 610_000 }, (_, index) => `"${index}":1`).join(',')}}`,
  depth: '['.repeat(70_000) + ']'.repeat(70_000),
  'a huge number': `{"x":${'9'.repeat(70_000)}}`,
  'escaped quotes': `{"x":"${String.raw`\"`.repeat(2_100_000)}"}`,
};

describe('JSON of others', () => {
  it.each(Object.entries(REFUSED))('is refused before anything is built of it: %s', (_what, json) => {
    expect(() => JSON.parse(json) as unknown).not.toThrow();
    expect(() => parseBounded(json)).toThrow(/^JSON may /);
  });

  it('is refused at the first value too many, whatever follows', () => {
    expect(() => parseBounded(`${list('{}', 800_000)} and this is no JSON`)).toThrow('hold at most 1500000 values');
  });

  it('is read as it is within the bounds: long texts, what looks like structure in them, escapes, twenty others of each token', () => {
    const picture = 'A'.repeat(4_000_000);
    const looks = String.raw`\\"[{:,`.repeat(20_000);
    const other = { token: ' "the', logprob: -0.25, bytes: [32, 116, 104, 101] };
    const tokens = Array.from({ length: 8_000 }, () => ({
      ...other,
      top_logprobs: Array.from({ length: 20 }, () => other),
    }));
    const value = { picture, looks, tokens, end: String.raw`\\` };
    expect(parseBounded(JSON.stringify(value))).toEqual(value);
  });

  it('is a SyntaxError where it is no JSON', () => {
    expect(() => parseBounded(`{"x":"${'a'.repeat(70_000)}`)).toThrow(SyntaxError);
    expect(() => parseBounded('{')).toThrow(SyntaxError);
  });
});

describe('JSON within the texts of a request', () => {
  /** So many different keys in each of as many texts. */
  const texts = (count: number, each: number): readonly string[] =>
    Array.from({ length: count }, (_, text) => {
      return JSON.stringify(Object.fromEntries(Array.from({ length: each }, (_, key) => [`k${text}_${key}`, 1])));
    });

  it.each([
    ['one text', texts(1, 10_001)],
    ['many texts', texts(40, 700)],
  ])('is refused with more different keys than any request has: %s', (_what, many) => {
    const json = new JsonTexts();
    expect(() => many.map((text) => json.parse(text))).toThrow('hold at most 10000 different keys');
  });

  it('is read with many keys of which few are different', () => {
    const json = new JsonTexts();
    const [text = ''] = texts(1, 700);
    const values = Array.from({ length: 40 }, () => json.parse(text));
    expect(values.at(-1)).toEqual(JSON.parse(text));
  });
});

describe('The object that a text of somebody else is', () => {
  it.each(['', 'null', '[1]', '"{}"', '{', '{"a":1} and more'])('is none in %j', (json) => {
    expect(parsedObject(json)).toBeUndefined();
  });

  it('is read with white space around it', () => {
    expect(parsedObject(' \n{"a":{"b":[1]}} ')).toEqual({ a: { b: [1] } });
  });

  it('is none that could not be written again, however short it is', () => {
    const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(parsedObject(deep(199))).toBeDefined();
    expect(parsedObject(deep(200))).toBeUndefined();
    expect(parsedObject(deep(30_000))).toBeUndefined();
  });
});
