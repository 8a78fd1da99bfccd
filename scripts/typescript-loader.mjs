// Lets plain Node import our TypeScript sources: `register('./typescript-loader.mjs', import.meta.url)`.
// Used by scripts, benchmarks and tests.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform, version } from '@swc/core';

// Without source maps: nothing reads them here, and each thread of a test run would hold those of every module.
const { exclude: _tests, ...swc } = JSON.parse(readFileSync(new URL('../.swcrc', import.meta.url), 'utf8'));

/** What was compiled before, by everything that a result depends on; half of a start was compiling the same files again. */
const CACHE = fileURLToPath(new URL('../node_modules/.cache/typescript/', import.meta.url));
const COMPILER = `${version} ${JSON.stringify(swc)}`;
mkdirSync(CACHE, { recursive: true });

/** Jest loads a test file under an address with a query. */
const isTypescript = (url = '') => /\.ts(\?|$)/.test(url);

/** The names of libraries (#contracts, ...) lead to sources, and `./x.js` means `./x.ts` inside the sources. */
export async function resolve(specifier, context, nextResolve) {
  const fromSource = isTypescript(context.parentURL) && specifier.startsWith('.');
  const name = fromSource ? specifier.replace(/\.js$/, '.ts') : specifier;
  return nextResolve(name, { ...context, conditions: ['gateway-source', ...context.conditions] });
}

export async function load(url, context, nextLoad) {
  if (!isTypescript(url)) return nextLoad(url, context);
  return { format: 'module', source: await compile(fileURLToPath(url)), shortCircuit: true };
}

async function compile(filename) {
  const source = await readFile(filename, 'utf8');
  const key = createHash('sha256').update(`${COMPILER}\n${filename}\n${source}`).digest('hex');
  const cached = `${CACHE}${key}.js`;
  const known = await readFile(cached, 'utf8').catch(() => undefined);
  if (known !== undefined) return known;
  const { code } = await transform(source, { ...swc, swcrc: false, filename, sourceMaps: false });
  await keep(cached, code);
  return code;
}

/** Several threads and processes compile at once: a file is whole under its name or not there. Nothing breaks where none can be kept. */
async function keep(cached, code) {
  const unfinished = `${cached}.${randomUUID()}`;
  try {
    await writeFile(unfinished, code);
    await rename(unfinished, cached);
  } catch {
    await rm(unfinished, { force: true }).catch(() => undefined);
  }
}
