// Ends what a test run leaves behind: `node watchdog.mjs FOLDER`. It waits until its input ends, which happens when the
// run is over or was killed, then ends the processes of the run, its databases among them, and removes the folder.
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder] = process.argv.slice(2);
/** The deepest place of a database in the folder: folder/gateway-…/data/postgres. */
const DEPTH_MAX = 4;

process.stdin.resume();
await new Promise((resolve) => process.stdin.once('close', resolve));
for (let attempt = 0; attempt < 50; attempt += 1) {
  for (const id of processesOf(folder)) end(id, 'SIGKILL');
  // Postgres ends its children with itself at SIGQUIT, not at SIGKILL.
  for (const id of databasesIn(folder, 0)) end(id, 'SIGQUIT');
  await sleep(200);
  try {
    rmSync(folder, { recursive: true, force: true });
    if (databasesIn(folder, 0).length === 0) break;
  } catch {
    // A process that is ending still writes.
  }
}

function processesOf(run) {
  return entriesOf(join(run, 'processes'))
    .map(({ name }) => Number(name))
    .filter((id) => isOurs(id, run));
}

/** Process ids are reused: ours still names the folder in its environment or command, or is a server started by the run. */
function isOurs(id, run) {
  const command = () => readFileSync(`/proc/${id}/cmdline`, 'utf8');
  try {
    return (
      readFileSync(`/proc/${id}/environ`, 'utf8').includes(run) ||
      command().includes(run) ||
      command().includes('redis-server')
    );
  } catch {
    return process.platform !== 'linux';
  }
}

function databasesIn(place, depth) {
  if (depth > DEPTH_MAX) return [];
  return entriesOf(place).flatMap((entry) => {
    const path = join(place, entry.name);
    if (entry.name === 'postmaster.pid') return postmaster(path, place);
    return entry.isDirectory() ? databasesIn(path, depth + 1) : [];
  });
}

function postmaster(file, cluster) {
  try {
    const [id] = readFileSync(file, 'utf8').split('\n').map(Number);
    const isAtWork = process.platform !== 'linux' || readlinkSync(`/proc/${id}/cwd`).startsWith(cluster);
    return isAtWork ? [id] : [];
  } catch {
    return [];
  }
}

function entriesOf(place) {
  try {
    return readdirSync(place, { withFileTypes: true });
  } catch {
    return [];
  }
}

function end(id, signal) {
  try {
    process.kill(id, signal);
  } catch {
    // Gone already.
  }
}
