import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform';

/** How long the last of them may take to become visible. */
const VISIBLE_WITHIN_MS = 30_000;

/** Milliseconds from the vendor's end to the commit that clients see, sorted; infinite for what stays unseen. */
export async function visibleAfter(database: Database, doneAt: ReadonlyMap<string, number>): Promise<number[]> {
  const deadline = Date.now() + VISIBLE_WITHIN_MS;
  for (;;) {
    const { rows: finished } = await database.query<{ id: string; finished_at: Date }>({
      text: `select id, finished_at from task where state = 'completed'`,
    });
    if (finished.length === doneAt.size || Date.now() > deadline) {
      const unseen = Array.from({ length: doneAt.size - finished.length }, () => Number.POSITIVE_INFINITY);
      const seen = finished.map(({ id, finished_at: at }) => at.getTime() - (doneAt.get(id) ?? 0));
      return [...seen, ...unseen].sort((first, second) => first - second);
    }
    await sleep(500);
  }
}

/** The value below which that part of the sorted values lies; NaN of none. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
