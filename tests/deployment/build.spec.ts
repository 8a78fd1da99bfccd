import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const BUILDER = pathToFileURL(resolve('scripts/build-sources.mjs')).href;

/** Times that lie between two milliseconds, as those of files do. */
const FILES = [
  ['apps/one.ts', 1_764_086_578.1234],
  ['libs/two.ts', 1_764_086_579.9996],
  ['chaos/three.ts', 1_764_086_580.001],
  ['tests/four.ts', 1_764_086_581],
] as const;

/** A tree with one file in each of our folders, and the build that it is built by. */
class Tree {
  static async make(): Promise<Tree> {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-test-build-'));
    await cp('.swcrc', join(folder, '.swcrc'));
    const tree = new Tree(folder);
    for (const [file, seconds] of FILES) {
      await tree.write(file, 'export const at = 1;');
      await utimes(join(folder, file), seconds, seconds);
    }
    return tree;
  }

  private constructor(private readonly folder: string) {}

  async write(file: string, text: string): Promise<void> {
    await mkdir(join(this.folder, file, '..'), { recursive: true });
    await writeFile(join(this.folder, file), text);
  }

  /** @returns how many files it built or removed. */
  async build(): Promise<number> {
    const script = `const { buildSources } = await import('${BUILDER}'); console.log(await buildSources());`;
    const args = ['--input-type=module', '--eval', script];
    const { NODE_OPTIONS: _ours, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: this.folder, env });
    return Number(stdout);
  }

  readonly built = (file: string): Promise<string> => readFile(join(this.folder, 'dist', file), 'utf8');

  readonly makeOlder = (file: string): Promise<void> => utimes(join(this.folder, file), 1_000, 1_000);

  readonly remove = (file: string): Promise<void> => rm(join(this.folder, file), { recursive: true });
}

describe('A build', () => {
  let tree: Tree;

  beforeAll(async () => (tree = await Tree.make()));

  afterAll(() => tree.remove('.'));

  it('builds what changed and nothing else, also what an older file took the place of', async () => {
    expect(await tree.build()).toBe(FILES.length);
    expect(await tree.build()).toBe(0);
    await tree.write('libs/two.ts', 'export const at = 2;');
    await tree.makeOlder('libs/two.ts');
    expect(await tree.build()).toBe(1);
    expect(await tree.built('libs/two.js')).toContain('at = 2');
  });

  it('removes what was built from a file that is gone', async () => {
    await tree.write('libs/old.ts', 'export const at = 3;');
    await tree.build();
    await tree.remove('libs/old.ts');
    await tree.build();
    await expect(tree.built('libs/old.js')).rejects.toThrow('ENOENT');
  });

  it('names the file that is not TypeScript, builds the others, and tries again until it is', async () => {
    await tree.write('libs/two.ts', 'const = ;');
    await tree.write('apps/one.ts', 'export const at = 4;');
    await expect(tree.build()).rejects.toThrow('libs/two.ts');
    expect(await tree.built('apps/one.js')).toContain('at = 4');
    await expect(tree.build()).rejects.toThrow('libs/two.ts');
    await tree.write('libs/two.ts', 'export const at = 5;');
    await tree.build();
    expect(await tree.built('libs/two.js')).toContain('at = 5');
  });

  it('builds everything again when what it builds with changed', async () => {
    await tree.write('.swcrc', `${await readFile('.swcrc', 'utf8')}\n`);
    expect(await tree.build()).toBe(FILES.length);
  });
});
