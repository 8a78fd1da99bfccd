/** Turns may appear so far behind those already taken while transactions are under way, in milliseconds. */
const STRAGGLERS_MS = 1_000;
/** How often all turns are looked through, for those that appeared even later, in milliseconds. */
const ALL_TURNS_MS = 5_000;

/**
 * How far the turns of one vendor have been taken, in times of the database. Most claims need not look behind that point, where the
 * index is full of entries not vacuumed yet.
 */
export class TurnsTaken {
  private reachedAt: Date | undefined;
  private searchedAllAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** The earliest turn that the next claim is to look for. */
  searchFrom(): Date | '-infinity' {
    const nowMs = this.nowMs();
    if (this.reachedAt && nowMs - this.searchedAllAtMs < ALL_TURNS_MS)
      return new Date(this.reachedAt.getTime() - STRAGGLERS_MS);
    this.searchedAllAtMs = nowMs;
    return '-infinity';
  }

  /** A claim took all free turns up to that time. */
  reached(at: Date): void {
    this.reachedAt = at;
  }
}
