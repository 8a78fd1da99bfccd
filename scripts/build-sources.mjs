// Compiles the TypeScript of apps, libs and the crash tests into dist/ with SWC, file by file, keeping the tree.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesBelow } from './files-below.mjs';

const { version } = JSON.parse(
  readFileSync(new URL('../node_modules/@swc/core/package.json', import.meta.url), 'utf8'),
);

/** What every file was built with. Another kind of build, compiler or setting builds all of them again. */
const STAMP = 'dist/.built';

/**
 * Builds each file that changed since it was built, and removes what was built from files that are gone.
 *
 * @param forImage true for only what the image ships: no crash tests, nothing that tests need, no source maps.
 * @returns how many files were built or removed.
 * @throws Error that names file and place of what is not TypeScript; the other files are built.
 */
export async function buildSources({ forImage = false } = {}) {
  const settings = JSON.stringify({ forImage, version, swc: readFileSync('.swcrc', 'utf8') });
  const folders = ['apps', 'libs', 'chaos', 'tests'];
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== settings) {
    for (const folder of folders) rmSync(join('dist', folder), { recursive: true, force: true });
    mkdirSync('dist', { recursive: true });
    writeFileSync(STAMP, settings);
  }
  const sources = sourcesOf(forImage ? ['apps', 'libs'] : folders, forImage);
  const changed = sources.filter(hasChanged);
  const removed = removeAllBut(new Set(sources.flatMap((file) => targetsOf(file, forImage))), folders);
  const failed = (await Promise.allSettled(changed.map((file) => build(file, forImage)))).find(({ reason }) => reason);
  if (failed) throw failed.reason;
  return changed.length + removed;
}

/** What a browser runs is built by a script of its own. */
const isOfConsole = (file) => file.startsWith(join('apps', 'console'));

function sourcesOf(folders, forImage) {
  const isShipped = (file) => !forImage || !/(^|\/)(testing|fixtures)\//.test(file);
  return folders
    .flatMap(filesBelow)
    .filter((file) => !/\.spec\.ts$|\.d\.m?ts$/.test(file) && isShipped(file) && !isOfConsole(file));
}

const targetOf = (file) => join('dist', file).replace(/\.ts$/, '.js');

function targetsOf(file, forImage) {
  const target = targetOf(file);
  return file.endsWith('.ts') && !forImage ? [target, `${target}.map`] : [target];
}

/** What is built gets the age of its source, so that an older file that takes the place of a newer one is noticed too. */
function hasChanged(file) {
  const built = statSync(targetOf(file), { throwIfNoEntry: false });
  return built === undefined || Math.round(built.mtimeMs) !== Math.round(statSync(file).mtimeMs);
}

function removeAllBut(kept, folders) {
  const built = folders.map((folder) => join('dist', folder)).filter((folder) => existsSync(folder));
  const others = built.flatMap(filesBelow).filter((file) => !kept.has(file));
  for (const file of others) rmSync(file);
  return others.length;
}

async function build(file, forImage) {
  const { mtimeMs } = statSync(file);
  const target = targetOf(file);
  mkdirSync(dirname(target), { recursive: true });
  if (file.endsWith('.ts')) await compile(file, target, forImage);
  else cpSync(file, target);
  const age = new Date(Math.round(mtimeMs));
  utimesSync(target, age, age);
}

async function compile(file, target, forImage) {
  // Loading the compiler takes longer than finding out that there is nothing to compile.
  const { transformFile } = await import('@swc/core');
  const { code, map } = await transformFile(file, { swcrc: true, sourceMaps: !forImage });
  if (forImage) return writeFileSync(target, code);
  writeFileSync(`${target}.map`, map ?? '');
  writeFileSync(target, `${code}\n//# sourceMappingURL=${target.split('/').at(-1)}.map\n`);
}
