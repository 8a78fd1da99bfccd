import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sources = ['apps', 'libs', 'scripts'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|mjs)$/.test(file) && !/\.spec\.ts$|(?:^|\/)testing\//.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8')),
);

/** As a property, taken apart, or by its name: what declares a setting holds its name otherwise. */
const isRead = (name: string): boolean => {
  const reading = new RegExp(`\\.${name}\\b|[{,]\\s*${name}\\b(?!\\??:\\s*(?:string|number|boolean))|'${name}'`);
  return sources.some((source) => reading.test(source));
};

describe('The settings that docs/configuration.md lists', () => {
  const documented = [...readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `([A-Z][A-Z0-9_]+)`/gm)].map(
    ([, name = '']) => name,
  );

  it('are each read by the code', () => {
    expect(documented.length).toBeGreaterThan(50);
    expect(documented).toContain('MEDIA_INSPECT_TIMEOUT_SECONDS');
    expect(documented.filter((name) => !isRead(name))).toEqual([]);
  });
});
