import { SlotList } from './slots.js';

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
