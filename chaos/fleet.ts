import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import type { Role } from './chaos.config.js';

/** Built by `npm run build`; found from the root of the repository, where every script runs. */
const PROGRAM = 'dist/chaos/gateway-process.js';

type Variables = Readonly<Record<string, string>>;

/** One place of the fleet, always filled: a process that dies is replaced at once. */
interface Place {
  readonly role: Role;
  /** Variables that only this place has. */
  readonly own: Variables;
  process: ChildProcess;
  /** What the process was started with. */
  variables: string;
  ready: boolean;
}

/** The processes of a gateway, replaced as an orchestrator would whenever one dies. */
export class Fleet {
  /** How many processes were ended by SIGKILL, by us or by themselves. */
  crashes = 0;
  private readonly places: Place[] = [];
  private stopped = false;

  /** `variables` answers what a process of a role is started with; it may change its mind between starts. */
  constructor(
    private readonly logFile: string,
    private readonly variables: (role: Role) => Variables,
  ) {}

  add(role: Role, own: Variables = {}): void {
    const environment = { ...this.variables(role), ...own };
    const process = this.spawn(role, environment);
    this.places.push({ role, own, process, variables: JSON.stringify(environment), ready: false });
    this.watch(this.places.length - 1);
  }

  /** Kills one process, or all of a role, as a power cut would. */
  kill(role?: Role): void {
    const alive = this.places.filter((place) => (role === undefined || place.role === role) && place.ready);
    const victims = role === undefined ? alive.slice(Math.floor(Math.random() * alive.length)).slice(0, 1) : alive;
    for (const { process } of victims) process.kill('SIGKILL');
  }

  /** Resolves when every process says that it is ready. */
  async ready(): Promise<void> {
    const deadline = Date.now() + 60_000;
    while (!this.places.every(({ ready }) => ready)) {
      if (Date.now() > deadline) throw new Error(`the processes were not ready within a minute; see ${this.logFile}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  stop(): void {
    this.stopped = true;
    for (const { process } of this.places) process.kill('SIGKILL');
  }

  /** Replaces the processes that would be started differently now, without counting that as crashes. */
  async update(): Promise<void> {
    const before = this.crashes;
    const outdated = this.places.filter(({ role, own, variables }) => {
      return variables !== JSON.stringify({ ...this.variables(role), ...own });
    });
    for (const { process } of outdated) process.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await this.ready();
    this.crashes = before;
  }

  private spawn(role: Role, environment: Variables): ChildProcess {
    return spawn(process.execPath, ['--no-warnings', PROGRAM], {
      env: { PATH: process.env['PATH'], ...environment, CHAOS_ROLE: role },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  private watch(index: number): void {
    const place = this.places[index];
    if (!place) return;
    place.ready = false;
    for (const stream of [place.process.stdout, place.process.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('ready\n')) place.ready = true;
        appendFileSync(this.logFile, chunk);
      });
    }
    place.process.once('exit', (code, signal) => {
      place.ready = false;
      if (this.stopped) return;
      if (signal === 'SIGKILL') this.crashes += 1;
      else appendFileSync(this.logFile, `${place.role} ended with ${String(code ?? signal)}\n`);
      // One that cannot start, for example while Postgres is down, is not tried again in a busy loop.
      setTimeout(() => this.replace(index), signal === 'SIGKILL' ? 0 : 300);
    });
  }

  private replace(index: number): void {
    const place = this.places[index];
    if (!place || this.stopped) return;
    const environment = { ...this.variables(place.role), ...place.own };
    place.variables = JSON.stringify(environment);
    place.process = this.spawn(place.role, environment);
    this.watch(index);
  }
}
