import { setImmediate as nextTurn } from 'node:timers/promises';
import { WorkSlots } from './work-slots.js';

describe('Work slots', () => {
  it('are idle only when work that began while the last one ended is done as well', async () => {
    const slots = new WorkSlots(2);
    const done: string[] = [];
    const work = async (name: string, then?: () => void): Promise<void> => {
      await nextTurn();
      then?.();
      done.push(name);
    };
    slots.fill(work('first', () => slots.fill(work('second'))));
    await slots.empty();
    expect(done).toEqual(['first', 'second']);
    expect(slots.free).toBe(2);
  });
});
