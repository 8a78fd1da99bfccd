/** A stretch of time in seconds; empty when it ends before it starts. */
export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

/** The empty span, which joins with any other without a trace. */
export const NO_TIME: TimeSpan = { start: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY };

/** The shortest span that holds both. */
export const joined = (one: TimeSpan, other: TimeSpan): TimeSpan => ({
  start: Math.min(one.start, other.start),
  end: Math.max(one.end, other.end),
});

/** Length in seconds; 0 for an empty span. */
export const lengthOf = ({ start, end }: TimeSpan): number => Math.max(0, end - start);
