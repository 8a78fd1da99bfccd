// A thread that sends hostile bodies, so that what it does is not counted as a stop of the server.
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { hostileBody } from './hostile-bodies.js';
import { hostileId, hostileQuery } from './hostile-queries.js';
import { DOOR_TARGETS, OPERATOR_TARGETS } from './operator-targets.js';
import { Random } from './random.js';
import { headersOf, isAllowed, requestTo, type Senders, type Sent, withIds } from './target-request.js';
import { type Sender, TARGETS } from './targets.js';

/** What the thread is to send. */
export interface SenderOrder extends Senders {
  readonly baseUrl: string;
  /** Paths of lists and single things that are read, with their parameters filled in. */
  readonly reads: readonly string[];
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

/** One request in so many goes to a sign-in, where guesses are throttled, and one in so many only reads. */
const DOOR_ONE_IN = 200;
const READ_ONE_IN = 8;

const order = workerData as SenderOrder;
const { baseUrl, reads, count, seed, onTheirWay, people } = order;
const targets = withIds([...TARGETS, ...OPERATOR_TARGETS], people.ids);
const pool = new Pool(baseUrl, {
  connections: CONNECTIONS,
  pipelining: PIPELINED,
  bodyTimeout: 60_000,
  headersTimeout: 60_000,
});
const statuses: Record<number, number> = {};
const wrong: string[] = [];
let next = 0;

function hostileRequest(random: Random): Sent {
  if (reads.length > 0 && random.chance(READ_ONE_IN)) {
    const path = random.pick(reads);
    const sender = path.startsWith('/admin/') ? 'operator' : path.startsWith('/console/') ? pick(path) : 'key';
    return {
      method: 'GET',
      path: path.replaceAll('unknown_1', hostileId(random)) + hostileQuery(random),
      headers: headersOf(sender, order, random),
    };
  }
  const target = random.pick(random.chance(DOOR_ONE_IN) ? DOOR_TARGETS : targets);
  return requestTo(target, hostileBody(target.good, random), order, random);
}

const pick = (path: string): Sender => (path.startsWith('/console/api/admin/') ? 'admin' : 'owner');

async function send(number: number): Promise<void> {
  const sent = hostileRequest(new Random(seed + number));
  try {
    const answer = await pool.request({ ...sent, idempotent: true });
    await answer.body.dump();
    statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1;
    if (!isAllowed(answer.statusCode)) note(number, `${sent.method} ${sent.path}`, String(answer.statusCode));
  } catch (error) {
    note(number, `${sent.method} ${sent.path}`, String(error));
  }
}

function note(number: number, to: string, what: string): void {
  if (wrong.length < WRONG_MAX) wrong.push(`${what} to ${to}, seed ${seed + number}`);
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
