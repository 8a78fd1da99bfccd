import { ResultObjects } from './write-gemini-request.js';

describe('What functions returned, for the content-generation interface', () => {
  it('is an object where its text is one', () => {
    expect(new ResultObjects().in(' {"a": [1, "b"]}')).toEqual({ a: [1, 'b'] });
  });

  it.each(['done', '[1]', '{broken', '{"n": 12345678901234567890}', '{"$ref": "x"}'])('stays a text: %s', (text) => {
    expect(new ResultObjects().in(text)).toBeUndefined();
  });

  it('stays a text from where parsing all of them would keep others waiting', () => {
    const long = JSON.stringify({ text: 'word '.repeat(400_000) });
    const results = new ResultObjects();
    expect([long, long, long].map((text) => results.in(text) !== undefined)).toEqual([true, true, false]);
    const many = JSON.stringify({ values: Array.from({ length: 30_000 }, () => ({})) });
    const values = new ResultObjects();
    expect([many, many, '{}'].map((text) => values.in(text) !== undefined)).toEqual([true, false, false]);
  });
});
