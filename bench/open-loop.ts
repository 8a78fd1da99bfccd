import { Pool } from 'undici';
import type { Contender } from './measure.js';

/** What clients see that send at a steady rate, however slowly they are answered. Times in milliseconds. */
export interface Steady {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly failures: number;
}

const TURN_SECONDS = 4;
/** Of a turn, not looked at: a key that was idle has no reservation of money yet, and its first requests wait for one. */
const BEGINNING_SECONDS = 1;
const TICK_MS = 1;

/** Sends to each contender in turn at the same rate; a time counts from when its request is handed to the socket. */
export async function steadily(
  contenders: readonly Contender[],
  perSecond: number,
  rounds: number,
): Promise<ReadonlyMap<Contender, Steady>> {
  const times = new Map(contenders.map((contender) => [contender, [] as number[]]));
  const failures = new Map<Contender, number>();
  for (let round = 0; round <= rounds; round += 1)
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const turn = await send(contender, perSecond, TURN_SECONDS);
      // The first round warms up.
      if (round > 0) times.get(contender)?.push(...turn.times.slice(perSecond * BEGINNING_SECONDS));
      failures.set(contender, (failures.get(contender) ?? 0) + turn.failures);
    }
  return new Map(
    [...times].map(([contender, all]) => {
      const sorted = Float64Array.from(all.filter((time) => time !== undefined)).toSorted();
      const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
      return [
        contender,
        { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), failures: failures.get(contender) ?? 0 },
      ];
    }),
  );
}

/** Sends for so long, and waits for the last answer. The times are in the order of sending; a failure leaves a hole. */
export async function send(
  { url, request }: Contender,
  perSecond: number,
  seconds: number,
): Promise<{ readonly times: readonly number[]; readonly failures: number }> {
  const pool = new Pool(url, { connections: 512, pipelining: 1 });
  const times: number[] = [];
  let failures = 0;
  const path = request.path ?? '/';
  const headers = request.headers as Record<string, string>;
  const one = async (nth: number): Promise<void> => {
    const startedAt = performance.now();
    const { statusCode, body } = await pool.request({ method: 'POST', path, headers, body: String(request.body) });
    await body.text();
    times[nth] = performance.now() - startedAt;
    if (statusCode !== 200) failures += 1;
  };
  const sent: Promise<void>[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < seconds * 1_000) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
    while (sent.length < due) sent.push(one(sent.length).catch(() => void (failures += 1)));
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(sent);
  await pool.close();
  return { times, failures };
}

/** Prints how much later than the first contender, which is the floor, each answers. */
export function printSteady(perSecond: number, results: ReadonlyMap<Contender, Steady>): void {
  console.log(
    `\nOpen loop, ${perSecond} requests a second\n\n| | p50 ms | p99 ms | p99.9 ms | p99 above the floor | failed |`,
  );
  console.log('|---|---|---|---|---|---|');
  const floor = [...results.values()][0]?.p99Ms ?? 0;
  for (const [{ name }, { p50Ms, p99Ms, p999Ms, failures }] of results)
    console.log(
      `| ${name} | ${p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} | ${p999Ms.toFixed(2)} | ${(p99Ms - floor).toFixed(2)} | ${failures} |`,
    );
}
