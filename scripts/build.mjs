// Builds apps, libs and the crash tests into dist/ with SWC, file by file, keeping the tree; regenerates the database
// client first when its schema changed. With --for-image only what the image ships: no crash tests, nothing that tests
// need, no source maps.
import '../libs/platform/src/node-version.mjs';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformFile } from '@swc/core';

const forImage = process.argv.includes('--for-image');
execFileSync(process.execPath, ['scripts/generate.mjs'], { stdio: 'inherit' });

/** Every file below a folder. */
const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );

const isShipped = (file) => !forImage || !/(^|\/)(testing|fixtures)\//.test(file);
const sources = (forImage ? ['apps', 'libs'] : ['apps', 'libs', 'chaos'])
  .flatMap(filesBelow)
  .filter((file) => !/\.spec\.ts$|\.d\.m?ts$/.test(file) && isShipped(file));
const newestSource = Math.max(...sources.map((file) => statSync(file).mtimeMs));
const stamp = 'dist/.built';
/** What the folder holds; a build of the other kind must not pass for this one. */
const kind = forImage ? 'image' : 'development';
const isBuilt = existsSync(stamp) && readFileSync(stamp, 'utf8') === kind && statSync(stamp).mtimeMs >= newestSource;
if (!isBuilt) {
  rmSync('dist', { recursive: true, force: true });
  await Promise.all(sources.map(build));
  writeFileSync(stamp, kind);
}

async function build(file) {
  const target = join('dist', file);
  mkdirSync(dirname(target), { recursive: true });
  if (!file.endsWith('.ts')) return cpSync(file, target);
  const { code, map } = await transformFile(file, { swcrc: true, sourceMaps: !forImage });
  const script = target.replace(/\.ts$/, '.js');
  if (forImage) return writeFileSync(script, code);
  writeFileSync(script, `${code}\n//# sourceMappingURL=${script.split('/').at(-1)}.map\n`);
  writeFileSync(`${script}.map`, map ?? '');
}
