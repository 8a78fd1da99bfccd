// Builds apps, libs and the chaos suite into dist/ with SWC, file by file, keeping the tree; regenerates the database client first when its schema changed.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFile } from '@swc/core';

execFileSync(process.execPath, ['scripts/generate.mjs'], { stdio: 'inherit' });

/** Every file below a folder. */
const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );

const sources = ['apps', 'libs', 'chaos'].flatMap(filesBelow).filter((file) => !file.endsWith('.spec.ts'));
const newestSource = Math.max(...sources.map((file) => statSync(file).mtimeMs));
const stamp = 'dist/.built';
const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (builtAt < newestSource) {
  rmSync('dist', { recursive: true, force: true });
  await Promise.all(sources.map(build));
  writeFileSync(stamp, '');
}

async function build(file) {
  const target = join('dist', file);
  mkdirSync(dirname(target), { recursive: true });
  if (!file.endsWith('.ts')) return cpSync(file, target);
  const { code, map } = await transformFile(file, { swcrc: true });
  const script = target.replace(/\.ts$/, '.js');
  writeFileSync(script, `${code}\n//# sourceMappingURL=${script.split('/').at(-1)}.map\n`);
  writeFileSync(`${script}.map`, map ?? '');
}
