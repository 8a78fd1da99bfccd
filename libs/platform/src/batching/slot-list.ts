/**
 * What is under way, for things that come and go by the thousand each second. A `Set` or a `Map` discards its table every few
 * dozen additions, and each discarded table holds what stood in it and the table that followed. Once the collector has taken one
 * of them for old, it keeps and moves all that comes after, until a full collection. Places that are used again leave nothing behind.
 */
export class SlotList<Item extends object> implements Iterable<Item> {
  readonly #slots: (Item | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Returns the slot, to be given to `remove` once. */
  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = item;
    return slot;
  }

  remove(slot: number): void {
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** Items may be added and removed meanwhile. */
  *[Symbol.iterator](): Iterator<Item> {
    for (let slot = 0; slot < this.#slots.length; slot += 1) {
      const item = this.#slots[slot];
      if (item) yield item;
    }
  }
}
