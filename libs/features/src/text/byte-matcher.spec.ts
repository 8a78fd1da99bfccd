import { ByteMatcher } from './byte-matcher.js';

describe('ByteMatcher', () => {
  const signs = new ByteMatcher(['"file', '\\u']);

  it.each([0, 5_000])('finds a sign at the beginning, inside and at the end of a body of %i bytes more', (further) => {
    const filling = 'ä'.repeat(further / 2);
    for (const body of [`"file_id"${filling}`, `{${filling}"file"${filling}}`, `${filling}\\u`])
      expect(signs.standIn(Buffer.from(body))).toBe(true);
  });

  it.each([0, 5_000])('finds none in a body of %i bytes more that only resembles one', (further) => {
    expect(signs.standIn(Buffer.from(`{"fil": "\\n ü"}${'x'.repeat(further)}`))).toBe(false);
  });
});
