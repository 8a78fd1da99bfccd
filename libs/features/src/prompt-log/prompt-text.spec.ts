import { KeptRequest, TEXT_MAX } from './prompt-text.js';

const jsonOf = (body: unknown): unknown => {
  const kept = new KeptRequest(body);
  return JSON.parse(kept.json(kept.texts));
};

describe('KeptRequest', () => {
  it('is the body, its order, its numbers and its empty values', () => {
    const body = { model: 'm', n: 1, messages: [{ role: 'user', content: [] }], 2: 'two', 1: null, stop: true, '': {} };
    expect(jsonOf(body)).toEqual(body);
    expect(new KeptRequest(body).isCut).toBe(false);
  });

  it('holds the length of a file in its place', () => {
    const data = 'QUJD'.repeat(100);
    const body = { a: { data, media_type: 'image/png' }, b: `data:image/png;base64,${data}`, data: 'short' };
    expect(jsonOf(body)).toEqual({
      a: { data: '[400 characters]', media_type: 'image/png' },
      b: '[422 characters]',
      data: 'short',
    });
  });

  it('ends at its bound, well before the place where a text is cut, and says so', () => {
    const long = new KeptRequest({ messages: [{ content: 'x'.repeat(TEXT_MAX + 1) }, { content: 'later' }] });
    expect(long.isCut).toBe(true);
    const json = long.json(long.texts);
    expect(json.length).toBeLessThan(TEXT_MAX - 1_000);
    expect(json).not.toContain('later');
    const many = new KeptRequest(Array.from({ length: 200_000 }, () => ['ab']));
    expect(many.isCut).toBe(true);
    expect(many.json(many.texts).length).toBeLessThan(2 * TEXT_MAX);
  });

  it('puts cleaned texts and names of fields where they were', () => {
    const kept = new KeptRequest({ secret: ['secret', { x: 'secret' }] });
    expect(kept.json(kept.texts.map((text) => text.replace('secret', '-')))).toBe('{"-":["-",{"x":"-"}]}');
  });
});
