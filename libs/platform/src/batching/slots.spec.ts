import { FairSlots, NoSlot, SlotList } from './slots.js';

describe('Fair slots', () => {
  it('know nothing any more of a share that waited in vain', async () => {
    const slots = new FairSlots({ most: 1, mostPerShare: 1, mostWaitingPerShare: 1, waitMs: 1 });
    let end = (): void => undefined;
    const busy = slots.run('busy', () => new Promise<void>((resolve) => (end = resolve)));
    await expect(slots.run('late', () => Promise.resolve())).rejects.toThrow(NoSlot);
    end();
    await busy;
    expect(slots).toMatchObject({ shares: new Map(), waiting: 0, underWay: 0 });
  });
});

describe('A list of slots', () => {
  it('holds what was added and not removed', () => {
    const list = new SlotList<{ name: string }>();
    const first = list.add({ name: 'first' });
    list.add({ name: 'second' });
    list.remove(first);
    list.add({ name: 'third' });
    expect([...list].map(({ name }) => name).toSorted()).toEqual(['second', 'third']);
    expect(list.size).toBe(2);
  });

  it('uses the slots again, so that it grows with what is under way alone', () => {
    const list = new SlotList<object>();
    const slots = [list.add({}), list.add({})];
    for (let round = 0; round < 10_000; round += 1) {
      slots.push(list.add({}));
      list.remove(slots.shift() ?? -1);
    }
    expect(Math.max(...slots)).toBe(2);
    expect(list.size).toBe(2);
  });

  it('may be changed while it is gone through', () => {
    const list = new SlotList<{ slot?: number }>();
    for (let each = 0; each < 3; each += 1) {
      const item: { slot?: number } = {};
      item.slot = list.add(item);
    }
    for (const { slot } of list) if (slot !== undefined) list.remove(slot);
    expect([...list]).toEqual([]);
  });
});
