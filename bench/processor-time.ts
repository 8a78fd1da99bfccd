import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of /proc/<pid>/stat each second, on every common Linux. */
const TICKS_PER_SECOND = 100;

/** CPU seconds that this process and all processes of the given Postgres server have used so far. */
export function processorSeconds(postmasterPid: number): { readonly own: number; readonly postgres: number } {
  const { user, system } = process.cpuUsage();
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(name);
    if (fields && (Number(name) === postmasterPid || Number(fields[1]) === postmasterPid))
      ticks += Number(fields[11]) + Number(fields[12]);
  }
  return { own: (user + system) / 1_000_000, postgres: ticks / TICKS_PER_SECOND };
}

/** The fields after the program's name, which may hold blanks; undefined when the process has just ended. */
function statOf(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
  } catch {
    return undefined;
  }
}
