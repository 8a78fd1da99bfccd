import type { DuePoll } from './poll-schedule.js';

/** An operation that this process polls again without asking the schedule. Times in milliseconds of its own clock. */
export interface HeldPoll {
  readonly poll: DuePoll;
  /** How often it was polled since it was claimed. */
  readonly polls: number;
  /** From then on the schedule says when, and any process may poll. */
  readonly heldUntilMs: number;
}

/** Polls that are due within so many milliseconds of each other are due together. */
const TOGETHER_MS = 25;

/**
 * The operations that one claim lets this process poll several times: a poll from here costs the database nothing. A
 * wheel of times, so that neither keeping nor taking depends on how many are held.
 */
export class LeasedPolls {
  private readonly due = new Map<number, HeldPoll[]>();
  private earliest = Number.POSITIVE_INFINITY;

  /** True when it is kept for its next poll; false when others may poll by then. */
  keep(held: HeldPoll, dueMs: number): boolean {
    if (dueMs >= held.heldUntilMs) return false;
    const time = Math.ceil(dueMs / TOGETHER_MS);
    const together = this.due.get(time);
    if (together) together.push(held);
    else this.due.set(time, [held]);
    this.earliest = Math.min(this.earliest, time);
    return true;
  }

  /** Up to `limit` operations that are due, the earliest first. Those that waited for too long are left to the schedule. */
  takeDue(nowMs: number, limit: number): HeldPoll[] {
    const taken: HeldPoll[] = [];
    const now = Math.floor(nowMs / TOGETHER_MS);
    while (this.due.size > 0 && this.earliest <= now && taken.length < limit) {
      const together = this.due.get(this.earliest) ?? [];
      const ours = together.splice(0, limit - taken.length).filter(({ heldUntilMs }) => nowMs < heldUntilMs);
      taken.push(...ours);
      if (together.length > 0) continue;
      this.due.delete(this.earliest);
      this.earliest += 1;
    }
    if (this.due.size === 0) this.earliest = Number.POSITIVE_INFINITY;
    return taken;
  }

  /** Lets go of everything, and says what of it is still ours. */
  letGo(nowMs: number): DuePoll[] {
    const held = [...this.due.values()].flat().filter(({ heldUntilMs }) => nowMs < heldUntilMs);
    this.due.clear();
    this.earliest = Number.POSITIVE_INFINITY;
    return held.map(({ poll }) => poll);
  }
}
