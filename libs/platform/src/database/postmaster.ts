import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** What Postgres writes about itself into its data folder while it runs. */
export interface Postmaster {
  readonly processId: number;
  readonly port: number;
}

/** The file in which a running Postgres names itself; a crash leaves it behind. */
export const postmasterFile = (cluster: string): string => join(cluster, 'postmaster.pid');

/**
 * The Postgres server that works on a data folder now; undefined when none does.
 * The file alone proves nothing: after a crash its process id may belong to any other program.
 */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const lines = readLines(postmasterFile(cluster));
  const postmaster = { processId: Number(lines[0]), port: Number(lines[3]) };
  return Number.isInteger(postmaster.processId) && worksOn(cluster, postmaster.processId) ? postmaster : undefined;
}

function worksOn(cluster: string, processId: number): boolean {
  try {
    // Postgres makes the data folder its working directory.
    if (process.platform === 'linux') return readlinkSync(`/proc/${processId}/cwd`) === realpathSync(cluster);
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
