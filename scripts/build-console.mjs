// Builds the console of the browser into dist/console, with files compressed beside it. Does nothing while no source of it
// is newer than what was built. Fails when a page would load more than its budget, and in CI when the build takes
// too long.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzipSync } from 'node:zlib';
import { filesBelow } from './files-below.mjs';

const SOURCES = 'apps/console';
const TARGET = 'dist/console';
const MANIFEST = `${TARGET}/.vite/manifest.json`;
const STAMP = `${TARGET}/.built`;

/** What a browser may have to load, in bytes after gzip. */
const BUDGETS = { firstScripts: 130_000, firstStyles: 12_000, chunk: 30_000 };
/** How much of the processor a build may take in CI, in milliseconds: four times what it does. */
const BUILD_MS = 3_000;

const newestSource = Math.max(
  statSync('package-lock.json').mtimeMs,
  ...filesBelow(SOURCES)
    .filter((file) => !file.startsWith(join(SOURCES, 'test')))
    .map((file) => statSync(file).mtimeMs),
);
const isBuilt = existsSync(STAMP) && statSync(STAMP).mtimeMs >= newestSource;
if (!isBuilt) {
  const before = process.cpuUsage();
  const { build } = await import('vite');
  await build({ configFile: join(SOURCES, 'vite.config.mjs') });
  const sizes = measure(JSON.parse(readFileSync(MANIFEST, 'utf8')));
  const { user, system } = process.cpuUsage(before);
  const tookMs = Math.round((user + system) / 1000);
  const excesses = excessesOf(sizes);
  if (process.env.CI && tookMs > BUILD_MS) excesses.push(`its build: ${tookMs} ms of processor, at most ${BUILD_MS}`);
  if (excesses.length > 0) {
    console.error(`The console is over its limits:\n${excesses.map((line) => `  ${line}`).join('\n')}`);
    process.exit(1);
  }
  await Promise.all(
    filesBelow(TARGET)
      .filter((file) => /\.(js|css|html|svg)$/.test(file))
      .map(compress),
  );
  writeFileSync(STAMP, JSON.stringify(sizes));
}

/** Bytes after gzip of the first load, and of every chunk that is loaded later. */
function measure(manifest) {
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry);
  const first = new Set();
  const take = (chunk) => {
    if (first.has(chunk)) return;
    first.add(chunk);
    for (const name of chunk.imports ?? []) take(manifest[name]);
  };
  take(entry);
  const sum = (files) => [...new Set(files)].reduce((total, file) => total + gzippedBytes(file), 0);
  const chunks = [...first];
  return {
    firstScripts: sum(chunks.map(({ file }) => file)) + gzippedBytes('theme.js'),
    firstStyles: sum(chunks.flatMap(({ css }) => css ?? [])),
    chunks: Object.fromEntries(
      Object.values(manifest)
        .filter((chunk) => !first.has(chunk) && chunk.file.endsWith('.js'))
        .map(({ file, css }) => [file, gzippedBytes(file) + sum(css ?? [])]),
    ),
  };
}

function gzippedBytes(file) {
  return gzipSync(readFileSync(join(TARGET, file)), { level: 9 }).length;
}

function excessesOf({ firstScripts, firstStyles, chunks }) {
  const tooLarge = (name, bytes, limit) => (bytes > limit ? [`${name}: ${bytes} bytes, at most ${limit}`] : []);
  return [
    ...tooLarge('scripts of the first load', firstScripts, BUDGETS.firstScripts),
    ...tooLarge('styles of the first load', firstStyles, BUDGETS.firstStyles),
    ...Object.entries(chunks).flatMap(([name, bytes]) => tooLarge(name, bytes, BUDGETS.chunk)),
  ];
}

async function compress(file) {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  writeFileSync(`${file}.br`, await promisify(brotliCompress)(readFileSync(file), options));
}
