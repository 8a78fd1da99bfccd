import { NamedError } from '#platform';

export interface StepSlot {
  /** Frees the slot: all that is left of the step is to wait for a vendor. Only the first time counts, until it has a slot again. */
  readonly releaseSlot: () => void;
  /**
   * Does a part that only waits for hosts that users name, outside the slot, and takes one again before the step goes on.
   * `putBack` aborts when the worker needs the part to end.
   *
   * @throws PutBack when there is no room for it; also the reason of `putBack`.
   */
  readonly outsideSlot: <Result>(part: (putBack: AbortSignal) => Promise<Result>) => Promise<Result>;
}

/** The worker cannot wait for hosts now: the task goes back to the queue, and is none the worse for it. */
export class PutBack extends NamedError {
  constructor() {
    super('The worker has no room to look at its files now.');
  }
}

/** A fixed number of places for pieces of work that run side by side; for a moment, a few more. */
export class WorkSlots {
  private readonly running = new Set<Promise<void>>();
  private readonly returning: (() => void)[] = [];
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
      if (this.free > 0) (this.returning.shift() ?? this.waiting.shift())?.();
      if (this.running.size === 0) for (const resume of this.waitingForNone.splice(0)) resume();
    };
    void work.then(leave);
    return leave;
  }

  /** The same for work that had a place before, as soon as there is one: before whatever else waits. */
  async refill(work: Promise<void>): Promise<() => void> {
    if (this.free === 0) await new Promise<void>((resolve) => this.returning.push(resolve));
    return this.fill(work);
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
