import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './free-ports.js';
import { noteProcess } from './run-folder.js';
import { createInterface } from 'node:readline';

/** A real Redis server of a test's own, with the settings the queues ask for and without files. */
export interface RedisServer {
  readonly url: string;
  /** Ends the server as a crash would; what it held is lost. */
  readonly kill: () => Promise<void>;
}

/** Starts `redis-server` from the PATH on `port` (any free one by default); undefined when there is no such program. */
export async function startRedisServer(port?: number): Promise<RedisServer | undefined> {
  const ownPort = port ?? (await freePort());
  const server = spawn('redis-server', redisOptions(ownPort), { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/' });
  noteProcess(server.pid);
  if (!(await becomesReady(server))) return undefined;
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  return { url: `redis://127.0.0.1:${ownPort}`, kill };
}

const SETTINGS = '--bind 127.0.0.1 --appendonly no --maxmemory-policy noeviction'.split(' ');
const redisOptions = (port: number): string[] => ['--port', String(port), '--save', '', ...SETTINGS];

async function becomesReady(server: ChildProcess): Promise<boolean> {
  const missing = once(server, 'error').then(() => false);
  const exited = once(server, 'exit').then(() => false);
  return Promise.race([missing, exited, saysReady(server)]).catch(() => false);
}

async function saysReady(server: ChildProcess): Promise<boolean> {
  if (server.stdout === null) return false;
  for await (const line of createInterface({ input: server.stdout })) {
    if (!line.includes('Ready to accept connections')) continue;
    server.stdout.resume();
    return true;
  }
  return false;
}
