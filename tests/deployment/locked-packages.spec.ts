import { readFileSync } from 'node:fs';
import { satisfies } from 'semver';

interface LockedPackage {
  readonly engines?: { readonly node?: string };
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const { packages } = read('package-lock.json') as { readonly packages: Readonly<Record<string, LockedPackage>> };

/** The oldest Node that this project promises to run on. */
const OLDEST_NODE = '20.19.0';

describe('The locked packages', () => {
  it('all run on the oldest Node that is promised, so that npm ci warns of none', () => {
    const refusing = Object.entries(packages).flatMap(([path, { engines }]) =>
      engines?.node === undefined || satisfies(OLDEST_NODE, engines.node) ? [] : [`${path} wants ${engines.node}`],
    );
    expect(refusing).toEqual([]);
  });

  it('are promised to run on that Node by package.json', () => {
    expect((read('package.json') as LockedPackage).engines?.node).toBe('>=20.19');
  });
});
