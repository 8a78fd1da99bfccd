import { parsedObject } from './parsed-object.js';

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
