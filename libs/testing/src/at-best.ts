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

/** How long `run` takes in milliseconds when nothing comes in between: the quickest of up to five runs. */
export const atBest = (enoughMs: number, run: (attempt: number) => unknown): Promise<number> =>
  quickestOf(enoughMs, async (attempt) => {
    const began = performance.now();
    await run(attempt);
    return performance.now() - began;
  });
