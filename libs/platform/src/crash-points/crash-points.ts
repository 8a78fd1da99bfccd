/**
 * The places where the path of a task may be cut, in the order of the path. Each stands right behind a step that
 * another process can see, so that dying there leaves the most awkward traces.
 */
export const CRASH_POINTS = [
  'before-task-written',
  'after-task-written',
  'after-claim',
  'after-start-intent',
  'after-vendor-start',
  'after-running',
  'after-poll-claim',
  'after-vendor-check',
  'after-storing',
  'after-file-copied',
  'after-settled',
  'after-delivery-claim',
  'after-delivery-sent',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Lets a test end this process at a named place, as a power cut would. */
export interface CrashPoints {
  /** Does nothing in production. */
  reach(point: CrashPoint): void;
}

/** Where to crash, and how likely each passage does. */
interface CrashOrder {
  readonly CRASH_AT?: CrashPoint;
  readonly CRASH_CHANCE: number;
}

/** Never crashes. */
export const noCrashPoints: CrashPoints = { reach: () => undefined };

/** What the configuration asks for; without `CRASH_AT` nothing ever happens. */
export function createCrashPoints({ CRASH_AT, CRASH_CHANCE }: CrashOrder): CrashPoints {
  if (CRASH_AT === undefined) return noCrashPoints;
  return {
    reach(point) {
      if (point === CRASH_AT && Math.random() < CRASH_CHANCE) process.kill(process.pid, 'SIGKILL');
    },
  };
}
