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

/** The places where the path of an uploaded file may be cut. */
export const FILE_CRASH_POINTS = [
  'after-upload-begun',
  'after-upload-stored',
  'after-index-claim',
  'after-passages-written',
  'after-indexed',
  'after-bytes-removed',
] as const;

export type Failpoint = (typeof CRASH_POINTS)[number] | (typeof FILE_CRASH_POINTS)[number];

/** Lets a crash test end this process at a named place, as a power cut would. */
export interface Failpoints {
  /** Does nothing in production. */
  reach(point: Failpoint): void;
}

/** Never crashes. */
export const noFailpoints: Failpoints = { reach: () => undefined };
