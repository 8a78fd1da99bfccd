/** Polls may become visible so long after those due at their time were claimed, as transactions end late, in milliseconds. */
const STRAGGLERS_MS = 1_000;
/** How often all due polls are searched, for those that became visible even later, in milliseconds. */
const ALL_TURNS_MS = 5_000;

/**
 * Up to which due time the polls of one vendor have been claimed, in times of the database. Most claims need not search before it, where
 * the index is full of entries not vacuumed yet.
 */
export class PollCursor {
  private reachedAt: Date | undefined;
  private searchedAllAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** The earliest due time that the next claim searches from. */
  searchFrom(): Date | '-infinity' {
    const nowMs = this.nowMs();
    if (this.reachedAt && nowMs - this.searchedAllAtMs < ALL_TURNS_MS)
      return new Date(this.reachedAt.getTime() - STRAGGLERS_MS);
    this.searchedAllAtMs = nowMs;
    return '-infinity';
  }

  /** A claim took all free polls due up to that time. */
  reached(at: Date): void {
    this.reachedAt = at;
  }
}
