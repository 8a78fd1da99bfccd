import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AlreadyRunningError } from './embedded-postgres-error.js';

interface Holder {
  readonly processId: number;
  /** Tells a process from a later one with the same id: process ids are reused, in containers at every start. */
  readonly startedAt: string;
}

/** The right of one process to work on a data folder. */
export interface DataFolderLock {
  release(): void;
}

/**
 * Takes the data folder for this process. The lock of a process that is gone, however it went, counts for nothing.
 *
 * @throws AlreadyRunningError when a living process (this one included) holds the folder.
 */
export function lockDataFolder(dataDir: string): DataFolderLock {
  const file = join(dataDir, 'gateway.lock');
  const claim = `${file}.${process.pid}`;
  const own: Holder = { processId: process.pid, startedAt: startOf(process.pid) ?? '' };
  writeFileSync(claim, JSON.stringify(own));
  try {
    // A hard link appears complete or not at all, so half a lock is never read.
    while (!link(claim, file)) removeIfStale(file, dataDir);
  } finally {
    rmSync(claim, { force: true });
  }
  return { release: () => rmSync(file, { force: true }) };
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves the lock aside before judging it, so that of two starters only one can remove it. */
function removeIfStale(file: string, dataDir: string): void {
  const holder = readHolder(file);
  if (holder !== undefined && isAlive(holder)) throw new AlreadyRunningError(dataDir, holder.processId);
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readHolder(aside);
  const movedTheLiving = moved !== undefined && isAlive(moved);
  if (movedTheLiving) link(aside, file);
  rmSync(aside, { force: true });
  if (movedTheLiving) throw new AlreadyRunningError(dataDir, moved.processId);
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

const isAlive = ({ processId, startedAt }: Holder): boolean => startOf(processId) === startedAt;

/** When a process started, as a text that is equal only for the same process; undefined when there is none. */
function startOf(processId: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      // The command name in parentheses may hold spaces; after it come the state and, as field 22 of the line, the
      // start time in clock ticks. A zombie is dead: only its parent has not looked yet.
      const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      return fields[0] === 'Z' ? undefined : `${bootId} ${fields[19]}`;
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(processId)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
