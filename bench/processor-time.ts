import { readdirSync, readFileSync } from 'node:fs';
import type { Client } from 'pg';

/** Clock ticks of /proc/<pid>/stat each second, on every common Linux. */
const TICKS_PER_SECOND = 100;

/** Places in /proc/<pid>/stat, counted from the state of the process. */
const FIELD = { parent: 1, user: 11, system: 12, endedChildrenUser: 13, endedChildrenSystem: 14 } as const;

/** CPU seconds, so far or in a span of time. */
export interface ProcessorSeconds {
  /** Of this process. */
  readonly own: number;
  /** Of all processes of a Postgres server, those that have ended included. */
  readonly postgres: number;
}

/** The process id of the server's postmaster, on this machine. */
export async function postmasterOf(database: Client): Promise<number> {
  const text = `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::integer as pid`;
  return (await database.query<{ pid: number }>(text)).rows[0]?.pid ?? Number.NaN;
}

/** CPU seconds that this process and the Postgres server of the given postmaster have used so far. */
export function processorSeconds(postmasterPid: number): ProcessorSeconds {
  const { user, system } = process.cpuUsage();
  // Connections and vacuum workers come and go; their postmaster keeps the sum of those that are gone.
  const ticks = ticksOf(String(postmasterPid), FIELD.endedChildrenUser, FIELD.endedChildrenSystem);
  const alive = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const family = alive.filter((pid) => pid === String(postmasterPid) || parentOf(pid) === postmasterPid);
  const living = family.reduce((sum, pid) => sum + ticksOf(pid, FIELD.user, FIELD.system), 0);
  return { own: (user + system) / 1_000_000, postgres: (ticks + living) / TICKS_PER_SECOND };
}

/** What was used while `milliseconds` went by. */
export async function processorSecondsDuring(milliseconds: number, postmasterPid: number): Promise<ProcessorSeconds> {
  const before = processorSeconds(postmasterPid);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const after = processorSeconds(postmasterPid);
  return { own: after.own - before.own, postgres: after.postgres - before.postgres };
}

const parentOf = (pid: string): number => Number(statOf(pid)?.[FIELD.parent]);

const ticksOf = (pid: string, ...fields: readonly number[]): number => {
  const stat = statOf(pid);
  return stat ? fields.reduce((sum, field) => sum + Number(stat[field]), 0) : 0;
};

/** The fields after the program's name, which may hold blanks; undefined when the process has just ended. */
function statOf(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
  } catch {
    return undefined;
  }
}
