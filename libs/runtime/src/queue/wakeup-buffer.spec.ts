import { WakeupBuffer } from './wakeup-buffer.js';

describe('WakeupBuffer', () => {
  it('sends the wake-ups of one turn in one call, and those that arrive meanwhile in the next', async () => {
    const calls: string[][] = [];
    const buffer = new WakeupBuffer(
      async (taskIds) => {
        calls.push(taskIds);
        if (calls.length === 1) buffer.add(['c', 'd', 'd']);
      },
      () => undefined,
    );
    buffer.add(['a']);
    buffer.add(['b']);
    await buffer.drained();
    expect(calls).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('reports the wake-ups of a failed call and continues', async () => {
    const reports: [number, unknown][] = [];
    const sent: string[] = [];
    const buffer = new WakeupBuffer(
      (taskIds) => {
        if (taskIds.includes('lost')) return Promise.reject(new Error('away'));
        sent.push(...taskIds);
        return Promise.resolve();
      },
      (dropped, reason) => reports.push([dropped, reason]),
    );
    buffer.add(['lost', 'too']);
    await buffer.drained();
    buffer.add(['kept']);
    await buffer.drained();
    expect(reports).toEqual([[2, new Error('away')]]);
    expect(sent).toEqual(['kept']);
  });

  it('retries a call that Postgres rolled back to end a deadlock, and gives up when that persists', async () => {
    const conflict = Object.assign(new Error('deadlock detected'), { code: '40P01' });
    const dropped: number[] = [];
    let conflicts = 2;
    let calls = 0;
    const buffer = new WakeupBuffer(
      () => {
        calls += 1;
        conflicts -= 1;
        return conflicts >= 0 ? Promise.reject(conflict) : Promise.resolve();
      },
      (count) => dropped.push(count),
    );
    buffer.add(['a']);
    await buffer.drained();
    expect([calls, dropped]).toEqual([3, []]);
    conflicts = 9;
    buffer.add(['b', 'c']);
    await buffer.drained();
    expect([calls, dropped]).toEqual([7, [2]]);
  });

  it('keeps at most 10,000 wake-ups while the queue is silent', () => {
    let dropped = 0;
    const buffer = new WakeupBuffer(
      () => new Promise(() => undefined),
      (count) => (dropped += count),
    );
    buffer.add(Array.from({ length: 10_250 }, (_, index) => `task_${index}`));
    expect(dropped).toBe(250);
  });
});
