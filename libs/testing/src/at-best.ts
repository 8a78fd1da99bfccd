const TRIES = 5;

/**
 * How long `run` takes in milliseconds when nothing comes in between: the quickest of up to five runs, and no further
 * run once one took less than `enoughMs`. A busy machine slows one run down, not all of them; what is slow by itself,
 * in quadratic time for instance, is slow every time.
 */
export async function atBest(enoughMs: number, run: () => unknown): Promise<number> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && quickest >= enoughMs; tries += 1) {
    const began = performance.now();
    await run();
    quickest = Math.min(quickest, performance.now() - began);
  }
  return quickest;
}
