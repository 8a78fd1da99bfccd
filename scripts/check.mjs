// Runs every check of the sources, as many at a time as there are cores, and says which of them failed:
//   npm run check               all of them
//   npm run check -- lint format  these
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';

const LONGEST_OUTPUT_BYTES = 64 * 1024 * 1024;
/** The longest first, so that none of them is alone at the end. */
const CHECKS = ['lint', 'structure', 'dead-code', 'format', 'openapi', 'config-docs', 'translation-docs'];

const asked = process.argv.slice(2);
const scripts = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
const unknown = asked.filter((name) => !(`check:${name}` in scripts));
if (unknown.length > 0) throw new Error(`no check ${unknown.join(', ')}: ${CHECKS.join(', ')}`);

// Once, before several of them would do it at the same time.
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
const waiting = asked.length > 0 ? asked : [...CHECKS];
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));

async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await run(name);
}

async function run(name) {
  const began = performance.now();
  const { stdout, stderr, code } = await promisify(execFile)('npm', ['run', '--silent', `check:${name}`], {
    maxBuffer: LONGEST_OUTPUT_BYTES,
  }).catch((failure) => failure);
  if (code) process.exitCode = 1;
  process.stdout.write(`${stdout}${stderr}`);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`check:${name} ${code ? 'FAILED' : 'passed'} in ${seconds} s\n`);
}
