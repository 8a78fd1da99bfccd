// Builds apps, libs and the crash tests into dist/ with SWC, file by file, keeping the tree, and beside them the console of
// the browser; regenerates the database client first when its schema changed. With --for-image only what the image ships:
// no crash tests, nothing that tests need, no source maps.
import '../libs/platform/src/node-version.mjs';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transformFile } from '@swc/core';
import { filesBelow } from './files-below.mjs';

const forImage = process.argv.includes('--for-image');
execFileSync(process.execPath, ['scripts/generate.mjs'], { stdio: 'inherit' });

const isShipped = (file) => !forImage || !/(^|\/)(testing|fixtures)\//.test(file);
/** What a browser runs is built by its own script. */
const isOfConsole = (file) => file.startsWith(join('apps', 'console'));
const folders = forImage ? ['apps', 'libs'] : ['apps', 'libs', 'chaos'];
const sources = folders
  .flatMap(filesBelow)
  .filter((file) => !/\.spec\.ts$|\.d\.m?ts$/.test(file) && isShipped(file) && !isOfConsole(file));
const newestSource = Math.max(...sources.map((file) => statSync(file).mtimeMs));
const stamp = 'dist/.built';
/** What the folder holds; a build of the other kind must not pass for this one. */
const kind = forImage ? 'image' : 'development';
const isBuilt = existsSync(stamp) && readFileSync(stamp, 'utf8') === kind && statSync(stamp).mtimeMs >= newestSource;
await Promise.all([buildConsole(), isBuilt ? undefined : buildAll()]);

/** In a process of its own, so that both builds have a core. It says itself why it failed. */
async function buildConsole() {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['scripts/build-console.mjs']).catch(
    (failure) => {
      process.exitCode = 1;
      return failure;
    },
  );
  process.stderr.write(stdout + stderr);
}

async function buildAll() {
  for (const folder of ['apps', 'libs', 'chaos']) rmSync(join('dist', folder), { recursive: true, force: true });
  rmSync(stamp, { force: true });
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
