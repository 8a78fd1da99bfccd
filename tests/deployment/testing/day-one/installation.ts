import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#testing';

/** The processes of a production installation. */
export const ROLES = ['api', 'image-worker', 'video-worker', 'maintenance-worker'] as const;
export type Role = (typeof ROLES)[number];

/** What an operator may run: a process that stays, or a command that ends. */
export type Command = Role | 'migrate' | 'backup' | 'restore' | 'prices';

/** How a command is run with these variables and no others; its output is piped. */
export type Launch = (
  command: Command,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) => ChildProcess;

/**
 * Runs what `package.json` says for a command, as `npm run` would, in the clone with its build. Another launch, such as one
 * into the file system of an image, runs `node deploy/entrypoint.mjs COMMAND`.
 */
export const fromClone: Launch = (command, args, environment) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const [program = '', ...words] = (scripts[`start:${command}`] ?? scripts[command] ?? '').split(' ');
  if (program !== 'node') throw new Error(`npm run ${command} does not run node itself: ${program}`);
  return spawn(process.execPath, [...words, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

interface Running {
  readonly role: Role;
  readonly child: ChildProcess;
  readonly output: () => string;
}

const READY_MS = 200_000;

/** One place where the gateway runs: its settings and its processes, worked only as an operator could. */
export class Installation {
  private readonly processes: Running[] = [];
  /** Where the API answers. */
  readonly url: string;

  private constructor(
    url: string,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly launch: Launch,
  ) {
    this.url = url;
  }

  /** An installation that has not been started, with a port of its own; the settings may name another public address. */
  static async with(settings: Readonly<Record<string, string>>, launch: Launch = fromClone): Promise<Installation> {
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    return new Installation(url, { PORT: port, PUBLIC_BASE_URL: url, ...settings }, launch);
  }

  /** An installation whose settings and whose address for customers are decided elsewhere, as by a compose file. */
  static behind(url: string, settings: Readonly<Record<string, string>>, launch: Launch): Installation {
    return new Installation(url, settings, launch);
  }

  /** Runs a command to its end and returns its stdout. @throws Error with all output unless it exits with 0. */
  async run(command: Command, ...args: string[]): Promise<string> {
    const child = this.launch(command, args, this.settings);
    const output = collect(child);
    const stdout = collect(child, 'stdout');
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${output()}`);
    return stdout();
  }

  /** Starts a process and resolves when it says itself that it is ready. */
  async start(role: Role): Promise<void> {
    const opsPort = await freePort();
    const child = this.launch(role, [], { ...this.settings, OPS_PORT: String(opsPort) });
    const running = { role, child, output: collect(child) };
    // A process may be gone before its last words have come.
    const silent = once(child, 'close');
    this.processes.push(running);
    const deadline = Date.now() + READY_MS;
    while (!(await isReady(`http://127.0.0.1:${opsPort}/readyz`))) {
      const isOver = hasEnded(child);
      if (isOver) this.processes.splice(this.processes.indexOf(running), 1);
      if (isOver) await silent;
      if (isOver || Date.now() > deadline) throw new Error(`${role} is not ready: ${running.output()}`);
      await sleep(50);
    }
  }

  /** Sends SIGTERM to every process and answers the exit code of each, in the order of {@link ROLES}, whichever started first. */
  async stop(): Promise<[Role, number | null][]> {
    const byRole = this.processes
      .splice(0)
      .toSorted((one, other) => ROLES.indexOf(one.role) - ROLES.indexOf(other.role));
    const ended = byRole.map(async ({ role, child }): Promise<[Role, number | null]> => {
      if (!hasEnded(child)) {
        const closed = once(child, 'close');
        child.kill('SIGTERM');
        await closed;
      }
      return [role, child.exitCode];
    });
    return Promise.all(ended);
  }

  /** The ids of its processes. */
  get pids(): number[] {
    return this.processes.flatMap(({ child }) => child.pid ?? []);
  }

  /** Ends what is left when a test fails. */
  kill(): void {
    for (const { child } of this.processes.splice(0)) child.kill('SIGKILL');
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const isReady = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

function collect(child: ChildProcess, ...streams: ('stdout' | 'stderr')[]): () => string {
  let output = '';
  for (const name of streams.length > 0 ? streams : (['stdout', 'stderr'] as const))
    child[name]?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return () => output;
}
