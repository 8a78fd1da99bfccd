import { excerpt, hasAtMostCharacters, isStorable, isVisible } from './unicode-text.js';

describe('hasAtMostCharacters', () => {
  it.each([
    ['ASCII', 'a'],
    ['ideographs', '水'],
    ['characters beyond the basic plane', '𠮷'],
    ['variation selectors, which count', '\ufe0f'],
  ])('counts %s one by one', (_case, letter) => {
    expect(hasAtMostCharacters(letter.repeat(5), 5)).toBe(true);
    expect(hasAtMostCharacters(letter.repeat(6), 5)).toBe(false);
  });
});

describe('isVisible', () => {
  it.each([[undefined], [''], [' '], ['\n\t\u3000']])('is false for %j', (text) => {
    expect(isVisible(text)).toBe(false);
  });

  it('is true as soon as one character shows', () => {
    expect(isVisible('  水 ')).toBe(true);
  });
});

describe('isStorable', () => {
  it.each([[''], ['plain'], ['naïve 水 𠮷 \ufe0f'], ['\u0001\n']])('is true for %j', (text) => {
    expect(isStorable(text)).toBe(true);
  });

  it.each([['a\0b'], ['水\0'], ['\ud800'], ['a\udc00b'], ['\udc00\ud800']])('is false for %j', (text) => {
    expect(isStorable(text)).toBe(false);
  });
});

describe('excerpt', () => {
  it('replaces characters that the database cannot store, and never splits a surrogate pair', () => {
    expect(excerpt('a\0b\ud800c', 10)).toBe('a\ufffdb\ufffdc');
    expect(excerpt('a𠮷', 2)).toBe('a\ufffd');
  });
});
