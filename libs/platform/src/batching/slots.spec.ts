import { setImmediate } from 'node:timers/promises';
import { FairSlots, NoSlot, SlotList } from './slots.js';

/** Work that ends on command. */
function job(): { readonly run: () => Promise<void>; readonly end: () => void; begun: boolean } {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const made = {
    begun: false,
    end: () => end(),
    run: () => {
      made.begun = true;
      return over;
    },
  };
  return made;
}

describe('Fair slots', () => {
  const onePerShare = { most: 9, mostPerShare: 1, mostWaitingPerShare: 9, waitMs: 60_000 };

  it('queue what is beyond a share, and not what is of another one', async () => {
    const slots = new FairSlots(onePerShare);
    const [first, second, other] = [job(), job(), job()];
    const running = [slots.run('a', first.run), slots.run('a', second.run), slots.run('b', other.run)];
    expect([first.begun, second.begun, other.begun]).toEqual([true, false, true]);
    first.end();
    await running[0];
    await setImmediate();
    expect(second.begun).toBe(true);
    second.end();
    other.end();
    await Promise.all(running);
  });

  it('are not waited for any more by what is stopped, and not held by it', async () => {
    const slots = new FairSlots(onePerShare);
    const [first, second, third] = [job(), job(), job()];
    const running = slots.run('a', first.run);
    const stop = new AbortController();
    const waiting = slots.run('a', second.run, stop.signal);
    const last = slots.run('a', third.run);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    first.end();
    await running;
    third.end();
    await last;
    expect([second.begun, third.begun]).toEqual([false, true]);
  });

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
