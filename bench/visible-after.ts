import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform';

/** How long the last of them may take to become visible. */
const VISIBLE_WITHIN_MS = 30_000;

/** Milliseconds from the vendor's end, sorted; infinite for what stays unseen. */
export interface Delays {
  /** To the commit of the look that saw it. */
  readonly seen: readonly number[];
  /** To the commit that clients see: the file is copied and checked then. */
  readonly visible: readonly number[];
}

interface Times {
  readonly id: string;
  readonly produced_at: Date | null;
  readonly finished_at: Date | null;
}

/** Waits until all of them are visible, or for so long that some never will be. */
export async function visibleAfter(database: Database, doneAt: ReadonlyMap<string, number>): Promise<Delays> {
  const deadline = Date.now() + VISIBLE_WITHIN_MS;
  for (;;) {
    const { rows } = await database.query<Times>({
      text: 'select id, produced_at, finished_at from task where produced_at is not null',
    });
    const finished = rows.filter(({ finished_at: at }) => at !== null);
    if (finished.length === doneAt.size || Date.now() > deadline) {
      const delays = (timeOf: (row: Times) => Date | null): number[] => {
        const times = new Map(rows.map((row) => [row.id, timeOf(row)?.getTime()]));
        return [...doneAt]
          .map(([id, at]) => (times.get(id) ?? Number.POSITIVE_INFINITY) - at)
          .sort((first, second) => first - second);
      };
      return { seen: delays((row) => row.produced_at), visible: delays((row) => row.finished_at) };
    }
    await sleep(500);
  }
}

/** The value below which that part of the sorted values lies; NaN of none. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
