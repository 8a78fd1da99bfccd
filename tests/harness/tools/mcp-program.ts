import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { eventually, freePort, noteProcess } from '#testing';

/** A server of tools from the package registry, in a process of its own on a free port of this machine. */
export interface McpProgram {
  /** `host:port`, as the allow list wants it. */
  readonly address: string;
  stop(): Promise<void>;
}

const PROGRAMS = {
  /** Has an echo, a sum, an image, long work; over streamable HTTP, or as servers were asked before (SSE). */
  everything: ['@modelcontextprotocol/server-everything', 'dist/index.js', 'streamableHttp'],
  'everything-sse': ['@modelcontextprotocol/server-everything', 'dist/index.js', 'sse'],
  budget: ['@modelcontextprotocol/server-budget-allocator', 'dist/index.js', ''],
} as const;

/** Starts one, and waits until it listens. Call `stop` in `afterAll`. */
export async function startMcpProgram(name: keyof typeof PROGRAMS): Promise<McpProgram> {
  const [pack, script, mode] = PROGRAMS[name];
  const port = await freePort();
  const child = spawn(process.execPath, [resolve('node_modules', pack, script), ...(mode === '' ? [] : [mode])], {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
    stdio: 'ignore',
  });
  noteProcess(child.pid);
  await eventually(() => isListening(port), { pauseMs: 50, shows: () => `${pack} never listened` });
  return { address: `127.0.0.1:${port}`, stop: () => ended(child) };
}

const isListening = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
