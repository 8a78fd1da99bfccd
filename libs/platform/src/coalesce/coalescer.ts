/** Bounds of a coalescer. */
export interface CoalescerOptions {
  /** The most items handed to one run. */
  readonly maxItems: number;
  /** The most runs under way at once; further items wait and so gather into larger runs. */
  readonly maxRunsInFlight: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Gathers items that arrive together into one run, for example many requests into one SQL statement.
 * An item that arrives alone runs at once; gathering begins only while runs are under way, so idle latency stays.
 * `run` answers item by item, in order; when it throws, every item of that run gets the error.
 */
export class Coalescer<Item, Result> {
  private readonly waiting: Waiting<Item, Result>[] = [];
  private runsInFlight = 0;
  private scheduled = false;

  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly options: CoalescerOptions,
  ) {}

  /** Resolves with the item's own result once its run is done. */
  add(item: Item): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.runsInFlight >= this.options.maxRunsInFlight) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.startRun();
    });
  }

  private startRun(): void {
    const batch = this.waiting.splice(0, this.options.maxItems);
    if (batch.length === 0) return;
    this.runsInFlight += 1;
    void this.settle(batch).finally(() => {
      this.runsInFlight -= 1;
      if (this.waiting.length > 0) this.schedule();
    });
    if (this.waiting.length > 0) this.schedule();
  }

  private async settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.run(batch.map(({ item }) => item));
      if (results.length !== batch.length) {
        throw new Error(`a coalesced run of ${batch.length} items answered ${results.length} results`);
      }
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
