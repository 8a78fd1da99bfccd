import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Below the ephemeral ports that systems give to outgoing connections and for port 0 (Linux from 32768 on,
 * others from 49152): one of those could be gone before the server that it was found for listens, or starts again.
 */
const FIRST = 10_000;
const PORTS = 20_000;

/** Ports of the run, one empty file each: no two tests of a run get the same. In the folder of the run. */
export const PORTS_FOLDER = 'ports';

/** A port of 127.0.0.1 that nothing listens on, for a server that must know it beforehand, or listen on it again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * PORTS);
    if ((await isFree(port)) && isOurs(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** False: another test of the run has it. Outside of a run, as in a benchmark, there is no list. */
function isOurs(port: number): boolean {
  try {
    writeFileSync(join(tmpdir(), PORTS_FOLDER, String(port)), '', { flag: 'wx' });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
