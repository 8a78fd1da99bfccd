import { storableJson } from './item-store.js';

async function storedForm(value: unknown, json?: string): Promise<unknown> {
  return JSON.parse(Buffer.concat(await storableJson(value, json)).toString('utf8'));
}

describe('Storable JSON', () => {
  it.each([
    ['NUL', { text: 'a\0b' }, { text: 'a\ufffdb' }],
    ['half a surrogate pair', ['\ud83d!', '!\ude00'], ['\ufffd!', '!\ufffd']],
    ['NUL in the name of a field', { 'a\0': 1 }, { 'a\ufffd': 1 }],
    ['NUL behind a backslash', '\\\0', '\\\ufffd'],
  ])('replaces %s', async (_what, value, stored) => {
    expect(await storedForm(value)).toEqual(stored);
  });

  it.each(['"\\u0000!"', '"\\uD83D!"', '"\\ud83d!"'])('replaces them in %s, which another wrote, too', async (json) => {
    expect(await storedForm(JSON.parse(json), json)).toBe('\ufffd!');
  });

  it('takes what another wrote as it is, surrogate pairs that are escaped included', async () => {
    const json = '{ "text": "\\ud83d\\ude00" }';
    expect(await storedForm(JSON.parse(json), json)).toEqual({ text: '\ud83d\ude00' });
  });

  it.each([['\u0001\n\t"\\'], ['the text \\u0000 of six characters'], ['\ud83d\ude00']])(
    'leaves %j as it is',
    async (text) => {
      expect(await storedForm({ text })).toEqual({ text });
    },
  );
});
