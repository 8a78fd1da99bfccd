import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

/** Medians over the rounds. */
export interface Measured {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the server process for one request, in microseconds; databases not counted. */
  readonly cpuMicroseconds: number;
  readonly failures: number;
}

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
const ROUND_SECONDS = 5;
const ROUNDS = 3;
/** Clock ticks of /proc/<pid>/stat each second, on every common Linux. */
const TICKS_PER_SECOND = 100;

/** Loads the contenders in turn, round after round, so that what else the machine does hits all of them alike. */
export async function measure(contenders: readonly Contender[], connections = CONNECTIONS): Promise<Measured[]> {
  for (const contender of contenders) await load(contender, WARM_UP_SECONDS, connections);
  const rounds = new Map<string, Measured[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const contender of contenders) {
      rounds.set(contender.name, [
        ...(rounds.get(contender.name) ?? []),
        await load(contender, ROUND_SECONDS, connections),
      ]);
    }
  }
  return [...rounds.values()].map(medianOf);
}

/** Prints a table with each contender's ratio to the first, which is the floor. */
export function printTable(title: string, results: readonly Measured[], connections = CONNECTIONS): void {
  const [floor] = results;
  console.log(`\n${title} (${connections} connections, median of ${ROUNDS} rounds of ${ROUND_SECONDS} s, in turn)\n`);
  console.log(
    '| | requests/s | ratio | p50 ms | p99 ms | server CPU µs/request | failed |\n|---|---|---|---|---|---|---|',
  );
  for (const result of results) {
    const ratio = result.requestsPerSecond / (floor?.requestsPerSecond ?? Number.NaN);
    console.log(
      `| ${result.name} | ${Math.round(result.requestsPerSecond)} | ${ratio.toFixed(2)} | ${result.p50Ms} | ${result.p99Ms} | ${Math.round(result.cpuMicroseconds)} | ${result.failures} |`,
    );
  }
}

async function load(contender: Contender, seconds: number, connections: number): Promise<Measured> {
  const before = cpuSeconds(contender.process);
  const result = await autocannon({
    url: contender.url,
    connections,
    duration: seconds,
    requests: [contender.request, ...(contender.furtherRequests ?? [])],
  });
  const cpu = cpuSeconds(contender.process) - before;
  return {
    name: contender.name,
    requestsPerSecond: result.requests.total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuMicroseconds: (cpu / Math.max(1, result.requests.total)) * 1_000_000,
    failures: result.non2xx + result.errors,
  };
}

function medianOf(results: readonly Measured[]): Measured {
  const sorted = [...results].sort((one, other) => one.requestsPerSecond - other.requestsPerSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error('nothing was measured');
  return { ...middle, failures: results.reduce((sum, { failures }) => sum + failures, 0) };
}

function cpuSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Starts a server process, of another checkout where `cwd` names one, and waits until it answers. */
export async function startServer(
  args: readonly string[],
  port: number,
  environment: Record<string, string>,
  cwd = process.cwd(),
): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LOG_LEVEL: 'error', NODE_ENV: 'production', PORT: String(port), ...environment },
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
