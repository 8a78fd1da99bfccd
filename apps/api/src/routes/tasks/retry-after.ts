import type { TaskView } from '#contracts';

/** The longest advice for each medium, in seconds. */
const LONGEST_SECONDS = { video: 10, image: 4 } as const;

/**
 * When to ask for an unfinished task again, in seconds: after a fifth of the time it has taken so far, so that short
 * work is noticed soon and long work is not asked about for nothing.
 */
export function retryAfterSeconds({ type, created }: TaskView, nowSeconds = Date.now() / 1000): number {
  return Math.min(LONGEST_SECONDS[type], Math.max(1, Math.round((nowSeconds - created) / 5)));
}
