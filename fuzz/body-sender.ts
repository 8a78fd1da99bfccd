// A thread that sends hostile bodies, so that what it does is not counted as a stop of the server.
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { hostileBody } from './hostile-bodies.js';
import { Random } from './random.js';
import { TARGETS } from './targets.js';

/** What the thread is to send. */
export interface SenderOrder {
  readonly baseUrl: string;
  readonly keys: readonly string[];
  readonly count: number;
  readonly seed: number;
  /** Shared: the seed that each connection is at, for reports of what was being sent. */
  readonly onTheirWay?: Int32Array;
}

/** What it met. */
export interface SenderReport {
  readonly sent: number;
  readonly statuses: Readonly<Record<number, number>>;
  /** Answers that no body may get, with what brings them back. */
  readonly wrong: readonly string[];
}

// Few at a time: what many good requests together take of one turn of the event loop is not what is looked for.
const CONNECTIONS = 4;
const PIPELINED = 2;
const WRONG_MAX = 20;

const { baseUrl, keys, count, seed, onTheirWay } = workerData as SenderOrder;
const pool = new Pool(baseUrl, {
  connections: CONNECTIONS,
  pipelining: PIPELINED,
  bodyTimeout: 60_000,
  headersTimeout: 60_000,
});
const statuses: Record<number, number> = {};
const wrong: string[] = [];
let next = 0;

const isAllowed = (status: number): boolean =>
  (status >= 200 && status < 300) || (status >= 400 && status < 500) || status === 503;

async function send(number: number): Promise<void> {
  const random = new Random(seed + number);
  const target = random.pick(TARGETS);
  const body = hostileBody(target.good, random);
  const headers = {
    authorization: `Bearer ${random.pick(keys)}`,
    'content-type': 'application/json',
    ...target.headers,
  };
  try {
    const answer = await pool.request({ ...target, method: 'POST', headers, body, idempotent: true });
    await answer.body.dump();
    statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1;
    if (!isAllowed(answer.statusCode)) note(number, target.path, String(answer.statusCode));
  } catch (error) {
    note(number, target.path, String(error));
  }
}

function note(number: number, path: string, what: string): void {
  if (wrong.length < WRONG_MAX) wrong.push(`${what} to ${path}, seed ${seed + number}`);
}

async function sendOneByOne(place: number): Promise<void> {
  while (next < count) {
    const number = next++;
    if (onTheirWay) onTheirWay[place] = seed + number;
    await send(number);
  }
}

await Promise.all(Array.from({ length: CONNECTIONS * PIPELINED }, (_, place) => sendOneByOne(place)));
await pool.close();
parentPort?.postMessage({ sent: next, statuses, wrong } satisfies SenderReport);
