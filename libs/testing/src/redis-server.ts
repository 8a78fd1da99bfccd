import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './free-ports.js';
import { noteProcess } from './run-folder.js';
import { createInterface } from 'node:readline';

/** A real Redis server of a test's own, with the settings the queues ask for. */
export interface RedisServer {
  readonly url: string;
  /** Ends the server as a crash would; what it held is lost. */
  readonly kill: () => Promise<void>;
}

export interface RedisServerOptions {
  /** Where its file lies, `dump.rdb`; it writes none unless it is asked to. Default: a folder that no server writes to. */
  readonly folder?: string;
  /** Further settings, as its command line has them. */
  readonly settings?: readonly string[];
  /** What it says when it counts as started. Default: that it takes connections and has all its data. */
  readonly startedAt?: string;
}

/** Starts `redis-server` from the PATH on `port` (any free one by default); undefined when there is no such program. */
export async function startRedisServer(
  port?: number,
  { folder = '/', settings = [], startedAt = 'Ready to accept connections' }: RedisServerOptions = {},
): Promise<RedisServer | undefined> {
  const ownPort = port ?? (await freePort());
  const server = spawn('redis-server', [...redisOptions(ownPort), ...settings], {
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: folder,
  });
  noteProcess(server.pid);
  if (!(await becomesReady(server, startedAt))) return undefined;
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  return { url: `redis://127.0.0.1:${ownPort}`, kill };
}

const SETTINGS = '--bind 127.0.0.1 --appendonly no --maxmemory-policy noeviction'.split(' ');
const redisOptions = (port: number): string[] => ['--port', String(port), '--save', '', ...SETTINGS];

async function becomesReady(server: ChildProcess, startedAt: string): Promise<boolean> {
  const missing = once(server, 'error').then(() => false);
  const exited = once(server, 'exit').then(() => false);
  return Promise.race([missing, exited, says(server, startedAt)]).catch(() => false);
}

async function says(server: ChildProcess, sign: string): Promise<boolean> {
  if (server.stdout === null) return false;
  for await (const line of createInterface({ input: server.stdout })) {
    if (!line.includes(sign)) continue;
    server.stdout.resume();
    return true;
  }
  return false;
}
