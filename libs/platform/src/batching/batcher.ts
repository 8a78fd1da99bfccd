import { GatewayError } from '#contracts';

/** How large the items of a batcher are, in whatever unit `of` answers. */
export interface BatcherSizes<Item> {
  readonly of: (item: Item) => number;
  /** The most that one run is handed; a larger item runs alone. */
  readonly maxRun: number;
  /** The most that may wait; further items are refused. */
  readonly maxWaiting: number;
}

export interface BatcherOptions<Item = unknown> {
  readonly maxItems: number;
  /** The most runs under way at once; further items wait and so gather into larger runs. */
  readonly maxRunsInFlight: number;
  /**
   * Items of one key are never in two runs at once: they would wait there for the same lock, and hold up what runs with
   * them. They gather until the run that has the key is done, while items of other keys pass them. No more of one key may
   * wait than there is room left for the others. Absent: no keys.
   */
  readonly keyOf?: (item: Item) => string;
  /** A run begins no sooner than this after the one before it began, in milliseconds. Absent: at once. */
  readonly pauseMs?: number;
  /** The most items that may wait; further ones are refused. Absent: any number. */
  readonly maxWaiting?: number;
  /** The longest an item may wait, in milliseconds; then it is refused, since its caller has most likely left. Absent: forever. */
  readonly maxWaitMs?: number;
  /** True for errors that one item of a run causes: then each item runs alone. Absent: an error is that of all. */
  readonly isItemFault?: (error: unknown) => boolean;
  /** Absent: items are counted only. */
  readonly sizes?: BatcherSizes<Item>;
}

interface KeyShare {
  items: number;
  size: number;
}

/** When a refused caller may try again, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly size: number;
  readonly sinceMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Gathers items that arrive together into one run, for example many requests into one SQL statement.
 * An item that arrives alone runs at once; gathering begins only while runs are under way, or within the pause after
 * one began, so idle latency stays.
 * `run` answers item by item, in order; when it throws, every item of that run gets the error, unless one is to blame.
 */
export class Batcher<Item, Result> {
  private readonly waiting: Waiting<Item, Result>[] = [];
  private readonly keysInFlight = new Set<string>();
  private readonly shares = new Map<string, KeyShare>();
  private waitingSize = 0;
  private runsInFlight = 0;
  private scheduled = false;
  private lastRunMs = -Infinity;
  private overdueTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly options: BatcherOptions<Item>,
  ) {}

  /**
   * Resolves with the item's own result once its run is done.
   *
   * @throws GatewayError `overloaded`: too much waits already, of all or of its key, or the item waited too long; it did
   * not run.
   */
  add(item: Item): Promise<Result> {
    const size = this.options.sizes?.of(item) ?? 0;
    // An empty queue takes anything, or an item larger than the bound could never run.
    if (this.waiting.length > 0 && !this.hasRoom(item, size)) return Promise.reject(overloaded());
    return new Promise<Result>((resolve, reject) => {
      this.waiting.push({ item, size, sinceMs: performance.now(), resolve, reject });
      this.count(item, size, 1);
      this.schedule();
      this.refuseInTime();
    });
  }

  private hasRoom(item: Item, size: number): boolean {
    const { maxWaiting = Infinity, sizes, keyOf } = this.options;
    const items = maxWaiting - this.waiting.length;
    const sizeLeft = (sizes?.maxWaiting ?? Infinity) - this.waitingSize;
    const share = keyOf && this.shares.get(keyOf(item));
    const isWithinShare = !share || (share.items < items && share.size <= sizeLeft);
    return items > 0 && size <= sizeLeft && isWithinShare;
  }

  /** Notes that an item begins (1) or ends (-1) to wait. */
  private count(item: Item, size: number, change: 1 | -1): void {
    this.waitingSize += change * size;
    const { keyOf } = this.options;
    if (keyOf === undefined) return;
    const key = keyOf(item);
    const share = this.shares.get(key) ?? { items: 0, size: 0 };
    share.items += change;
    share.size += change * size;
    if (share.items > 0) this.shares.set(key, share);
    else this.shares.delete(key);
  }

  private schedule(): void {
    if (this.scheduled || this.runsInFlight >= this.options.maxRunsInFlight) return;
    this.scheduled = true;
    const begin = (): void => {
      this.scheduled = false;
      this.startRun();
    };
    const pauseMs = this.lastRunMs + (this.options.pauseMs ?? 0) - performance.now();
    if (pauseMs > 0) setTimeout(begin, Math.ceil(pauseMs));
    else setImmediate(begin);
  }

  private startRun(): void {
    this.refuseOverdue();
    const batch = this.takeBatch();
    if (batch.length === 0) return;
    this.runsInFlight += 1;
    this.lastRunMs = performance.now();
    const keys = this.keysOf(batch);
    for (const key of keys) this.keysInFlight.add(key);
    void this.settle(batch).finally(() => {
      this.runsInFlight -= 1;
      for (const key of keys) this.keysInFlight.delete(key);
      if (this.waiting.length > 0) this.schedule();
    });
    if (this.waiting.length > 0) this.schedule();
  }

  /** However long the current runs take: items waiting behind them must not wait forever. */
  private refuseInTime(): void {
    const [oldest] = this.waiting;
    const { maxWaitMs } = this.options;
    if (this.overdueTimer !== undefined || maxWaitMs === undefined || oldest === undefined) return;
    const leftMs = Math.max(1, Math.ceil(oldest.sinceMs + maxWaitMs - performance.now()));
    this.overdueTimer = setTimeout(() => {
      this.overdueTimer = undefined;
      this.refuseOverdue();
      this.refuseInTime();
    }, leftMs).unref();
  }

  /** They stand in the order of their arrival, so the overdue ones are the first. */
  private refuseOverdue(): void {
    const { maxWaitMs } = this.options;
    if (maxWaitMs === undefined) return;
    const oldestMs = performance.now() - maxWaitMs;
    const firstInTime = this.waiting.findIndex(({ sinceMs }) => sinceMs >= oldestMs);
    for (const { reject } of this.take(firstInTime === -1 ? this.waiting.length : firstInTime)) reject(overloaded());
  }

  private takeBatch(): Waiting<Item, Result>[] {
    const { maxItems, sizes } = this.options;
    const maxRun = sizes?.maxRun ?? Infinity;
    let size = 0;
    const first = this.firstFree(maxItems);
    const firstTooMuch = first.findIndex((entry, index) => (size += entry.size) > maxRun && index > 0);
    const batch = firstTooMuch === -1 ? first : first.slice(0, firstTooMuch);
    // Mostly they are the first that wait.
    if (batch.every((entry, index) => entry === this.waiting[index])) return this.take(batch.length);
    for (const entry of batch) {
      this.waiting.splice(this.waiting.indexOf(entry), 1);
      this.count(entry.item, entry.size, -1);
    }
    return batch;
  }

  /** The first that wait for no run under way, in the order of their arrival. */
  private firstFree(count: number): Waiting<Item, Result>[] {
    const { keyOf } = this.options;
    if (keyOf === undefined || this.keysInFlight.size === 0) return this.waiting.slice(0, count);
    const free: Waiting<Item, Result>[] = [];
    for (const entry of this.waiting) {
      if (free.length === count) break;
      if (!this.keysInFlight.has(keyOf(entry.item))) free.push(entry);
    }
    return free;
  }

  private keysOf(batch: readonly Waiting<Item, Result>[]): ReadonlySet<string> {
    const { keyOf } = this.options;
    return new Set(keyOf === undefined ? [] : batch.map(({ item }) => keyOf(item)));
  }

  private take(count: number): Waiting<Item, Result>[] {
    const taken = this.waiting.splice(0, count);
    for (const { item, size } of taken) this.count(item, size, -1);
    return taken;
  }

  private async settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.run(batch.map(({ item }) => item));
      if (results.length !== batch.length) {
        throw new Error(`a coalesced run of ${batch.length} items answered ${results.length} results`);
      }
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && this.options.isItemFault?.(error) === true) return this.settleAlone(batch);
      for (const { reject } of batch) reject(error);
    }
  }

  private async settleAlone(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    for (const entry of batch) await this.settle([entry]);
  }
}

const overloaded = (): GatewayError =>
  new GatewayError(
    'overloaded',
    'Too many requests are waiting at the moment. Nothing was charged; try again shortly.',
    { retryAfterMs: RETRY_AFTER_MS },
  );
