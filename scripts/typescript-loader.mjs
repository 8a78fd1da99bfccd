// Lets plain Node import our TypeScript sources: `register('./typescript-loader.mjs', import.meta.url)`.
// Used by scripts, benchmarks and tests.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

const { exclude: _tests, ...swc } = JSON.parse(readFileSync(new URL('../.swcrc', import.meta.url), 'utf8'));

/** Jest loads a test file under an address with a query. */
const isTypescript = (url = '') => /\.ts(\?|$)/.test(url);

/** The library doors (#contracts, ...) lead to sources, and `./x.js` means `./x.ts` inside the sources. */
export async function resolve(specifier, context, nextResolve) {
  const fromSource = isTypescript(context.parentURL) && specifier.startsWith('.');
  const name = fromSource ? specifier.replace(/\.js$/, '.ts') : specifier;
  return nextResolve(name, { ...context, conditions: ['gateway-source', ...context.conditions] });
}

export async function load(url, context, nextLoad) {
  if (!isTypescript(url)) return nextLoad(url, context);
  const { code } = await transformFile(fileURLToPath(url), { ...swc, swcrc: false, sourceMaps: 'inline' });
  return { format: 'module', source: code, shortCircuit: true };
}
