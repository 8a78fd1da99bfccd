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

interface Waiting {
  readonly begin: () => void;
}

/**
 * Lets work start within two limits: one in all, one for each share (an account). When there is not room for all, the
 * shares take turns, so that a share with much to do delays only itself.
 */
export class FairSlots {
  private underWay = 0;
  private readonly perShare = new Map<string, number>();
  /** In the order of turns: the share that was served last stands last. */
  private readonly waiting = new Map<string, Set<Waiting>>();

  constructor(private readonly options: FairSlotsOptions) {}

  /** @throws NoSlot when the wait was too long, or too many wait already. */
  async run<Result>(share: string, work: () => Promise<Result>): Promise<Result> {
    if (this.hasRoom(share)) this.take(share);
    else await this.turn(share);
    try {
      return await work();
    } finally {
      this.release(share);
    }
  }

  private hasRoom(share: string): boolean {
    return this.underWay < this.options.most && (this.perShare.get(share) ?? 0) < this.options.mostPerShare;
  }

  private take(share: string): void {
    this.underWay += 1;
    this.perShare.set(share, (this.perShare.get(share) ?? 0) + 1);
  }

  private release(share: string): void {
    this.underWay -= 1;
    const left = (this.perShare.get(share) ?? 1) - 1;
    if (left === 0) this.perShare.delete(share);
    else this.perShare.set(share, left);
    this.beginNext();
  }

  private turn(share: string): Promise<void> {
    const queue = this.waiting.get(share) ?? new Set<Waiting>();
    if (queue.size >= this.options.mostWaitingPerShare) return Promise.reject(new NoSlot());
    this.waiting.set(share, queue);
    return new Promise<void>((resolve, reject) => {
      const entry: Waiting = {
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.leave(share, entry);
        reject(new NoSlot());
      }, this.options.waitMs);
      queue.add(entry);
    });
  }

  private leave(share: string, entry: Waiting): void {
    const queue = this.waiting.get(share);
    queue?.delete(entry);
    if (queue?.size === 0) this.waiting.delete(share);
  }

  private beginNext(): void {
    for (const [share, queue] of this.waiting) {
      if (this.underWay >= this.options.most) return;
      const [entry] = queue;
      if (!entry || !this.hasRoom(share)) continue;
      this.leave(share, entry);
      if (this.waiting.delete(share)) this.waiting.set(share, queue);
      this.take(share);
      entry.begin();
    }
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
