import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { eventually } from '#testing';
import type { Assignment, Message, Role } from './assignment.js';

/** Built by `npm run build`; found from the root of the repository, where every script runs. */
export const PROGRAM = 'dist/chaos/gateway-process.js';

/** Processes that have loaded everything and wait for a place, so that the dead are replaced at once. */
const SPARES = 2;

/** How long a stopping process may take to end, in milliseconds: the longest call, and its files. */
const LEAVING_MS = 200_000;

/** How many processes may be away at once before no other is killed by chance. */
const AWAY_MAX = 2;

/** One place of the fleet, always filled: a process that dies is replaced at once. */
interface Place {
  readonly role: Role;
  readonly index: number;
  process: ChildProcess;
  /** The assignment of the process. */
  assignment: Assignment;
  ready: boolean;
}

/** The processes of a gateway, replaced as an orchestrator would whenever one dies. */
export class Fleet {
  /** How many processes were ended by SIGKILL, by us or by themselves. */
  crashes = 0;
  /** How many were asked to stop, and did. */
  retired = 0;
  /** One line for each process that was asked to stop and did not stop cleanly. */
  readonly unclean: string[] = [];
  private readonly leaving = new Set<ChildProcess>();
  private readonly places: Place[] = [];
  private readonly spares: ChildProcess[] = [];
  private stopped = false;

  /** `assign` answers what a process is to be; `index` counts the places of the fleet from 0. It may change its mind. */
  constructor(
    private readonly logFile: string,
    private readonly assign: (role: Role, index: number) => Assignment,
    private readonly program: string,
  ) {}

  add(role: Role): void {
    const index = this.places.length;
    this.places.push({ role, index, ...this.launch(role, index), ready: false });
    this.watch(index);
  }

  /** Kills one process, any of them, as a power cut would; not while two are away, or nothing would be left to disturb. */
  kill(): void {
    const alive = this.places.filter(({ ready }) => ready);
    const victim = alive[Math.floor(Math.random() * alive.length)];
    if (victim && this.canTakeMore()) end(victim);
  }

  /**
   * Resolves when so few processes are away that another blow leaves something to disturb. On a slow machine a start takes
   * longer than the pause between two blows, and a server that is taken away again and again would keep all from starting.
   */
  async untilMostAreBack(): Promise<void> {
    await this.until(() => this.canTakeMore());
  }

  /** Resolves when every process says that it is ready. */
  async ready(): Promise<void> {
    await this.until(() => this.places.every(({ ready }) => ready));
  }

  private canTakeMore(): boolean {
    return this.places.filter(({ ready }) => !ready).length < AWAY_MAX;
  }

  private async until(isTrue: () => boolean): Promise<void> {
    await eventually(isTrue, { limitMs: 200_000, pauseMs: 20, shows: () => `see ${this.logFile}` });
  }

  /**
   * Tells every process its drill again. A clock is only wrong from the start of a process, so one whose clock is to be
   * another is replaced, which does not count as a crash.
   */
  async update(): Promise<void> {
    for (const place of this.places) {
      const assignment = this.assign(place.role, place.index);
      if (assignment.clockSkewMs !== place.assignment.clockSkewMs) end(place);
      else tell(place.process, { drill: assignment.drill });
    }
    await this.ready();
  }

  /**
   * Replaces every process by a new one, as a roll-out does: a new worker is at work before the old one is asked to stop, and
   * an API follows the one before it at its address. Resolves when all old ones have ended by themselves.
   */
  async rollOut(): Promise<void> {
    for (const place of this.places) {
      const { process: old, role, index } = place;
      this.dismiss(place);
      if (role !== 'api') {
        Object.assign(place, this.launch(role, index));
        this.watch(index);
        await this.ready();
      } else place.ready = false;
      old.kill('SIGTERM');
      await this.ready();
    }
    await this.untilLeft();
  }

  /** Asks the process of one place to stop, or kills it, and resolves when it has ended; another takes its place. */
  async end(index: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const place = this.places[index];
    if (!place) return;
    if (signal === 'SIGKILL') return end(place);
    this.dismiss(place);
    place.ready = false;
    place.process.kill(signal);
    await this.untilLeft();
  }

  private dismiss({ process: old, role }: Place): void {
    this.leaving.add(old);
    old.once('exit', (code, signal) => this.left(old, role, code ?? signal));
  }

  private async untilLeft(): Promise<void> {
    await eventually(() => this.leaving.size === 0, {
      limitMs: LEAVING_MS,
      pauseMs: 50,
      shows: () => `${this.leaving.size} processes that were asked to stop still run; see ${this.logFile}`,
    });
  }

  private left(old: ChildProcess, role: Role, how: number | string | null): void {
    this.leaving.delete(old);
    this.retired += 1;
    if (how !== 0) this.unclean.push(`a ${role} that was asked to stop ended with ${String(how)}`);
  }

  stop(): void {
    this.stopped = true;
    for (const old of this.leaving) old.kill('SIGKILL');
    for (const { process } of this.places) process.kill('SIGKILL');
    for (const spare of this.spares) spare.kill('SIGKILL');
  }

  private launch(role: Role, index: number): Pick<Place, 'process' | 'assignment'> {
    const process = this.spares.shift() ?? this.spawn();
    const assignment = this.assign(role, index);
    tell(process, { assignment });
    return { process, assignment };
  }

  private spawn(): ChildProcess {
    return spawn(process.execPath, ['--no-warnings', this.program], {
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
  }

  private watch(index: number): void {
    const place = this.places[index];
    if (!place) return;
    const { process } = place;
    place.ready = false;
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        if (place.process === process && chunk.toString().includes('ready\n')) this.arrived(place, process);
        appendFileSync(this.logFile, chunk);
      });
    }
    process.once('exit', (code, signal) => {
      if (this.stopped || place.process !== process) return;
      place.ready = false;
      if (signal === 'SIGKILL') this.crashes += 1;
      else appendFileSync(this.logFile, `${place.role} ended with ${String(code ?? signal)}\n`);
      // One that cannot start, for example while Postgres is down, is not tried again in a busy loop.
      setTimeout(() => this.replace(index), signal === 'SIGKILL' ? 0 : 500);
    });
  }

  /** Its drill may have changed while it started. */
  private arrived(place: Place, process: ChildProcess): void {
    place.ready = true;
    tell(process, { drill: this.assign(place.role, place.index).drill });
  }

  private replace(index: number): void {
    const place = this.places[index];
    if (!place || this.stopped) return;
    Object.assign(place, this.launch(place.role, index));
    this.watch(index);
    while (this.spares.length < SPARES) this.spares.push(this.spawn());
  }
}

function end(place: Place): void {
  place.ready = false;
  place.process.kill('SIGKILL');
}

/** A process that has just died gets no message; its replacement does. */
function tell(process: ChildProcess, message: Message): void {
  if (process.connected) process.send(message, () => undefined);
}
