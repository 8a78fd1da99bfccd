import { NamedError } from '../named-error.js';

/** Bounds of {@link FairSlots}. */
interface FairSlotsOptions {
  /** The most pieces of work under way at once. */
  readonly most: number;
  readonly mostPerShare: number;
  /** The most that wait for one share; more are refused at once. */
  readonly mostWaitingPerShare: number;
  /** The longest wait for a slot, in milliseconds. */
  readonly waitMs: number;
}

export class NoSlot extends NamedError {
  constructor() {
    super('too much work of the same share is under way');
  }
}

interface Share {
  underWay: number;
  /** What lets each begin. */
  readonly waiting: Set<() => void>;
}

/**
 * Lets work start within two limits: one in all, one for each share (an account). When there is not room for all, the share with
 * least under way comes first, and of several the one that was served longest ago, so that a share with much to do delays only itself.
 */
export class FairSlots {
  /** Those at work or waiting, in the order of turns. */
  private readonly shares = new Map<string, Share>();
  private underWay = 0;
  private waiting = 0;

  constructor(private readonly options: FairSlotsOptions) {}

  /**
   * @param signal ends the wait, not the work.
   * @throws NoSlot, or what takes its place, when the wait was too long or too many wait already; the reason of `signal`.
   */
  async run<Result>(name: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const share = this.shareOf(name);
    try {
      if (share.waiting.size === 0 && this.hasRoom(this.underWay, share.underWay)) this.count(share, 1);
      else await this.turnOf(share, signal);
      try {
        return await work();
      } finally {
        this.count(share, -1);
        this.letOthersBegin();
      }
    } finally {
      // Also where its wait was in vain.
      if (share.underWay === 0 && share.waiting.size === 0) this.shares.delete(name);
    }
  }

  protected hasRoom(underWay: number, ofShare: number): boolean {
    return underWay < this.options.most && ofShare < this.options.mostPerShare;
  }

  protected refusal(): Error {
    return new NoSlot();
  }

  private shareOf(name: string): Share {
    const share = this.shares.get(name) ?? { underWay: 0, waiting: new Set() };
    this.shares.set(name, share);
    return share;
  }

  /** Resolves when the work is counted as under way. */
  private turnOf(share: Share, signal: AbortSignal | undefined): Promise<void> {
    if (share.waiting.size >= this.options.mostWaitingPerShare) return Promise.reject(this.refusal());
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        share.waiting.delete(begin);
        this.waiting -= 1;
      };
      const begin = (): void => {
        leave();
        resolve();
      };
      const giveUp = (): void => {
        leave();
        reject(signal?.aborted ? (signal.reason as Error) : this.refusal());
      };
      const timer = setTimeout(giveUp, this.options.waitMs);
      signal?.addEventListener('abort', giveUp);
      share.waiting.add(begin);
      this.waiting += 1;
    });
  }

  private letOthersBegin(): void {
    while (this.waiting > 0) {
      const [name, share] = this.nextShare() ?? [];
      const [begin] = share?.waiting ?? [];
      if (name === undefined || !share || !begin) return;
      this.shares.delete(name);
      this.shares.set(name, share);
      this.count(share, 1);
      begin();
    }
  }

  private nextShare(): [string, Share] | undefined {
    let least: [string, Share] | undefined;
    for (const [name, share] of this.shares)
      if (
        share.waiting.size > 0 &&
        (!least || share.underWay < least[1].underWay) &&
        this.hasRoom(this.underWay, share.underWay)
      )
        least = [name, share];
    return least;
  }

  private count(share: Share, change: 1 | -1): void {
    share.underWay += change;
    this.underWay += change;
  }
}

/**
 * What is under way, for things that come and go by the thousand each second. A `Set` or a `Map` discards its table every few
 * dozen additions, and each discarded table holds what stood in it and the table that followed. Once the collector has taken one
 * of them for old, it keeps and moves all that comes after, until a full collection. Places that are used again leave nothing behind.
 */
export class SlotList<Item extends object> implements Iterable<Item> {
  private readonly slots: (Item | undefined)[] = [];
  private readonly free: number[] = [];

  get size(): number {
    return this.slots.length - this.free.length;
  }

  /** Returns the slot, to be given to `remove` once. */
  add(item: Item): number {
    const slot = this.free.pop() ?? this.slots.length;
    this.slots[slot] = item;
    return slot;
  }

  remove(slot: number): void {
    this.slots[slot] = undefined;
    this.free.push(slot);
  }

  /** Items may be added and removed meanwhile. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let slot = 0; slot < this.slots.length; slot += 1) {
      const item = this.slots[slot];
      if (item) yield item;
    }
  }
}
