/** The most accounts whose last turn is remembered: beyond them, who had a turn longest ago counts as new. */
const REMEMBERED_MAX = 500;

/** Which accounts had the last turns, so that each gets one before another gets its next. */
export class AccountRotation {
  readonly #last = new Set<string>();

  /** The one whose turn was longest ago comes first; those that are missing had none. */
  get order(): string[] {
    return [...this.#last];
  }

  had(accountId: string): void {
    this.#last.delete(accountId);
    this.#last.add(accountId);
    if (this.#last.size <= REMEMBERED_MAX) return;
    for (const oldest of this.#last) return void this.#last.delete(oldest);
  }
}
