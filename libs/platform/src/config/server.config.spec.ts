import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { usableCores } from './server.config.js';

describe('The cores that a process may use', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cores-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['100000 100000', 1],
    ['50000 100000', 1],
    ['max 100000', availableParallelism()],
    ['6400000 100000', Math.min(64, availableParallelism())],
  ])('are those within the quota "%s" of its container', async (quota, cores) => {
    const file = join(folder, 'cpu.max');
    await writeFile(file, `${quota}\n`);
    expect(usableCores(file)).toBe(cores);
  });

  it('are all of the system where nothing limits them', () => {
    expect(usableCores(join(folder, 'none'))).toBe(availableParallelism());
  });
});
