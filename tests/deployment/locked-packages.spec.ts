import { readFileSync } from 'node:fs';
import { satisfies } from 'semver';

interface LockedPackage {
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const { packages } = read('package-lock.json') as { readonly packages: Readonly<Record<string, LockedPackage>> };

/** The oldest Node that this project promises to run on. */
const OLDEST_NODE = '20.19.0';

/** Client libraries that judge our answers: only their newest versions know what vendors do today. The tests run them on the oldest Node. */
const JUDGES = /^node_modules\/(ai|openai|@ai-sdk\/[^/]+|@google\/genai)(\/|$)/;

const refusing = (isMeant: (path: string, locked: LockedPackage) => boolean): string[] =>
  Object.entries(packages).flatMap(([path, locked]) => {
    const wanted = locked.engines?.node;
    const runs = wanted === undefined || satisfies(OLDEST_NODE, wanted);
    return runs || !isMeant(path, locked) ? [] : [`${path} wants ${wanted}`];
  });

describe('The locked packages', () => {
  it('of the product all run on the oldest Node that is promised, so that npm ci --omit dev warns of none', () => {
    expect(refusing((_path, { dev }) => dev !== true)).toEqual([]);
  });

  it('of its development do too, the newest client libraries apart', () => {
    expect(refusing((path) => !JUDGES.test(path))).toEqual([]);
  });

  it('are promised to run on that Node by package.json', () => {
    expect((read('package.json') as LockedPackage).engines?.node).toBe('>=20.19');
  });
});
