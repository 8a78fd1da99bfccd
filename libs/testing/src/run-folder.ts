import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PORTS_FOLDER } from './free-ports.js';

const WATCHDOG = fileURLToPath(new URL('watchdog.mjs', import.meta.url));
/** Processes of the run, one empty file each, named by their ids. */
const PROCESSES = 'processes';

/**
 * Sees to it that nothing of a test run outlives it, however it ends: when this process is gone, the watchdog ends every
 * process of the run and removes its folder.
 */
export function watchOver(folder: string): void {
  for (const notes of [PROCESSES, PORTS_FOLDER]) mkdirSync(join(folder, notes));
  process.env['TMPDIR'] = folder;
  // Its own session, so that Ctrl-C does not reach it; its input ends when we do.
  const watchdog = spawn(process.execPath, [WATCHDOG, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  watchdog.unref();
  if (watchdog.stdin && 'unref' in watchdog.stdin) (watchdog.stdin as unknown as { unref(): void }).unref();
}

/** Says that a process belongs to this test run; outside of one it does nothing. */
export function noteProcess(processId: number | undefined): void {
  try {
    if (processId !== undefined) writeFileSync(join(tmpdir(), PROCESSES, String(processId)), '');
  } catch {
    // No run watches over the temporary folder: a benchmark, or the crash tests.
  }
}
