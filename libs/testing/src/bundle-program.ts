import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';

const BUNDLER = fileURLToPath(new URL('bundle.mjs', import.meta.url));

/** What the suites start. Bundled together, they take little longer than one of them. */
const PROGRAMS = [
  ...['gateway', 'api', 'image-worker', 'video-worker', 'maintenance-worker'].map(
    (app) => `dist/apps/${app}/src/main.js`,
  ),
  'dist/chaos/gateway-process.js',
  'dist/tests/harness/dying-gateway.js',
  ...['backup', 'restore', 'new-key', 'new-admin-token', 'console-link'].map((script) => `scripts/${script}.mjs`),
];

/** Where a program's bundle lies. */
const bundleIn = (folder: string, program: string): string => join(folder, program.replace(/\.mjs$/, '.js'));

/** Bundles in a process of its own, which takes the memory of the bundler with it: each program at its own path below the folder. */
async function bundle(programs: readonly string[], folder: string): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  await promisify(execFile)(process.execPath, [BUNDLER, folder, ...programs], { env });
}

/** The bundle of a built program for this process alone, as the name of the file to start; it is removed when the process ends. */
export async function bundleProgram(program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await bundle([program], folder);
  return bundleIn(folder, program);
}

/** The same, made once for all suites of a test run; it goes with the folder of the run. */
export async function sharedBundle(program: string): Promise<string> {
  if (!PROGRAMS.includes(program)) throw new Error(`${program} is not among the programs that are bundled for tests`);
  const folder = join(tmpdir(), 'bundle');
  const whole = join(folder, 'whole');
  try {
    mkdirSync(folder);
  } catch {
    // Another suite makes it, or has made it.
    await eventually(() => existsSync(whole), { pauseMs: 50 });
    return bundleIn(whole, program);
  }
  const parts = join(folder, 'parts');
  await bundle(PROGRAMS, parts);
  renameSync(parts, whole);
  return bundleIn(whole, program);
}
