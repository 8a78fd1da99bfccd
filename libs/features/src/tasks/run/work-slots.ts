/** A fixed number of places for pieces of work that run side by side. */
export class WorkSlots {
  private readonly running = new Set<Promise<void>>();
  private readonly waiting: (() => void)[] = [];
  private readonly waitingForNone: (() => void)[] = [];

  constructor(private readonly size: number) {}

  get free(): number {
    return Math.max(0, this.size - this.running.size);
  }

  /** Takes a place until the work, which must not throw, is done, or until the function that is answered gives it up. */
  fill(work: Promise<void>): () => void {
    this.running.add(work);
    const leave = (): void => {
      if (!this.running.delete(work)) return;
      this.waiting.shift()?.();
      if (this.running.size === 0) for (const resume of this.waitingForNone.splice(0)) resume();
    };
    void work.then(leave);
    return leave;
  }

  /** Resolves when there is a place; it may be taken again by then. */
  available(): Promise<void> {
    return this.free > 0 ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Resolves when nothing runs any more, not even what was begun meanwhile. */
  async empty(): Promise<void> {
    while (this.running.size > 0) await new Promise<void>((resolve) => this.waitingForNone.push(resolve));
  }
}
