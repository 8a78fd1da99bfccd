import { setTimeout as sleep } from 'node:timers/promises';
import { CHAOS_KEY, GIVE_UP_MS, type Load } from './load.js';

/** What outages cost in one row of the matrix. */
export interface OutageCosts {
  /** Requests that were answered while a server was silent. */
  answered: number;
  /** Those of them that got 503. */
  unavailable: number;
  /** The longest of them, in milliseconds. */
  slowestMs: number;
  /** The longest time from a server's return until every API had taken an order that was then carried out, in milliseconds. */
  healedMs: number;
  /** One line for each request or outage that cost more than it may. */
  readonly failures: string[];
}

/** How long what an outage costs may take, in milliseconds. */
export interface OutageLimits {
  /** The most a request may cost while a server is silent. */
  readonly requestMs: number;
  /** So soon after a server's return all must be well. */
  readonly healedMs: number;
}

/** What is promised, and half a second more for a machine that does all of this at once. */
export const PROMISED: OutageLimits = { requestMs: 5_500, healedMs: 10_000 };
/** Where other work may take the machine meanwhile: what fails has no end at all. */
export const ANY_END: OutageLimits = { requestMs: GIVE_UP_MS, healedMs: 120_000 };

const PAUSE_MS = 100;

/** What a client sees of one request; null: the process it went to is dead. */
interface Seen {
  readonly what: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly tookMs: number;
}

export const noCosts = (): OutageCosts => ({ answered: 0, unavailable: 0, slowestMs: 0, healedMs: 0, failures: [] });

/** Asks every API repeatedly while `outage` lasts, then waits until the fleet works as before, and adds up what it saw. */
export async function costsOfOutage(
  apiUrls: readonly string[],
  load: Load,
  outage: () => Promise<void>,
  costs: OutageCosts,
  limits: OutageLimits,
): Promise<void> {
  let isOver = false;
  const asking = Promise.all(apiUrls.map((url) => askUntil(url, load, () => isOver)));
  await outage();
  isOver = true;
  const [healed, seen] = await Promise.all([Promise.all(apiUrls.map((url) => timeToHeal(url, load, limits))), asking]);
  costs.healedMs = Math.max(costs.healedMs, ...healed);
  for (const [index, healedMs] of healed.entries()) {
    if (healedMs >= limits.healedMs) costs.failures.push(`API ${index} did not work ${healedMs} ms after the outage`);
  }
  for (const request of seen.flat()) judge(request, costs, limits);
}

function judge({ what, status, retryAfter, tookMs }: Seen, costs: OutageCosts, { requestMs }: OutageLimits): void {
  costs.answered += 1;
  costs.slowestMs = Math.max(costs.slowestMs, Math.round(tookMs));
  if (status === 503) costs.unavailable += 1;
  if (tookMs > requestMs) costs.failures.push(`${what} took ${tookMs.toFixed(0)} ms`);
  if (status !== 200 && status !== 503) costs.failures.push(`${what} got ${status}`);
  if (status === 503 && !(Number(retryAfter) > 0)) costs.failures.push(`${what} got 503 without Retry-After`);
}

/** Three clients of one API: they order, read a task, and read the balance. */
async function askUntil(url: string, load: Load, isOver: () => boolean): Promise<Seen[]> {
  const seen: Seen[] = [];
  const readTask = (): Promise<Response> => {
    const latest = [...load.promised].at(-1);
    return get(latest === undefined ? `${url}/v1/tasks` : `${url}/v1/tasks/${latest}`);
  };
  const kinds: readonly (readonly [string, () => Promise<Response>])[] = [
    ['an order', () => load.order(url)],
    ['a task read', readTask],
    ['a balance read', () => get(`${url}/v1/balance`)],
  ];
  await Promise.all(
    kinds.map(async ([what, ask]) => {
      while (!isOver()) {
        const request = await timed(what, ask);
        if (request) seen.push(request);
        await sleep(PAUSE_MS);
      }
    }),
  );
  return seen;
}

async function timed(what: string, ask: () => Promise<Response>): Promise<Seen | null> {
  const beganMs = performance.now();
  try {
    const answer = await ask();
    const retryAfter = answer.headers.get('retry-after');
    return { what, status: answer.status, retryAfter, tookMs: performance.now() - beganMs };
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TimeoutError')) return null;
    return { what, status: 0, retryAfter: null, tookMs: performance.now() - beganMs };
  }
}

/** How long it takes until an order to this API is carried out, in milliseconds; the limit when it takes longer. */
async function timeToHeal(url: string, load: Load, { healedMs }: OutageLimits): Promise<number> {
  const beganMs = performance.now();
  const elapsed = (): number => Math.round(performance.now() - beganMs);
  let taskId: string | undefined;
  while (elapsed() < healedMs) {
    try {
      taskId ??= await load.submit(url);
      const answer = await get(`${url}/v1/tasks/${taskId}`);
      const { data } = (await answer.json()) as { data?: { status: string } };
      if (data?.status === 'completed') return elapsed();
    } catch {
      // The process is dead or not well yet.
    }
    await sleep(PAUSE_MS / 2);
  }
  return healedMs;
}

const get = (url: string): Promise<Response> =>
  fetch(url, { headers: { authorization: `Bearer ${CHAOS_KEY}` }, signal: AbortSignal.timeout(GIVE_UP_MS) });
