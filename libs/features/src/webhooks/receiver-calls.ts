/** The calls to receivers that are under way in this process. */
export class ReceiverCalls {
  private readonly underWay = new Set<Promise<void>>();
  private readonly counts = new Map<string, number>();
  private readonly waiting = new Set<() => void>();

  /** All of them together. */
  get total(): number {
    return this.underWay.size;
  }

  /** Receivers that are being called, and how many calls each has under way; the two lists run side by side. */
  perReceiver(): { readonly receivers: readonly string[]; readonly counts: readonly number[] } {
    return { receivers: [...this.counts.keys()], counts: [...this.counts.values()] };
  }

  /** Whether there is no place for another call, at all or to one of the receivers. */
  isBusy(most: number, mostPerReceiver: number): boolean {
    return this.total >= most || [...this.counts.values()].some((count) => count >= mostPerReceiver);
  }

  /** Counts the call until it is over; it must not throw. */
  begin(receiver: string, call: Promise<void>): void {
    this.counts.set(receiver, (this.counts.get(receiver) ?? 0) + 1);
    const counted = call.then(() => {
      this.underWay.delete(counted);
      const left = (this.counts.get(receiver) ?? 1) - 1;
      if (left === 0) this.counts.delete(receiver);
      else this.counts.set(receiver, left);
      for (const wake of this.waiting) wake();
    });
    this.underWay.add(counted);
  }

  /** Resolves as soon as a call has ended, and after `waitMs` at the latest. */
  async anyEnded(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.waiting.add(wake);
    });
  }

  /** Resolves when none is under way any more. */
  async finished(): Promise<void> {
    await Promise.all(this.underWay);
  }
}
