import type { ServerResponse } from 'node:http';

/**
 * Bounds the bytes of all request bodies that a process holds at once. Each body alone may be large, because pictures
 * travel inside; without this bound a few dozen callers together would take the process and everybody's streams with it.
 */
export class BodyBudget {
  private readonly shares = new Map<ServerResponse, number>();
  private held = 0;

  /** @param maxBytes the most that all bodies may hold together; at least what one body may. */
  constructor(private readonly maxBytes: number) {}

  /** Bytes held now. */
  get heldBytes(): number {
    return this.held;
  }

  /**
   * Lets the body of a request grow to so many bytes, which are given back when its answer is over. False: all bodies
   * together would be too large, or nobody waits for the answer any more; nothing changed.
   */
  grow(answer: ServerResponse, bytes: number): boolean {
    const before = this.shares.get(answer);
    const more = bytes - (before ?? 0);
    if (answer.destroyed || this.held + more > this.maxBytes) return false;
    if (before === undefined) answer.once('close', () => this.giveBack(answer));
    this.shares.set(answer, bytes);
    this.held += more;
    return true;
  }

  /** Gives back what a request holds, before its answer is over. */
  giveBack(answer: ServerResponse): void {
    this.held -= this.shares.get(answer) ?? 0;
    this.shares.delete(answer);
  }
}
