import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import autocannon from 'autocannon';

/** One thing to load: a server process, and the request to send. */
export interface Contender {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  readonly request: autocannon.Request;
  /** Sent in turn after the first one. */
  readonly furtherRequests?: readonly autocannon.Request[];
}

/** What one contender did in a round. */
interface Loaded {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the server process for one request, in microseconds; databases not counted. */
  readonly cpuMicroseconds: number;
  readonly failures: number;
}

/** One contender, loaded once. */
interface Turn {
  readonly requests: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
}

/** Medians over the rounds. */
export interface Measured extends Loaded {
  readonly name: string;
  /** Requests each second to those of the first contender in the same round: a machine that slows down slows both. */
  readonly ratio: number;
  /** The same for the CPU of a request. */
  readonly cpuRatio: number;
}

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 4;
/**
 * Many short turns: the speed of a shared machine changes by a third from one second to the next. Two servers of the same
 * code, in rounds of two seconds, were seen 0.77 to 1.41 times as fast as each other in one round.
 */
const TURN_SECONDS = 0.4;
const ROUNDS = 24;
/** Of autocannon: a turn is timed to this. */
const TICK_MS = 5;
/** Clock ticks of /proc/<pid>/stat each second, on every common Linux. */
const TICKS_PER_SECOND = 100;

/**
 * Loads the contenders in turn. A round goes first to last and then last to first, so that what else the machine does, and
 * what one leaves to do for the next, hits all alike.
 */
export async function measure(
  contenders: readonly Contender[],
  connections = CONNECTIONS,
  rounds = ROUNDS,
): Promise<Measured[]> {
  const turns = new Map<Contender, number>();
  for (const contender of contenders) {
    const { requests, seconds } = await load(contender, { connections, duration: WARM_UP_SECONDS });
    const each = Math.max(1, Math.round(((requests / seconds) * TURN_SECONDS) / connections));
    turns.set(contender, each * connections);
  }
  const ended: ReadonlyMap<Contender, Loaded>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const loaded = new Map<Contender, Turn[]>();
    for (const contender of [...contenders, ...contenders.toReversed()]) {
      // A number of requests, not a time: what clients that are cut off leave behind would be done in the turn of another.
      const turn = await load(contender, { connections, amount: turns.get(contender) ?? connections });
      loaded.set(contender, [...(loaded.get(contender) ?? []), turn]);
    }
    ended.push(new Map([...loaded].map(([contender, both]) => [contender, together(both)])));
  }
  return contenders.map((contender) => summary(contender, contenders[0] ?? contender, ended));
}

/** Prints a table with each contender's ratio to the first, which is the floor. */
export function printTable(
  title: string,
  results: readonly Measured[],
  connections = CONNECTIONS,
  rounds = ROUNDS,
): void {
  console.log(
    `\n${title} (${connections} connections, median of ${rounds} rounds of two turns of ${TURN_SECONDS} s)\n`,
  );
  console.log(
    '| | requests/s | ratio | p50 ms | p99 ms | server CPU µs/request | ratio | failed |\n|---|---|---|---|---|---|---|---|',
  );
  for (const result of results) {
    console.log(
      `| ${result.name} | ${Math.round(result.requestsPerSecond)} | ${result.ratio.toFixed(2)} | ${result.p50Ms.toFixed(1)} | ${result.p99Ms.toFixed(1)} | ${Math.round(result.cpuMicroseconds)} | ${result.cpuRatio.toFixed(2)} | ${result.failures} |`,
    );
  }
}

async function load(
  { process, url, request, furtherRequests = [] }: Contender,
  span: { connections: number; duration?: number; amount?: number },
): Promise<Turn> {
  const before = cpuSeconds(process);
  const result = await autocannon({ url, ...span, requests: [request, ...furtherRequests], sampleInt: TICK_MS });
  return {
    requests: result.requests.total,
    seconds: result.duration,
    cpuSeconds: cpuSeconds(process) - before,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failures: result.non2xx + result.errors,
  };
}

function together(turns: readonly Turn[]): Loaded {
  const sum = (value: (turn: Turn) => number): number => turns.reduce((total, turn) => total + value(turn), 0);
  const requests = sum((turn) => turn.requests);
  return {
    requestsPerSecond: requests / sum((turn) => turn.seconds),
    p50Ms: sum((turn) => turn.p50Ms) / turns.length,
    p99Ms: sum((turn) => turn.p99Ms) / turns.length,
    cpuMicroseconds: (sum((turn) => turn.cpuSeconds) / Math.max(1, requests)) * 1_000_000,
    failures: sum((turn) => turn.failures),
  };
}

function summary(contender: Contender, first: Contender, rounds: readonly ReadonlyMap<Contender, Loaded>[]): Measured {
  const own = rounds.flatMap((round) => round.get(contender) ?? []);
  const firsts = rounds.flatMap((round) => round.get(first) ?? []);
  const median = (value: (loaded: Loaded) => number): number => medianOf(own.map(value));
  const ratio = (value: (loaded: Loaded) => number): number =>
    medianOf(own.map((loaded, round) => value(loaded) / value(firsts[round] ?? loaded)));
  return {
    name: contender.name,
    requestsPerSecond: median((loaded) => loaded.requestsPerSecond),
    ratio: ratio((loaded) => loaded.requestsPerSecond),
    p50Ms: median((loaded) => loaded.p50Ms),
    p99Ms: median((loaded) => loaded.p99Ms),
    cpuMicroseconds: median((loaded) => loaded.cpuMicroseconds),
    cpuRatio: ratio((loaded) => loaded.cpuMicroseconds),
    failures: own.reduce((sum, { failures }) => sum + failures, 0),
  };
}

export function medianOf(values: readonly number[]): number {
  const middle = values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}

/** Of a process and its children. */
export function cpuSeconds({ pid }: Pick<ChildProcess, 'pid'>): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return children.reduce((sum, child) => sum + cpuSeconds({ pid: Number(child) }), own);
}

/**
 * Starts a server process, of another checkout where `cwd` names one, and waits until it answers.
 *
 * @param core the only core that it runs on, where `keepToCore` has found that cores can be chosen.
 */
export async function startServer(
  args: readonly string[],
  port: number,
  environment: Record<string, string>,
  { cwd = process.cwd(), core }: { readonly cwd?: string; readonly core?: number | undefined } = {},
): Promise<ChildProcess> {
  const command = [...(core === undefined ? [] : ['taskset', '-c', String(core)]), process.execPath, ...args];
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production', PORT: String(port), ...environment },
  });
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} exited with ${child.exitCode}`);
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (answered) return child;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${args.join(' ')} did not answer on port ${port}`);
}

/** Keeps this process, and what it starts from now on, to one core. False where the system offers no choice. */
export function keepToCore(core: number): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync('taskset', ['-acp', String(core), String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Memory of a process in megabytes: now (`VmRSS`), or the most it ever had (`VmHWM`). */
export const megabytesOf = ({ pid }: ChildProcess, field: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(String.raw`${field}:\s+(\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
