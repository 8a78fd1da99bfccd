import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';

const BUNDLER = fileURLToPath(new URL('bundle.mjs', import.meta.url));
const BUILDING_LIMIT_MS = 120_000;

/**
 * Bundles in a process of its own, which takes the memory of the bundler with it.
 *
 * @param program path of a built module.
 * @param folder where the files go.
 * @returns the name of the file to start.
 */
async function bundle(program: string, folder: string): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, [BUNDLER, program, folder], { env });
  return stdout;
}

/** The bundle of a program for this process alone; it is removed when the process ends. */
export async function bundleProgram(program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, await bundle(program, folder));
}

/** The bundle of a program, made once for all suites of a test run; it goes with the folder of the run. */
export async function sharedBundle(program: string): Promise<string> {
  const folder = join(tmpdir(), `bundle-${createHash('sha256').update(resolve(program)).digest('hex').slice(0, 16)}`);
  const entry = join(folder, 'whole', program.slice(program.lastIndexOf('/') + 1));
  try {
    mkdirSync(folder);
  } catch {
    // Another suite makes it, or has made it.
    await eventually(() => existsSync(entry), { limitMs: BUILDING_LIMIT_MS, pauseMs: 50 });
    return entry;
  }
  await bundle(program, join(folder, 'parts'));
  renameSync(join(folder, 'parts'), join(folder, 'whole'));
  return entry;
}
