import { existsSync, readFileSync } from 'node:fs';

/** Each promise of SECURITY.md, as one line. */
const promises = (/^## What the gateway promises\n([^]*?)^## /m.exec(readFileSync('SECURITY.md', 'utf8'))?.[1] ?? '')
  .split(/^- /m)
  .slice(1)
  .map((promise) => promise.replaceAll(/\s+/g, ' ').trim());

describe('Every promise of SECURITY.md', () => {
  it('is covered by this file', () => {
    expect(promises.length).toBeGreaterThan(10);
  });

  it.each(promises)('names tests that exist: %s', (promise) => {
    const tests = [...promise.matchAll(/`([\w./-]+\.spec\.ts)`/g)].map(([, file = '']) => file);
    expect(tests).not.toEqual([]);
    expect(tests.filter((file) => !existsSync(file))).toEqual([]);
  });
});
