import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder to work in, with a home of its own, in which no setting of this machine is found. */
export interface AgentPlace {
  readonly home: string;
  readonly work: string;
  write(path: string, text: string): Promise<void>;
  notes(): Promise<string>;
  remove(): Promise<void>;
}

/** The result of a run of a client. */
export interface AgentRun {
  readonly code: number | null;
  readonly output: string;
}

/** The file that sessions read and change. */
export const NOTES = 'notes.txt';

/** An image that sessions view, and its form in a request. */
export const IMAGE = 'image.png';
export const IMAGE_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const RUN_LIMIT_MS = 100_000;

export async function makePlace(): Promise<AgentPlace> {
  const root = await mkdtemp(join(tmpdir(), 'gateway-agent-'));
  const [home, work] = [join(root, 'home'), join(root, 'work')];
  await Promise.all([mkdir(home), mkdir(work)]);
  await writeFile(join(work, NOTES), 'the first line\n');
  await writeFile(join(work, IMAGE), Buffer.from(IMAGE_BASE64, 'base64'));
  return {
    home,
    work,
    write: async (path, text) => {
      await mkdir(join(root, path, '..'), { recursive: true });
      await writeFile(join(root, path), text);
    },
    notes: () => readFile(join(work, NOTES), 'utf8'),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Runs a client until it ends, or ends it with all that it started. At the `interruption` it gets an interrupt, as by a key. */
export async function runCli(
  path: string,
  args: readonly string[],
  { home, work }: AgentPlace,
  environment: Readonly<Record<string, string>>,
  interruption?: Promise<unknown>,
): Promise<AgentRun> {
  const child = spawn(path, args, {
    cwd: work,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'data'),
      XDG_CACHE_HOME: join(home, 'cache'),
      XDG_STATE_HOME: join(home, 'state'),
      ...environment,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const tell = (signal: NodeJS.Signals): void => void (child.pid !== undefined && process.kill(-child.pid, signal));
  const timer = setTimeout(() => tell('SIGKILL'), RUN_LIMIT_MS);
  void interruption?.then(() => tell('SIGINT'));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  } finally {
    clearTimeout(timer);
  }
}
