import { storableJson } from './storable-json.js';

describe('Storable JSON', () => {
  it.each([
    ['NUL', { text: 'a\0b' }, { text: 'a\ufffdb' }],
    ['half a surrogate pair', ['\ud83d!', '!\ude00'], ['\ufffd!', '!\ufffd']],
    ['NUL in the name of a field', { 'a\0': 1 }, { 'a\ufffd': 1 }],
    ['NUL behind a backslash', '\\\0', '\\\ufffd'],
  ])('replaces %s', (_what, value, stored) => {
    expect(JSON.parse(storableJson(value))).toEqual(stored);
  });

  it.each([['\u0001\n\t"\\'], ['the text \\u0000 of six characters'], ['\ud83d\ude00']])(
    'leaves %j as it is',
    (text) => {
      expect(JSON.parse(storableJson({ text }))).toEqual({ text });
    },
  );
});
