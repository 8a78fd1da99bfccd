import { readFileSync } from 'node:fs';

const TRIES = 5;

/**
 * The quickest of up to five times that `measure` answers, in milliseconds, and no further try once one is below
 * `enoughMs`. A busy machine slows one try down, not all of them; what is slow by itself is slow every time.
 */
export async function quickestOf(enoughMs: number, measure: (attempt: number) => Promise<number>): Promise<number> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && quickest >= enoughMs; attempt += 1) {
    quickest = Math.min(quickest, await measure(attempt));
  }
  return quickest;
}

/** Processor time of this thread so far, in milliseconds; that of the clock where the system does not tell. */
export const busySoFarMs = (): number => scheduledMs(0) ?? performance.now();

/**
 * A clock that stands still while this thread could go on and others have the processor, in milliseconds: what is waited for shows on
 * it, and a busy machine does not. That of the wall where the system does not tell.
 */
export const ownTimeMs = (): number => performance.now() - (scheduledMs(1) ?? 0);

/** What the scheduler counts of this thread: the time on a processor, then that in which it waited for one. */
function scheduledMs(field: 0 | 1): number | undefined {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 2)[field]) / 1e6;
  } catch {
    return undefined;
  }
}

/**
 * How long `run` works in this thread, in milliseconds: the quickest of up to five runs. What else the machine does is not
 * counted, nor what `run` waits for.
 */
export const atBest = (enoughMs: number, run: (attempt: number) => unknown): Promise<number> =>
  quickestOf(enoughMs, async (attempt) => {
    const began = busySoFarMs();
    await run(attempt);
    return busySoFarMs() - began;
  });
